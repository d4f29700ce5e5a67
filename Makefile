# make verify ENV=pong    proves the candidates of an environment: levels 1 to 3
# make test               the daily suite, with lint; ARGS="..." goes to pytest
# make e2e                the long ways from end to end: repair, attacks, init, the examples
# make trainers           others' trainers train Pong, others' environments are read in, witnesses of public pairs are run, others' pytest plugins run beside twinstep's; ARGS="rejax sb3 puffer inward audit plugins" says which
# make audit              proves the public pairs of audits/ and writes audits/SCOREBOARD.md; ARGS="PAIR ..." says which
# make setup              builds .venv/ (the other targets do it by themselves)

PYTHON ?= python3
VENV := .venv/bin
CARGO := PYO3_PYTHON=$(CURDIR)/$(VENV)/python cargo
MANIFEST := --manifest-path rust/Cargo.toml --locked --quiet
comma := ,
envs := $(strip $(subst $(comma), ,$(ENV)))

MAKEFLAGS += --no-print-directory
unexport ENV ARGS
.NOTPARALLEL:
.PHONY: help setup verify test e2e trainers audit lint lock clean

help:
	@sed -n 's/^# make/make/p' Makefile

setup:
	@command -v $(PYTHON) >/dev/null || { echo "missing: $(PYTHON), 3.11 or newer." \
	  "Debian/Ubuntu: \`apt install python3 python3-venv\`; elsewhere: Python's own installer" >&2; exit 1; }
	@$(PYTHON) tools/setup.py

verify:
	@test -n "$(envs)" || { echo "say which environment: make verify ENV=pong" >&2; exit 2; }
	@$(MAKE) setup
	@$(VENV)/python -m pytest -n 2 --dist loadgroup -m "level1 or level2 or level3" \
	  $(foreach each,$(envs),--env $(each)) $(ARGS)
	@test -f .twinstep/verdict.json || { echo "the run left no verdict: it did not end" >&2; exit 1; }

lint: setup
	@$(VENV)/ruff check --quiet
	@$(VENV)/ruff format --quiet --check
	@node_modules/.bin/pyright
	@cargo fmt --manifest-path rust/Cargo.toml --all --check
	@$(CARGO) clippy $(MANIFEST) --workspace --all-targets -- -D warnings
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(MANIFEST) --workspace --no-deps

test: lint
	@CARGO_PROFILE_DEV_OPT_LEVEL=1 $(CARGO) test $(MANIFEST) --workspace
	@$(VENV)/python -m pytest -n 2 --dist loadgroup --durations=10 \
	  -m "not e2e and not slow and not level4 and not repeated and not proved" $(ARGS)

e2e: setup
	@$(VENV)/python -m pytest -n 2 --dist loadgroup --durations=10 -m "e2e and not slow" tests $(ARGS)

trainers: setup
	@$(VENV)/python tools/trainers.py $(ARGS)

audit: setup
	@python="$$($(VENV)/python tools/trainers.py --build audit | tail -n 1)" && "$$python" -W ignore -m audits $(ARGS)

# Keeps the versions that still fit; `make lock ARGS=--upgrade` takes the newest.
lock: setup
	@$(VENV)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	  $(ARGS) --output-file requirements.lock pyproject.toml
	@for name in rejax sb3 puffer peers inward audit plugins; do extra="--extra pong"; \
	  test $$name = peers && extra="--extra halfcheetah"; \
	  case $$name in audit|plugins) extra=;; esac; \
	  $(VENV)/uv pip compile --quiet --universal --python-version 3.11 $$extra \
	  --group $$name --no-emit-package triton --generate-hashes --no-emit-index-url \
	  --no-emit-find-links --custom-compile-command "make lock" $(ARGS) \
	  --output-file tools/locks/$$name.lock pyproject.toml || exit 1; done
	@npm install --package-lock-only --loglevel=error
	@cargo update --quiet --workspace --manifest-path rust/Cargo.toml
	@echo "requirements.lock, tools/locks, package-lock.json and rust/Cargo.lock fit their sources"

clean:
	@rm -rf .venv .venv-trainers node_modules rust/target build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
