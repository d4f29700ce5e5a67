"""What an oracle offers is used: its process says every method of the ladder that it has."""

import mmap
import re

import pytest

from twinstep import protocols
from twinstep.project import registry
from twinstep.project.registry import EnvVariant, environment
from twinstep.protocols import ORACLE_LADDER, offers
from twinstep.reference import worker
from twinstep.reference.process import OracleProcess
from twinstep.tests.support.requirements import need


@pytest.fixture(params=["pong", "halfcheetah"])
def host(request):
    """Return the host that an oracle's process runs, here."""
    env = environment(request.param)
    subject = EnvVariant(env, env.variants[0])
    need(subject.probe)
    life = mmap.mmap(-1, worker.LIFE.size)
    params = dict(subject.contract.params)
    made = worker.OracleHost(life, registry.locator(request.param), params)
    yield made
    made.oracle.close()


def _unsaid(host):
    """Return the documented optional methods that the oracle has and its process does not say."""
    return {name for name in _documented() if offers(host.oracle, name)} - set(host.methods())


def _documented():
    """Return the optional methods that the protocol describes, as `load(state)  continue ...`."""
    return set(re.findall(r"^ {6}(\w+)\(", protocols.Oracle.__doc__ or "", re.MULTILINE))


def test_the_ladder_is_what_the_protocol_describes():
    assert _documented() == set(ORACLE_LADDER)


def test_every_method_that_an_oracle_offers_is_said_by_its_process(host):
    assert not _unsaid(host)


def test_a_method_that_is_left_out_of_the_ladder_is_noticed(host, monkeypatch):
    for name in host.methods():
        with monkeypatch.context() as patch:
            patch.delitem(ORACLE_LADDER, name)
            assert _unsaid(host) == {name}


@pytest.mark.parametrize(("name", "placing"), [("pong", False), ("halfcheetah", True)])
def test_the_parent_hears_which_oracle_places_states(name, placing):
    """The parent hears of them: without `places`, inputs are drawn from ranges alone."""
    env = environment(name)
    subject = EnvVariant(env, env.variants[0])
    need(subject.probe)
    process = OracleProcess(subject)
    try:
        assert process.offers("load")
        assert process.offers("places") == placing
    finally:
        process.close()
