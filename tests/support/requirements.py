"""What a test cannot do without."""

import os

import pytest

from twinstep.environment import Probe


def in_ci() -> bool:
    """Whether a missing tool is an error."""
    return os.environ.get("CI", "").lower() in ("true", "1")


def need(probe: Probe) -> None:
    """Skip the test, under CI fail it, if what was probed is not there."""
    if probe.problem:
        problem = f"{probe.problem}: {probe.mend}"
        pytest.fail(problem) if in_ci() else pytest.skip(problem)
