"""Level 3, as shipped: `twinstep.make` with auto-reset gives the reference's steps.

The recorded lanes are played alone, and in known random lanes of the largest batch that the
benchmark runs. The oracle played through every end of an episode.
"""

import secrets

import jax
import numpy as np
import pytest

from twinstep.compare.autoreset import (
    around_ends,
    each_step,
    expected_of,
    first_episodes,
    mismatch,
    waiting,
    with_ends,
    without_resets,
)
from twinstep.diagnosis.diagnose import Suspect
from twinstep.drivers import CORE
from twinstep.env.users_program import UsersProgram
from twinstep.inputs.seeds import shipped_seeds
from twinstep.testing import WINDOW, frames_differ, sample_actions, seeds

pytestmark = [pytest.mark.level3, pytest.mark.gates("lockstep")]

#: How far the largest batch is played here.
SHORT = 64


#: Steps that a large frame's batch is played at a time.
PART = 16


def _is_large(contract):
    """Whether SHORT steps of the largest batch would take more than 1 GB of observations."""
    dtype, shape = contract.layout()["obs"]
    size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
    return 2 * size * SHORT * contract.largest_batch > 1 << 30


def ships(mode=""):
    """Mark a test of `make` under an auto-reset: `mode`, or the test's parameter of that name."""
    return pytest.mark.needs(
        when=lambda facts, row: _ships(facts, mode or row["mode"]),
        why=f"needs auto-reset '{mode}'" if mode else "needs this auto-reset",
    )


def _ships(facts, mode):
    """A variant that only has auto-reset 'off' exists for its proof."""
    modes, made = facts.pair.subject.contract.auto_resets, facts.candidate
    resets = made is None or made.ships("auto_step")
    return mode in modes and modes != ("off",) and (mode == "off" or resets)


def _drivers(contract):
    """Return the names of random play and of the environment's own drivers."""
    own = [name for name in contract.drivers if name not in CORE]
    return dict.fromkeys([contract.drivers[0], *own])


def _recordings(lab):
    """Yield (driver, frames, actions) for each driver."""
    for driver in _drivers(lab.contract):
        recorded = lab.reference.autoreset_steps(driver)
        yield driver, recorded.frames, recorded.actions


def _seeds(lab, lanes):
    return shipped_seeds("public", lanes, lab.pair.subject.env.name)


def _require(lab, mode, driver, problem, steps=""):
    if problem:
        where = "restart" if " end" in problem else "step"
        why = "the auto-reset gives what differs" if where == "restart" else "it gives what differs"
        lab.fail(
            f"`make(..., auto_reset='{mode}')` with driver {driver}: {problem}.\n{steps}",
            Suspect(where, why),
        )


def _require_steps(lab, mode, driver, found, note=""):
    """Fail by what `mismatch` found, if it did; `note` says more of where."""
    if found:
        _require(lab, mode, driver, f"{found.said}{note}", found.steps)


_calling = pytest.mark.calling(compiles="own")
#: What each kind of auto-reset must give, from a recording under same-step auto-reset.
VIEWS = {
    "off": lambda contract, expected: first_episodes(expected),
    "same-step": lambda contract, expected: expected,
    "next-step": waiting,
}


#: A state can be saved and restored.
is_saved = pytest.mark.needs("candidate.load", "shipped.frame", "contract.state")
#: Lanes of a test that fits any number.
LANES = 8


def lanes_that_fit(lab):
    """Return how many lanes a test has that fits any number: compiled for already, if that is slow.

    The tests below step all recorded lanes.
    """
    _, _, actions = next(_recordings(lab))
    return actions.shape[1] if lab.pair.candidate.slow_to_compile else LANES


def expected_lanes(lab, mode, lanes=LANES):
    """Return what these lanes must give, until half of them have seen an end; and their seeds."""
    _, frames, actions = next(_recordings(lab))
    whole = expected_of(lab.contract, frames, actions)
    part, chosen = with_ends(whole, lanes)
    return VIEWS[mode](lab.contract, part), _seeds(lab, actions.shape[1])[chosen]


def part_from(expected, step):
    """Return the expected steps from a step on."""
    heads = {name: values[step:] for name, values in expected.heads.items()}
    return expected._replace(
        actions=expected.actions[step:], heads=heads, valid=expected.valid[step:]
    )


@ships()
@pytest.mark.parametrize(
    "mode", [mode if mode == "same-step" else pytest.param(mode, marks=_calling) for mode in VIEWS]
)
def test_shipped_environment_matches_the_oracle_through_auto_resets(twinstep_lab, mode):
    """Rollout and state, several episodes long, agree with the oracle's own auto-reset."""
    env = twinstep_lab.shipped(mode)
    gates = twinstep_lab.rules.lockstep()
    for driver, frames, actions in _recordings(twinstep_lab):
        expected = VIEWS[mode](
            twinstep_lab.contract, expected_of(twinstep_lab.contract, frames, actions)
        )
        state, begun = env.reset(_seeds(twinstep_lab, actions.shape[1]))
        # The largest batch below is rolled out; the adapters step as many lanes as these.
        one_by_one = mode == "same-step" and twinstep_lab.pair.candidate.slow_to_compile
        play = stepped if one_by_one else _rollout
        state, steps = play(env, state, expected.actions)
        first = begun.obs if mode == "same-step" else None
        found = mismatch(expected, steps, gates, first=first)
        _require_steps(twinstep_lab, mode, driver, found)
        if mode == "same-step" and (env.traceable or twinstep_lab.runner.offers("frame")):
            _require(
                twinstep_lab,
                mode,
                driver,
                _fields_differ(twinstep_lab, env.frame(state), frames, gates),
            )
    twinstep_lab.notes["auto_reset"] = [mode]


@ships()
@pytest.mark.needs("rules.from_states", "candidate.load")
@pytest.mark.parametrize("mode", [pytest.param("off", marks=_calling), "same-step"])
@pytest.mark.gates("resync")
def test_shipped_steps_from_the_oracles_states_match(twinstep_lab, mode):
    """Every recorded step, ends and next starts too, each from the oracle's own state."""
    env = twinstep_lab.shipped(mode)
    for driver, frames, actions in _recordings(twinstep_lab):
        count, lanes = actions.shape[:2]
        expected = expected_of(twinstep_lab.contract, frames, actions)
        ended = expected.heads["terminated"] | expected.heads["truncated"]
        before = (np.cumsum(ended, 0) - ended).astype(np.uint32)
        seeds = _seeds(twinstep_lab, lanes) + before[..., None] * np.array([0, 1], np.uint32)
        rows = each_step(expected if mode == "same-step" else without_resets(expected))
        fields = {
            name.removeprefix("state."): values[:-1].reshape(-1, *values.shape[2:])
            for name, values in frames.items()
            if name.startswith("state.")
        }
        total = count * lanes
        state = env._load(fields, seeds.reshape(-1, 2), np.zeros(total, bool))
        _, steps = env.rollout(state, rows.actions)
        if found := mismatch(rows, steps, twinstep_lab.rules.one_step()):
            # The rows beside it are other lanes' steps: no table of those around.
            note = f" (each of {count} steps of {lanes} lanes has a lane of its own)"
            _require(twinstep_lab, mode, driver, found.said + note)


def stepped(env, state, actions):
    """Play step by step, as the adapters do."""
    rows = []
    for action in actions:
        state, now = env.step(state, action)
        rows.append(jax.tree.map(np.asarray, now))
    return state, jax.tree.map(lambda *values: np.stack(values), *rows)


def _rollout(env, state, actions):
    """Play window by window: one compiled length for every recording."""
    parts = []
    for begin in range(0, len(actions), WINDOW):
        state, steps = env.rollout(state, actions[begin : begin + WINDOW])
        parts.append(jax.tree.map(np.asarray, steps))
    return state, jax.tree.map(lambda *rows: np.concatenate(rows), *parts)


def _fields_differ(lab, frame, frames, gates):
    """Say which inner fields differ after the last step."""
    named = {f"state.{name}": np.asarray(value) for name, value in frame.state.items()}
    paths = [p for p in gates if p.startswith("state.")]
    want = {p: frames[p][-1] for p in paths} | {"reward": frames["reward"][-1]}
    found = frames_differ(want, named, {p: gates[p] for p in paths})
    return f"after the last step {', '.join(sorted(found))} differ" if found else ""


# A recording's states lack hidden fields: then the next test begins at starts.
@_calling
@ships("same-step")
@pytest.mark.needs("not contract.hidden", "candidate.load")
def test_recorded_lanes_match_inside_the_largest_batch(twinstep_lab):
    """Recorded lanes around their ends, at random places among the most that are measured."""
    env = twinstep_lab.shipped("same-step")
    gates, rng = twinstep_lab.rules.lockstep(), twinstep_lab.reference.rng("largest batch")
    driver, frames, actions = next(_recordings(twinstep_lab))
    short = PART if _is_large(twinstep_lab.contract) else SHORT
    part, begin, before = around_ends(expected_of(twinstep_lab.contract, frames, actions), short)
    count, batch = actions.shape[1], twinstep_lab.contract.largest_batch
    lanes = rng.permutation(batch)[:count]
    # Everyone else plays on from one of the recorded states, with other actions.
    source = rng.integers(0, count, batch)
    source[lanes] = np.arange(count)
    names = [name for name in frames if name.startswith("state.")]
    fields = {n.removeprefix("state."): frames[n][begin[source], source] for n in names}
    seeds = _seeds(twinstep_lab, count)[source] + np.array([0, 1], np.uint32) * before[
        source, None
    ].astype(np.uint32)
    state = env._load(fields, seeds, np.zeros(batch, bool))
    moves = sample_actions(twinstep_lab.contract, short * batch, rng).reshape(
        short, batch, *actions.shape[2:]
    )
    moves[:, lanes] = part.actions
    _, steps = env.rollout(state, moves)
    _require_steps(twinstep_lab, "same-step", driver, mismatch(part, steps, gates, lanes))
    # Fields that are not compared in lockstep are so for one step.
    head = jax.tree.map(lambda rows: rows[:1], steps)
    kept = {name: values[:1] for name, values in part.heads.items()}
    first = part._replace(actions=part.actions[:1], heads=kept, valid=part.valid[:1]), head
    found = mismatch(*first, twinstep_lab.rules.one_step(), lanes)
    _require_steps(twinstep_lab, "same-step", driver, found)
    twinstep_lab.notes["batches"] = [batch]


@_calling
@ships("same-step")
@pytest.mark.needs("contract.hidden")
def test_recorded_lanes_match_inside_the_largest_batch_from_their_starts(twinstep_lab):
    """Recorded lanes from their starts through a first end, among the most that are measured."""
    env = twinstep_lab.shipped("same-step")
    gates, rng = twinstep_lab.rules.lockstep(), twinstep_lab.reference.rng("largest batch")
    driver, frames, actions = next(_recordings(twinstep_lab))
    whole = expected_of(twinstep_lab.contract, frames, actions)
    ended = whole.heads["terminated"] | whole.heads["truncated"]
    steps = min(len(actions), int(np.median(ended.argmax(0))) + PART)
    count, batch = actions.shape[1], twinstep_lab.contract.largest_batch
    lanes = rng.permutation(batch)[:count]
    own = seeds("public", batch + count, twinstep_lab.pair.subject.env.name)[count:]
    own[lanes] = _seeds(twinstep_lab, count)
    state, _ = env.reset(own)
    for begin in range(0, steps, PART):
        rows = slice(begin, min(begin + PART, steps))
        heads = {name: values[rows] for name, values in whole.heads.items()}
        part = whole._replace(actions=whole.actions[rows], heads=heads, valid=whole.valid[rows])
        length = len(part.actions)
        moves = sample_actions(twinstep_lab.contract, length * batch, rng)
        moves = moves.reshape(length, batch, *actions.shape[2:])
        moves[:, lanes] = part.actions
        state, played = env.rollout(state, moves)
        found = mismatch(part, played, gates, lanes)
        note = f" of those from step {begin} on"
        _require_steps(twinstep_lab, "same-step", driver, found, note)
    twinstep_lab.notes["batches"] = [batch]


def _is_default(facts, row):
    """Same-step auto-reset where the candidate has it, else none."""
    resets = _ships(facts, "same-step")
    return resets if row["mode"] == "same-step" else _ships(facts, "off") and not resets


@pytest.mark.needs(when=_is_default, why="`make` has another auto-reset by default")
@pytest.mark.recompiles
@pytest.mark.parametrize("mode", ["same-step", "off"])
def test_a_users_own_program_sees_the_oracles_steps(twinstep_lab, mode):
    """A few lines that call `make`, in a fresh process where nothing tells of a check.

    The seeds are the run's own kind, and the batch has a size drawn anew.
    """
    contract, reference = twinstep_lab.contract, twinstep_lab.reference
    gates, kind = twinstep_lab.rules.lockstep(), reference.harness.settings.seeds
    kind = "holdout" if kind == "holdout" else "public"
    for driver in _drivers(contract):
        recorded = reference.autoreset_steps(driver, kind)
        whole = expected_of(contract, recorded.frames, recorded.actions)
        expected = VIEWS[mode](contract, whole)
        count = expected.actions.shape[1]
        # Every lane of the recording, and some of them again: a size that nobody knows.
        random = secrets.SystemRandom()
        lanes = [*range(count), *random.choices(range(count), k=random.randrange(3 * count))]
        lanes = np.array(random.sample(lanes, len(lanes)))
        begin = shipped_seeds(kind, count, twinstep_lab.pair.subject.env.name)[lanes]
        # Nor does anyone know how long a rollout is; all have one length, and so one program.
        window = PART if _is_large(contract) else random.randrange(WINDOW // 2, WINDOW)
        window = min(window, len(expected.actions))
        steps = len(expected.actions) // window * window
        actions = expected.actions[:steps, lanes]
        program = UsersProgram(
            twinstep_lab.pair, mode, begin, actions, window,
            apart=reference.harness.settings.isolate,
        )  # fmt: skip
        with program:
            first = program.begun(whole.heads["obs"].shape[2:])
            for rows, got in program.steps({n: v.shape[2:] for n, v in whole.heads.items()}):
                heads = {name: values[rows][:, lanes] for name, values in expected.heads.items()}
                part = expected._replace(
                    actions=actions[rows], heads=heads, valid=expected.valid[rows][:, lanes]
                )
                found = mismatch(part, got, gates, first=first if not rows.start else None)
                note = f" of those from step {rows.start} on" if rows.start else ""
                _require_steps(twinstep_lab, mode, driver, found, note)
    twinstep_lab.notes["users_program"] = kind
