"""Public reports of wrong ports: a default run finds each, and its headline says what to mend.

Each environment is run once, with a right port beside the reported ones.
"""

import pytest

from twinstep.tests.support.project_folder import Project

HOME = "twinstep.tests.reports"
PROJECT = f"""
[tool.twinstep.envs]
cart = "{HOME}.cart:ENV"
pendulum = "{HOME}.pendulum:ENV"
castle = "{HOME}.castle:ENV"
tiles = "{HOME}.tiles:ENV"
go = "{HOME}.go:ENV"
contact = "{HOME}.contact:ENV"
field = "{HOME}.field:ENV"
varied = "{HOME}.field:VARIED"
lap = "twinstep.tests.toys.lap:LAP"
"""
#: The part of the suite that finds them: batches and adapters show no more, and take minutes.
SUITE = " ".join(
    (
        *("interactions.test_limits", "interactions.test_steps"),
        *("rollouts.test_fresh_starts", "rollouts.test_lockstep", "rollouts.test_rare_rules"),
        "rollouts.test_shipped",
    )
)
#: Environments whose run takes a minute or so.
SLOW = ("castle", "tiles", "go", "lap", "contact")
#: Report -> (candidate, what a headline of its run says).
REPORTS = {
    "PufferLib 447: masses": ("cart-masses", "`state.theta_dot` is "),
    "gym-rs 7: starts ten times as wide": ("cart-wide", "own starts are not like the reference's"),
    "envpool 179: no truncation": ("cart-uncut", "`truncated` is False, oracle True"),
    "envpool 143: a reward term": ("pendulum-term", "as if `cost_speed` were left out"),
    "Gym.jl 25: raw torque": ("pendulum-torque", "for an action beyond its range"),
    "rlevo 992: cost weight": ("pendulum-weight", "`cost_torque` were 10 times as large"),
    "open_spiel 1125: castling": ("castle-jumps", "`legal`: 64 only in the candidate"),
    "pgx 982: a rook forgotten": ("castle-forgets", "fails level 3: `obs."),
    "pgx 982: a port that raises": ("castle-raises", "raises IndexError: no rook beside the king"),
    "jumanji 127: mask before the tile": ("tiles-before", "`legal`: "),
    "jumanji 127: impossible moves": ("tiles-spawns", "`state.draws` is "),
    "pgx 1164: superko": ("go-forgets", "only in the candidate"),
    "mujoco 1473, 2361: a contact": ("contact-misses", "`state.vx` is "),
    "PufferLib 299: the goal's draws": ("field-goals", "`state.draws` is "),
    "PufferDrive 207: hidden reset": ("field-hidden", "`state.clock` is 0, oracle 24"),
    "DACBench 94: kept history": ("field-history", "at reset"),
    "gymnax 39: an ignored parameter": ("field@two-param", "`reward` is 1, oracle 2"),
    "brax 167: the first start again": (
        "lap-forever",
        "every episode of a lane began like its first",
    ),
    "envpool 194: a swallowed action": ("lap-swallows", ", step 1 after an end"),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory, toy_cache):
    """A function from an environment's name to its default run."""
    project = Project(tmp_path_factory.mktemp("reports") / "project", toy_cache, PROJECT)
    runs = {}

    def run(env):
        if env not in runs:
            chosen = ["-m", "not level4 and not slow"]
            if env == "lap":  # it has candidates of other tests
                names = ("forever", "swallows")
                chosen += [word for name in names for word in ("--candidate", name)]
                chosen += ["-k", "through_auto_resets"]
            runs[env] = project.pytest(*chosen, suite=SUITE, env=env)
        return runs[env]

    return run


def _env(pair):
    return "varied" if "@" in pair else pair.partition("-")[0]


def _cases():
    for name, (pair, says) in REPORTS.items():
        env = _env(pair)
        marks = [pytest.mark.e2e] if env in SLOW else []
        yield pytest.param(env, pair, says, id=name, marks=marks)


@pytest.mark.parametrize(("env", "pair", "says"), [*_cases()])
def test_a_default_run_finds_it(ran, env, pair, says):
    run = ran(env)
    assert run.verdict["pairs"][pair]["verdict"] == "differs"
    summary = run.text.rpartition("= twinstep =")[2]
    headlines = [line for line in summary.splitlines() if line.startswith(f"{pair} fails level")]
    assert any(says in line for line in headlines), "\n".join(headlines)


def _right():
    slow = [pytest.mark.e2e]
    for env in ("cart", "pendulum", "castle", "tiles", "go", "contact", "field"):
        yield pytest.param(env, f"{env}-right", marks=slow if env in SLOW else [])
    yield pytest.param("varied", "field@two-right")


@pytest.mark.parametrize(("env", "pair"), [*_right()])
def test_a_right_port_beside_it_is_equal(ran, env, pair):
    run = ran(env)
    assert run.verdict["pairs"][pair]["verdict"] == "equal", run.text


def test_starts_that_are_like_the_references_are_said_to_be_so(ran):
    pairs = ran("cart").verdict["pairs"]
    assert pairs["cart-right"]["starts"].startswith("starts alike in distribution (1,000 each; ")
    assert pairs["cart-wide"]["starts"] == "starts differ in distribution"


def test_a_parameter_that_never_varies_is_said_to_be_so(ran):
    (line,) = ran("field").verdict["pairs"]["field-param"]["never_seen"]
    assert line == "another value of pay: no declared variant has one"
