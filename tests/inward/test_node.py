"""A JavaScript module as it is: its functions, its own variables, its draws."""

import numpy as np
import pytest

from twinstep import UserError
from twinstep.chance import Draws, Row
from twinstep.environment import Probe
from twinstep.inward import NodeModule, node_version
from twinstep.tests.support.requirements import need

NODE = Probe({}, "" if node_version() else "there is no Node.js", "install it")


@pytest.fixture(autouse=True)
def _node():
    need(NODE)


GAME = """
const rules = require("./rules");
let at = 0;
class Die {
  constructor(sides) { this.sides = sides; this.seen = []; }
  roll() { this.seen.push(1 + Math.floor(this.sides * Math.random())); return this.seen; }
  wait() { return Promise.resolve("later"); }
  fall() { rules.undefinedName.x; }
  weigh(values) { return values; }
}
const move = (by) => {
  console.log("moving");
  at += rules.scale * by;
  rules.count += 1;
  return { at, count: rules.count };
};
module.exports = {
  Die,
  move,
  odd: () => [NaN, -Infinity, -0, 12n, new Float32Array([0.5]), new Set([1])],
  two: () => [Math.random(), spare()],
};
function spare() { return Math.random(); }
"""
RULES = "module.exports = { scale: 2, count: 0 };"


@pytest.fixture
def module(tmp_path):
    (tmp_path / "game.js").write_text(GAME)
    (tmp_path / "rules.js").write_text(RULES)
    module = NodeModule(tmp_path / "game.js")
    yield module
    module.close()


def test_its_exports_are_told_with_the_methods_of_its_classes(module):
    assert module.exports == {
        "Die": ["fall", "roll", "wait", "weigh"],
        "move": [],
        "odd": [],
        "two": [],
    }


def test_each_copy_has_variables_of_its_own_and_of_what_it_loads(module):
    one, other = module.make(), module.make()
    assert one.call("move", 3) == {"at": 6, "count": 1}
    assert one.call("move", 1) == {"at": 8, "count": 2}
    assert other.call("move", 1) == {"at": 2, "count": 1}


def test_an_object_of_a_class_shows_and_takes_its_variables(module):
    die = module.make("Die", 1)
    assert die.call("roll") == [1]
    die.set("seen", np.arange(2))
    assert die.get("seen") == [0, 1]
    assert die.call("wait") == "later"


def test_numbers_that_json_lacks_arrive_as_they_are(module):
    nan, low, zero, big, array, group = module.make().call("odd")
    assert np.isnan(nan)
    assert (low, big, array, group) == (-np.inf, 12, [0.5], [1])
    assert np.signbit(zero)
    there = module.make("Die", 6).call("weigh", [float("inf"), float("nan"), -0.0])
    assert there[0] == np.inf
    assert np.isnan(there[1])
    assert np.signbit(there[2])


def test_draws_are_the_words_of_the_row(module):
    draws, game = Draws(Row(3)), module.make()
    draws.put(np.array([0, 1 << 31, 5], np.uint32))
    with draws:
        assert game.call("two") == [2.0**-17, 0.5 + 2.0**-17]
    assert draws.state()["drawn"] == 2


def test_a_copy_that_is_closed_makes_no_later_one_another(module):
    first, second = module.make(), module.make()
    second.call("move", 1)
    first.close()
    third = module.make()
    assert third.call("move", 5) == {"at": 10, "count": 1}
    assert second.call("move", 1) == {"at": 4, "count": 2}


def test_a_random_that_the_module_keeps_and_draws_of_its_loading_are_answered(tmp_path):
    (tmp_path / "kept.js").write_text(
        "const { random } = Math; const begun = random(); exports.both = () => [begun, random()];"
    )
    module, draws = NodeModule(tmp_path / "kept.js"), Draws(Row(2))
    draws.put(np.array([0, 1 << 31], np.uint32))
    with draws:
        assert module.make().call("both") == [2.0**-17, 0.5 + 2.0**-17]
    module.close()


def test_an_answer_longer_than_a_pipe_arrives_whole(module):
    values = list(range(200_000))
    assert module.make("Die", 6).call("weigh", values) == values


def test_a_place_in_the_source_has_words_of_its_own(module):
    draws = Draws(Row({"late": 1, "early": 1}), {"spare": "late", "game.js:21": "early"})
    draws.put(np.array([0, 1 << 31], np.uint32))
    with draws:
        assert module.make().call("two") == [0.5 + 2.0**-17, 2.0**-17]


@pytest.mark.parametrize(
    ("row", "sites", "says"),
    [
        (Row(1), {}, "the row has 1 words, and Math.random in game.js:.* asks for number 2"),
        (Row({"a": 1}), {"spare": "a"}, "called in game.js:21, which has no name in the row"),
    ],
)
def test_draws_without_words_are_one_line(module, row, sites, says):
    draws, game = Draws(row, sites), module.make()
    with pytest.raises(UserError, match=says), draws:
        game.call("two")


def test_words_are_counted_over_all_calls_of_a_step(module):
    draws, game = Draws(Row(3)), module.make()
    with draws:
        game.call("two")
        with pytest.raises(UserError, match="has 3 words, and .* asks for number 4"):
            game.call("two")


def test_what_it_throws_is_told_with_its_place(module):
    with pytest.raises(RuntimeError, match=r"game.js: TypeError: .* \(game.js:8\)"):
        module.make("Die", 6).call("fall")


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda m: m.make("Dice"), UserError, "exports no function `Dice` .it has Die, move"),
        (lambda m: m.make().call("jump"), RuntimeError, "no function jump .there are Die, move"),
    ],
)
def test_a_name_that_it_lacks_is_one_line(module, ask, error, says):
    with pytest.raises(error, match=says):
        ask(module)


def test_a_process_that_ended_is_one_line(module):
    game = module.make()
    module._process.kill()
    module._process.wait()
    with pytest.raises(RuntimeError, match=r"game.js: its process of Node.js has ended"):
        game.call("move", 1)


def test_an_es_module_is_loaded_as_well(tmp_path):
    (tmp_path / "game.mjs").write_text("let at = 0; export function move() { return ++at; }")
    module = NodeModule(tmp_path / "game.mjs")
    one, other = module.make(), module.make()
    assert [one.call("move"), one.call("move"), other.call("move")] == [1, 2, 1]
    module.close()


def test_without_node_it_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    node_version.cache_clear()
    try:
        with pytest.raises(UserError, match=r"game.js needs Node.js 18 or newer"):
            NodeModule(tmp_path / "game.js")
    finally:
        node_version.cache_clear()
