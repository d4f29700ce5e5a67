"""Labs of a toy in this process, as the tests of comparisons and reports need them."""

import contextlib

import pytest

from twinstep.project.registry import EnvVariant, Pair
from twinstep.testing.harness import Harness
from twinstep.testing.settings import RunSettings


@contextlib.contextmanager
def labs(folder, env, episodes, place=""):
    """Give a function from a candidate's name, and a variant's, to the lab; end the oracles after.

    folder: empty; the oracle's process finds the toy by its name there. place: `module:CONSTANT` of
    its declaration; by default its oracle's module, and its name in capitals.
    """
    place = place or f"{env.oracle.factory.partition(':')[0]}:{env.name.upper()}"
    (folder / "pyproject.toml").write_text(f'[tool.twinstep.envs]\n{env.name} = "{place}"\n')
    harness = Harness(RunSettings(episodes=episodes))
    candidates = {ref.name: ref for ref in env.candidates}
    variants = {variant.name: variant for variant in env.variants}

    def lab_of(candidate, variant=env.variants[0].name):
        return harness.lab(Pair(EnvVariant(env, variants[variant]), candidates[candidate]))

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield lab_of
        harness.close()
