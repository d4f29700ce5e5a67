"""The pytest plugin as every project's run loads it: it imports nothing and changes nothing.

A run is twinstep's when one of its options is given, when its suite is among the arguments, or when
the project's ini says `twinstep = true`. Only then `session` is imported, and NumPy with it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from twinstep.testing import options

#: The short names that others have, in a run of twinstep's.
TAKEN = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the long names of the options, and the ini key."""
    options.add_long(parser)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    """Decide whose run this is, after all plugins and conftests have registered their options."""
    result = yield
    known = early_config.known_args_namespace
    ours = _is_ours(early_config, parser, args)
    if ours or known.help:
        early_config.stash[TAKEN] = options.add_short(parser)
    # In the options, which pytest-xdist hands to its workers.
    early_config.option.twinstep_run = ours
    return result


def _is_ours(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> bool:
    known = config.known_args_namespace
    if hasattr(known, "twinstep_run"):
        return bool(known.twinstep_run)  # a worker: its controller has decided
    if config.getini("twinstep") or options.is_given(parser, args):
        return True
    places = known.file_or_dir or config.getini("testpaths")
    return options.names_the_suite(places, known.pyargs, config.invocation_params.dir)


def pytest_configure(config: pytest.Config) -> None:
    """Begin what verifies, in a run of twinstep's."""
    if getattr(config.option, "twinstep_run", False):
        from twinstep.testing import session

        config.pluginmanager.register(session, "twinstep-session")
