"""Skip or fail tests without their requirements."""

import os

import pytest

from twinstep.environment import Probe


def in_ci() -> bool:
    """Return True if a missing tool is an error."""
    return os.environ.get("CI", "").lower() in ("true", "1")


def need(probe: Probe) -> None:
    """Skip the test (fail it in CI) if a probe has a problem."""
    if probe.problem:
        problem = f"{probe.problem}: {probe.mend}"
        pytest.fail(problem) if in_ci() else pytest.skip(problem)
