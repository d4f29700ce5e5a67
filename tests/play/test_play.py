"""`twinstep play`: an episode in the terminal, and a battle as a replay."""

import pytest

from twinstep import cli
from twinstep.contracts.pokejax.declaration import POKEJAX
from twinstep.oracles.pokejax import upstream as showdown
from twinstep.oracles.pokejax.replay import public, sentences
from twinstep.oracles.pong import upstream as pufferlib
from twinstep.tests.support.requirements import need


def play(*args):
    return cli.main(["play", *map(str, args)])


def test_an_episode_is_told_step_by_step_to_its_end(capsys):
    need(pufferlib.probe({}))
    assert play("pong") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"The episode ended after {len(lines) - 1} steps."
    assert "reward" in lines[0]
    assert "ball_x=" in lines[0]


def test_a_battle_is_told_and_written_as_a_replay(tmp_path, capsys):
    need(showdown.probe(POKEJAX.params({})))
    assert play("pokejax", "--driver", "attack", "--seed", 3, "--out", tmp_path / "battle") == 0
    told = capsys.readouterr().out
    assert "Turn 1\n" in told
    assert told.count(" wins") == 1
    log = (tmp_path / "battle.log").read_text()
    for line in ("|player|p1|", "|gen|1", "|tier|", "|start", "|switch|p2a: ", "|turn|2", "|win|"):
        assert f"\n{line}" in f"\n{log}", line
    assert "|split|" not in log
    assert "|t:|" not in log
    page = (tmp_path / "battle.html").read_text()
    assert '<script type="text/plain" class="battle-log-data">' in page
    assert log.strip() in page
    # The same seed is the same battle.
    assert play("pokejax", "--driver", "attack", "--seed", 3, "--out", tmp_path / "again") == 0
    assert (tmp_path / "again.log").read_text() == log


def test_of_a_split_line_the_exact_one_is_kept():
    log = "|turn|1\n|split|p1\n|-damage|p1a: Mew|99/403\n|-damage|p1a: Mew|25/100\n|t:|1\n|win|p2"
    assert public(log) == ["|turn|1", "|-damage|p1a: Mew|99/403", "|win|p2"]
    assert sentences(public(log)) == ["\nTurn 1", "  p1's Mew: 99/403 HP", "\np2 wins"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("pnog",), "unknown environment 'pnog'; did you mean 'pong'?"),
        (("pong", "--variant", "fs9"), "unknown variant of pong 'fs9'"),
        (("pong", "--driver", "rnadom"), "unknown driver of pong 'rnadom'; did you mean 'random'?"),
        (("pong", "--seed", "x"), "--seed x: a number below 2**32"),
        (("pokejax", "--out", "/dev/null/x"), "files cannot be written there"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_4(args, says, capsys):
    assert play(*args) == 4
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
