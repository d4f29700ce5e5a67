"""`from twinstep import ...`: every public name resolves, and none is imported before its use."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import twinstep
from twinstep import testing

#: The table of the design, in its order: module -> names. Adding a name is a decision.
TABLE = {
    "env.make": ["make", "Env"],
    "env.timestep": ["TimeStep"],
    "environment": ["Environment", "OracleRef", "CandidateRef", "Variant", "Parameter", "Probe"],
    "contract": [
        "Contract", "Field", "Role", "Discrete", "Box", "Module", "Measure", "Randomness",
    ],
    "gates": [
        "GateRule", "Lockstep", "Resync", "Window", "Distribution", "Horizon", "Averages",
    ],
    "plans": ["PPO", "Transfer"],
    "frames": ["Start", "Frame"],
    "protocols": ["Oracle", "Lanes", "Candidate", "ModuleCall", "NotCallable"],
    "jax_candidate": ["JaxCandidate"],
    "drivers": ["Driver"],
    "errors": [
        "UserError", "OracleFailed", "OracleMissing", "ContractBroken", "CandidateBroken",
    ],
}  # fmt: skip
NAMES = [(module, name) for module, names in TABLE.items() for name in names]
HEAVY = ("numpy", "jax", "hypothesis", "pytest", "scipy", "optax", "twinstep.contract")


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_is_that_of_its_module(module, name):
    home = importlib.import_module(f"twinstep.{module}")
    assert getattr(twinstep, name) is getattr(home, name)


def test_environments_lists_the_declared_names():
    from twinstep.project import registry

    assert twinstep.environments() == registry.names()
    assert "pong" in twinstep.environments()


def test_dir_and_all_list_the_public_names_and_no_others():
    public = sorted([*(name for _, name in NAMES), "environments"])
    assert sorted(twinstep.__all__) == public
    assert set(public) <= set(dir(twinstep))
    assert "__version__" in dir(twinstep)
    names = {}
    exec("from twinstep import *", names)
    assert set(public) <= set(names)


def test_type_checkers_see_the_same_names_from_the_same_modules():
    tree = ast.parse(Path(twinstep.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = {
        (alias.asname or alias.name): (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    wanted = {name: (f"twinstep.{module}", name) for module, name in NAMES}
    assert imports == wanted | {"environments": ("twinstep.project.registry", "names")}


def test_what_suites_import_from_testing_is_that_of_its_module_for_type_checkers_too():
    tree = ast.parse(Path(testing.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    named = [
        (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(name for _, name in named) == sorted(testing.__all__)
    for module, name in named:
        assert getattr(testing, name) is getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match=r"'twinstep\.testing' has no attribute 'numpy'"):
        testing.numpy  # noqa: B018


@pytest.mark.parametrize("name", ["no_such_name", "Contrakt", "numpy", "names"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'twinstep' has no attribute '{name}'"):
        getattr(twinstep, name)
    with pytest.raises(ImportError):
        exec(f"from twinstep import {name}")


def _loaded(code):
    """Return the modules of HEAVY that a statement imports in a fresh Python."""
    script = f"import json, sys\n{code}\nprint(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    modules = set(json.loads(done.stdout))
    return {name for name in HEAVY if name in modules}


def test_import_twinstep_alone_is_light():
    assert _loaded("import twinstep; dir(twinstep); twinstep.__version__") == set()


def test_importing_testing_alone_is_light():
    assert _loaded("import twinstep.testing; dir(twinstep.testing)") == set()


def test_a_declaration_needs_no_jax():
    code = "from twinstep import Contract, Environment, Frame, GateRule, Probe, UserError"
    assert _loaded(code) == {"numpy", "twinstep.contract"}


def test_an_eager_import_is_noticed():
    """The planted bug: a face that imports its names at once."""
    assert "jax" in _loaded("import twinstep; twinstep.make")
