"""Planted bugs: text edits of `generated/pong`, and a project that verifies an edited copy.

`python -m twinstep.tests.planted` measures which single checks catch which bug and prints the
table that `TABLE.md` holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from twinstep.contracts.pong.declaration import PONG
from twinstep.project import registry, source_view
from twinstep.project.registry import EnvVariant, Pair


@dataclass(frozen=True)
class Bug:
    """One edit of one file.

    name: an identifier. file: below generated/pong. old: occurs there exactly once.
    module: the report's first suspect. level: the first that catches it. quirk: its number,
    0 if it breaks none. variant: the one the suite runs on.
    """

    name: str
    file: str
    old: str
    new: str
    module: str
    level: int = 1
    quirk: int = 0
    variant: str = "fs8"


_RETURN = """    return _where(point, state._replace(**_served(state)._asdict()), state)._replace(
        last_obs=_where(seen, observed, state.last_obs)
    )
"""

BUGS = (
    Bug(
        "observes_after_the_serve",
        "step.py",
        _RETURN,
        """    state = _where(point, state._replace(**_served(state)._asdict()), state)
    return state._replace(last_obs=_where(point, _observed(state, params), observed))
""",
        "step",
        quirk=1,
    ),
    Bug(
        "real_score_division",
        "observe.py",
        "(score_r // whole).astype(jnp.float32)",
        "score_r.astype(jnp.float32) / jnp.float32(params.max_score)",
        "observe",
        quirk=2,
    ),
    Bug(
        "rewards_add_up",
        "step.py",
        "reward=jnp.where(reward != 0, reward, state.reward)",
        "reward=state.reward + reward",
        "step",
        quirk=3,
    ),
    Bug(
        "point_does_not_end_the_step",
        "step.py",
        "return _where(point, state, after), point",
        "return after, point",
        "step",
    ),
    Bug(
        "tick_of_the_episode",
        "step.py",
        "_where(point, state._replace(**_served(state)._asdict()), state)",
        "_where(point, state._replace(**_served(state)._asdict() | {'tick': state.tick}), state)",
        "step",
        quirk=4,
    ),
    Bug(
        "own_bounces_only",
        "sides.py",
        "    n_bounces = n_bounces + bounce.astype(jnp.int32)\n",
        "",
        "left_side",
        quirk=5,
    ),
    Bug(
        "ball_clipped_on_the_left",
        "step.py",
        "ball_x=right.ball_x",
        "ball_x=jnp.maximum(right.ball_x, 0.0)",
        "step",
        quirk=6,
    ),
    Bug(
        "ball_clipped_everywhere",
        "sides.py",
        "ball_y=choose(jnp.clip(ball_y, 0.0, HEIGHT - BALL_SIZE), ball_y)",
        "ball_y=choose(*[jnp.clip(ball_y, 0.0, HEIGHT - BALL_SIZE)] * 2)",
        "right_side",
        quirk=7,
    ),
    Bug(
        "restart_clears_win",
        "step.py",
        "state = state._replace(score_l=jnp.uint32(0), score_r=jnp.uint32(0))",
        "state = state._replace(\n"
        "        score_l=jnp.uint32(0), score_r=jnp.uint32(0), win=jnp.int32(0)\n    )",
        "restart",
        quirk=8,
    ),
    Bug(
        "flat_limit_in_float32",
        "sides.py",
        "jnp.abs(vy) <= FLAT",
        "jnp.abs(vy) < FLAT",
        "right_side",
        quirk=9,
    ),
    Bug(
        "paddle_meets_on_its_edge",
        "sides.py",
        "(ball_y + BALL_SIZE > paddle_y)",
        "(ball_y + BALL_SIZE >= paddle_y)",
        "left_side",
    ),
    Bug(
        "paddle_meets_below_its_edge",
        "sides.py",
        "(ball_y < paddle_y + PADDLE_HEIGHT)",
        "(ball_y <= paddle_y + PADDLE_HEIGHT)",
        "left_side",
    ),
    Bug(
        "paddle_clamped_to_the_field",
        "paddles.py",
        "jnp.clip(moved, MIN_PADDLE_Y, MAX_PADDLE_Y), paddle_dir",
        "jnp.clip(moved, 0.0, MAX_PADDLE_Y), paddle_dir",
        "agent_paddle",
    ),
    Bug("two_draws_a_serve", "serve.py", "draws=draws + 1", "draws=draws + 2", "serve"),
    Bug("serve_the_other_way", "serve.py", "drawn % 2 == 0", "drawn % 2 != 0", "serve"),
    Bug(
        "draws_in_another_order",
        "serve.py",
        "serve_with(draw(rng_key, draws), draws)",
        "serve_with(draw(rng_key, draws + 1), draws)",
        "serve",
    ),
    Bug(
        "seed_words_mixed_by_xor_alone",
        "serve.py",
        "h32(seed[0] ^ h32(seed[1]))",
        "h32(seed[0] ^ seed[1])",
        "reset",
    ),
    Bug(
        "draws_counted_in_seven_bits",
        "serve.py",
        "(count * _GOLDEN)",
        "((count & np.uint32(127)) * _GOLDEN)",
        "serve",
    ),
    Bug(
        "tick_wraps_at_eight_bits",
        "step.py",
        "tick=state.tick + 1",
        "tick=(state.tick + 1).astype(jnp.int8).astype(jnp.int32)",
        "step",
        level=2,
    ),
    Bug(
        "sum_in_another_order",
        "sides.py",
        "ball_vy + push",
        "(ball_vy + (paddle_dir + paddle_dir)) + paddle_dir",
        "right_side",
        variant="fs1-cont",
    ),
    Bug(
        "restart_does_not_observe",
        "step.py",
        "last_obs=_observed(state, params), reward",
        "reward",
        "reset",
    ),
    Bug(
        "bounce_pays_one",
        "sides.py",
        "jnp.where(bounce, 0.1, 0.0)",
        "jnp.where(bounce, 1.0, 0.0)",
        "right_side",
    ),
    Bug(
        "ends_one_point_late",
        "sides.py",
        "terminated=point & (score_r == params.max_score)",
        "terminated=point & (score_r > params.max_score)",
        "left_side",
    ),
    Bug(
        "observed_velocities_swapped",
        "observe.py",
        "        _divide(ball_vx + BALL_SPEED_X, 2 * BALL_SPEED_X),\n"
        "        _divide(ball_vy + MAX_SPEED_Y, 2 * MAX_SPEED_Y),\n",
        "        _divide(ball_vy + MAX_SPEED_Y, 2 * MAX_SPEED_Y),\n"
        "        _divide(ball_vx + BALL_SPEED_X, 2 * BALL_SPEED_X),\n",
        "observe",
    ),
    Bug(
        "division_by_a_constant",
        "observe.py",
        "x / lax.optimization_barrier(x * 0.0 + divisor)",
        "x / divisor",
        "observe",
    ),
    Bug(
        "opponent_sees_the_moved_ball",
        "step.py",
        "opponent_paddle(state.paddle_yl, state.ball_y)",
        "opponent_paddle(state.paddle_yl, state.ball_y + state.ball_vy)",
        "step",
    ),
)
#: No edit at all: every check must pass.
FAITHFUL = Bug("faithful", "step.py", "", "", "")


def make_project(bug: Bug, root: Path) -> Path:
    """Write a project whose candidate `planted` of Pong is a copy of JAX Pong with the bug."""
    rules, adapter = (
        _python_files(folder) for folder in ("generated/pong", "candidates/pong/jax_pong.py")
    )
    package = f"planted_{bug.name}"
    folder = root / package
    folder.mkdir(parents=True)
    for name, text in rules.items():
        if name == bug.file and bug.old:
            if text.count(bug.old) != 1:
                raise ValueError(f"{bug.name}: the edited text occurs {text.count(bug.old)} times")
            text = text.replace(bug.old, bug.new)
        (folder / name).write_text(text.replace("twinstep.generated.pong", package))
    text = adapter["jax_pong.py"]
    (folder / "candidate.py").write_text(text.replace("twinstep.generated.pong", package))
    known = next(ref for ref in PONG.candidates if ref.name == "jax")
    sources = {k: v.replace("generated/pong", package) for k, v in known.sources.items()}
    (folder / "declared.py").write_text(
        "from twinstep.environment import CandidateRef\n\n"
        "REF = CandidateRef(\n"
        f'    "planted",\n    "{package}.candidate:PongJax",\n    edit=("{package}/**",),\n'
        f'    sources={sources!r},\n    packages=("{package}",),\n)\n'
    )
    (root / "pyproject.toml").write_text(
        f'[tool.twinstep.candidates]\n"pong.planted" = "{package}.declared:REF"\n'
    )
    return root


def pair_of(bug: Bug) -> Pair:
    """Return the planted candidate of the project in the current folder."""
    env = registry.environment("pong")
    variant = next(v for v in env.variants if v.name == bug.variant)
    candidate = next(ref for ref in env.candidates if ref.name == "planted")
    return Pair(EnvVariant(env, variant), candidate)


def _python_files(path: str) -> dict[str, str]:
    """Return name -> text of one of this project's files, or of a folder's Python files."""
    file = source_view.find_source(path)
    if file is not None:
        return {file.name: file.read_text()}
    init = source_view.find_source(f"{path}/__init__.py")
    if init is None:
        raise FileNotFoundError(path)
    return {file.name: file.read_text() for file in sorted(init.parent.glob("*.py"))}
