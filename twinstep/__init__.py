"""twinstep proves that a fast environment behaves exactly like its reference.

Every public name is imported on first use: `import twinstep` alone loads neither NumPy nor JAX.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twinstep.contract import (
        Box,
        Contract,
        Discrete,
        Field,
        Measure,
        Module,
        Randomness,
        Role,
    )
    from twinstep.drivers import Driver
    from twinstep.env.make import Env, make
    from twinstep.env.timestep import TimeStep
    from twinstep.environment import (
        CandidateRef,
        Environment,
        OracleRef,
        Parameter,
        Probe,
        Variant,
    )
    from twinstep.errors import (
        CandidateBroken,
        ContractBroken,
        OracleFailed,
        OracleMissing,
        UserError,
    )
    from twinstep.frames import Frame, Start
    from twinstep.gates import (
        Averages,
        Distribution,
        GateRule,
        Horizon,
        Lockstep,
        Resync,
        Window,
    )
    from twinstep.jax_candidate import JaxCandidate
    from twinstep.plans import PPO, Transfer
    from twinstep.project.registry import names as environments
    from twinstep.protocols import Candidate, Lanes, ModuleCall, NotCallable, Oracle

__version__ = "0.1.0"
#: A static list, as type checkers need it; the tests hold it against `_HOMES`.
__all__ = [
    "PPO",
    "Averages",
    "Box",
    "Candidate",
    "CandidateBroken",
    "CandidateRef",
    "Contract",
    "ContractBroken",
    "Discrete",
    "Distribution",
    "Driver",
    "Env",
    "Environment",
    "Field",
    "Frame",
    "GateRule",
    "Horizon",
    "JaxCandidate",
    "Lanes",
    "Lockstep",
    "Measure",
    "Module",
    "ModuleCall",
    "NotCallable",
    "Oracle",
    "OracleFailed",
    "OracleMissing",
    "OracleRef",
    "Parameter",
    "Probe",
    "Randomness",
    "Resync",
    "Role",
    "Start",
    "TimeStep",
    "Transfer",
    "UserError",
    "Variant",
    "Window",
    "environments",
    "make",
]

#: Module -> the public names that it defines.
_HOMES = {
    # To use an environment.
    "env.make": "make Env",
    "env.timestep": "TimeStep",
    "project.registry": "environments",
    # To declare one.
    "environment": "Environment OracleRef CandidateRef Variant Parameter Probe",
    "contract": "Contract Field Role Discrete Box Module Measure Randomness",
    "gates": "GateRule Lockstep Resync Window Distribution Horizon Averages",
    "plans": "PPO Transfer",
    # To implement one.
    "frames": "Start Frame",
    "protocols": "Oracle Lanes Candidate ModuleCall NotCallable",
    "jax_candidate": "JaxCandidate",
    "drivers": "Driver",
    # To catch errors.
    "errors": "UserError OracleFailed OracleMissing ContractBroken CandidateBroken",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
#: Public names that their module spells differently.
_SPELLED = {"environments": "names"}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOME:
        raise AttributeError(f"module 'twinstep' has no attribute '{name}'")
    module = importlib.import_module(f"twinstep.{_HOME[name]}")
    return getattr(module, _SPELLED.get(name, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
