"""A wrong first frame of a console: the report tells a wrong start from a wrong machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from twinstep.candidates.emurust.rust_emurust import EmuRust
from twinstep.contracts.emurust.declaration import EMURUST
from twinstep.diagnosis.case import Case
from twinstep.diagnosis.diagnose import diagnose
from twinstep.frames import Frame, Start
from twinstep.inputs.seeds import starts_of
from twinstep.project import registry
from twinstep.testing.harness import Harness
from twinstep.testing.lab import Lab
from twinstep.testing.settings import RunSettings
from twinstep.tests.support.emurust_oracles import need_reference
from twinstep.tests.support.game_boys import need_the_module, seeds

_HERE = "twinstep.tests.diagnosis.test_after_reset"


def _spoiled(frame: Frame) -> Frame:
    return frame._replace(state={**frame.state, "a": frame.state["a"] ^ np.uint8(1)})


class WrongStart(EmuRust):
    """Its first frame has a wrong A."""

    def reset(self, starts: Start) -> tuple[Any, Frame]:
        state, frame = super().reset(starts)
        return state, _spoiled(frame)


class WrongMachine(WrongStart):
    """All its frames have a wrong A."""

    def step(self, state: Any, actions: Any) -> tuple[Any, Frame]:
        state, frame = super().step(state, actions)
        return state, _spoiled(frame)

    def rollout(self, state: Any, actions: Any) -> tuple[Any, Frame]:
        state, frames = super().rollout(state, actions)
        return state, _spoiled(frames)


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    need_the_module()
    need_reference()
    made = Harness(RunSettings(episodes=1))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("candidate", "suspects"),
    [("WrongStart", ["reset"]), ("WrongMachine", ["processor", "reset"])],
)
def test_a_wrong_first_frame_names_the_machine_where_its_steps_are_wrong_too(
    harness: Harness, candidate: str, suspects: list[str]
) -> None:
    subject = next(s for s in registry.subjects(EMURUST, {}) if s.variant.name == "catch")
    ref = replace(EMURUST.candidates[0], factory=f"{_HERE}:{candidate}")
    pair = registry.Pair(subject, ref)
    lab = Lab(pair, harness.reference(subject))
    starts = starts_of(lab.contract, seeds(1))
    start = Start(starts.seed[0], {name: value[0] for name, value in starts.fields.items()})
    none = np.zeros((0, 1), np.int32)
    found = diagnose(Case("episode", start, none), lab.oracle, lab.runner, lab.rules)
    assert [suspect.module for suspect in found.suspects] == suspects
    first = found.suspects[0]
    assert first.why.startswith("owns a field that differs a step" if suspects[1:] else "the first")
