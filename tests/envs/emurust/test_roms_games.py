"""Our Game Boy games, played in PyBoy: seeds, rewards, ends, and each game's special purpose."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from twinstep.contracts.emurust.roms.games import GAMES
from twinstep.contracts.emurust.roms.memory import Change, Game, Value, read
from twinstep.tests.support.pyboys import switch_on

CATCHES = [name for name, game in GAMES.items() if game.variables == GAMES["catch"].variables]


class Player:
    """A game in PyBoy, seeded right after the boot ROM."""

    def __init__(self, game: Game, seed: int = 0, wait: int = 0) -> None:
        self.game = game
        self.boy = switch_on(game.rom)
        self.memory = self.boy.memory
        self.held: str | None = None
        self.tick(game.boot_frames + wait)
        self.write(game.variables.prng, seed)

    def __getattr__(self, name: str) -> int:
        """A variable of the game."""
        return read(self.memory, getattr(self.game.variables, name))

    def write(self, value: Value, number: int) -> None:
        for byte in range(value.size):
            self.memory[value.address + byte] = number >> 8 * byte & 0xFF

    def tick(self, count: int, draw: bool = False) -> None:
        for _ in range(count):
            self.boy.tick(1, draw, False)

    def start(self) -> Player:
        for _ in range(20):
            if self.playing:
                return self
            self.tick(1)
        raise AssertionError("the game does not begin")

    def frame(self, button: str | None) -> None:
        """Play a frame with this button held and no other."""
        if button != self.held:
            if self.held:
                self.boy.button_release(self.held)
            if button:
                self.boy.button_press(button)
            self.held = button
        self.tick(1)

    def run(self, frames: int, policy: Callable[[Player], str | None]) -> Iterator[int]:
        """Yield the frames' numbers, until the game is over."""
        for number in range(frames):
            if self.over:
                return
            self.frame(policy(self))
            yield number

    def until_over(self, policy: Callable[[Player], str | None], frames: int) -> Player:
        for _ in self.run(frames, policy):
            pass
        return self

    def digest(self) -> str:
        """Return all WRAM except the stack, sprites, video memory and high RAM."""
        parts = (0xC000, 0xDF00), (0x8000, 0xA000), (0xFE00, 0xFEA0), (0xFF80, 0xFFFF)
        whole = b"".join(bytes(self.memory[low:high]) for low, high in parts)
        return hashlib.sha256(whole).hexdigest()


@pytest.fixture
def play() -> Iterator[Callable[..., Player]]:
    players: list[Player] = []

    def begin(name: str, seed: int = 0, wait: int = 0) -> Player:
        players.append(Player(GAMES[name], seed, wait))
        return players[-1]

    yield begin
    for player in players:
        player.boy.stop(save=False)


def at_random(game: Game, seed: int) -> Callable[[Player], str | None]:
    """A random button or none, held for 12 frames."""
    rng = random.Random(seed)
    state: list[Any] = [0, None]

    def policy(_: Player) -> str | None:
        if state[0] % 12 == 0:
            state[1] = rng.choice([*game.buttons, None])
        state[0] += 1
        return state[1]

    return policy


def toward(target: int, at: int) -> str | None:
    return "left" if target < at - 2 else "right" if target > at + 2 else None


# All games


@pytest.mark.parametrize("name", GAMES)
def test_a_rom_is_the_same_each_time_and_declares_itself(name):
    game = GAMES[name]
    rom = game.rom
    assert game.build().data == rom
    assert len(rom) == 0x8000 << rom[0x148]
    assert (rom[0x147], len(rom) // 0x4000) == ((1, 4) if name == "breakout" else (0, 2))
    assert rom[0x104:0x134] == bytes(0x30), "the logo is Nintendo's"
    assert game.name == name
    assert game.doc
    values = list(vars(game.variables).values())
    assert game.done in values
    assert all(change.value in values for change in game.reward)
    spans = sorted((value.address, value.address + value.size * value.count) for value in values)
    assert all(end <= begin for (_, end), (begin, _) in zip(spans, spans[1:], strict=False))


@pytest.mark.parametrize("name", GAMES)
def test_a_game_begins_soon_after_the_boot_rom(play, name):
    player = play(name)
    assert player.boy.register_file.PC >= 0x100
    assert not player.playing
    player.tick(1)
    assert not player.playing, "too late to be seeded"
    player.start()
    assert not player.over


@pytest.mark.parametrize("name", GAMES)
def test_seed_and_buttons_decide_the_whole_game(play, name):
    def history(seed: int, keys: int, wait: int = 0) -> list[str]:
        player = play(name, seed, wait)
        policy = at_random(player.game, keys)
        for _ in range(wait):
            policy(player)  # that many frames have passed
        frames = range(120 - wait)
        return [player.frame(policy(player)) or player.digest() for _ in frames][-60:]

    first = history(7, 1)
    assert history(7, 1) == first
    assert history(7, 1, wait=2)[-1] == first[-1], "the seed can be poked in any quiet frame"
    seeds = [history(seed, 1)[-1] for seed in (6, 8, 7 + 256)]
    assert len({first[-1], *seeds}) == 4
    assert history(7, 2)[-1] != first[-1]
    assert history(0, 1) == history(0x1D2B, 1)


def xorshift(state: int) -> int:
    """The games' random numbers in Python: shifts by 7, 9, 8."""
    state ^= state << 7 & 0xFFFF
    state ^= state >> 9
    return state ^ state << 8 & 0xFFFF


def test_random_numbers_go_through_all_states_but_zero():
    state, period = xorshift(1), 1
    while state != 1:
        state, period = xorshift(state), period + 1
    assert period == 0xFFFF


@pytest.mark.parametrize("seed", [1, 0x80, 0x1234, 0xFFFF])
def test_the_seed_is_the_state_of_the_random_numbers(play, seed):
    player = play("catch", seed).start()
    state = seed
    for _ in range(3):  # two for nothing, then the first ball's place and drift
        state = xorshift(state)
    assert player.ball_x == 12 + (((state >> 8) + state) & 127)
    state = xorshift(state)
    assert player.drift == ((state >> 8) + state & 3) - 1 & 0xFF
    assert player.prng == state


@pytest.mark.parametrize("name", GAMES)
def test_random_play_ends_and_the_end_stays(play, name):
    player = play(name, seed=3).start()
    player.until_over(at_random(player.game, 3), 10_000)
    assert player.over == 1
    assert getattr(player, "lives", 0) == 0 or player.left == 0
    player.frame(None)
    before = bytes(player.memory[0xC100:0xC300])
    for button in (*player.game.buttons, "start", "a", "select", None):
        for _ in range(20):
            player.frame(button)
    assert bytes(player.memory[0xC100:0xC300]) == before


def test_a_reward_is_the_change_of_a_counter_that_may_wrap():
    byte, word = Change(Value(0xC100)), Change(Value(0xC100, 2), weight=0.5)
    assert [byte(3, 5), byte(5, 3), byte(254, 1), byte(1, 254)] == [2, -2, 3, -3]
    assert [word(0xFFFF, 1), word(300, 100)] == [1.0, -100.0]
    memory = bytearray(0x10000)
    memory[0xC100:0xC102] = 2, 1
    assert read(memory, Value(0xC100, 2)) == 258


# Catch and its variants


def catcher(player: Player) -> str | None:
    return toward(player.ball_x + 4, player.paddle + 16)


@pytest.mark.parametrize("name", CATCHES)
def test_a_greedy_policy_plays_catch_well(play, name):
    player = play(name, seed=1234).start()
    rewards = 0.0
    change = player.game.reward[0]
    before = player.score
    for _ in player.run(3000, catcher):
        after = player.score
        rewards += change(before, after)
        before = after
    assert player.score == rewards >= 20
    assert player.lives >= 4


@pytest.mark.parametrize("name", CATCHES)
def test_a_policy_that_flees_the_ball_catches_less(play, name):
    player = play(name, seed=1234).start()
    player.until_over(lambda p: "left" if p.ball_x > 76 else "right", 3000)
    assert player.over
    assert player.score <= 2


def test_variants_of_catch_are_one_game(play):
    """They differ only in their waits, so all variables are equal, frame by frame."""
    players = [play(name, seed=99).start() for name in CATCHES]
    policies = [at_random(player.game, 4) for player in players]
    names = ("score", "lives", "paddle", "ball_x", "ball_y", "drift", "prng", "ticks", "over")
    assert CATCHES == ["catch", "poll_ly", "poll_stat", "poll_flag"]
    for _ in range(400):
        for player, policy in zip(players, policies, strict=True):
            player.frame(policy(player))
        assert len({tuple(getattr(player, name) for name in names) for player in players}) == 1


@pytest.mark.parametrize("name", CATCHES)
def test_the_screen_shows_where_the_ball_is(play, name):
    player = play(name, seed=5).start()
    for _ in range(50):
        x, y = player.ball_x, player.ball_y  # drawn in the next frame's vertical blank,
        player.tick(1)  # and shown in the frame after
        player.tick(1, draw=True)
        dark = player.boy.screen.ndarray[:, :, 0] < 128
        assert dark[y + 4, x : x + 8].any()
        assert dark[16:128].sum() < 64


# Explorer


def popcount(player: Player) -> int:
    return sum(byte.bit_count() for byte in player.memory[0xC200:0xC280])


@pytest.mark.parametrize("seed", [1, 2, 77])
def test_explorer_counts_the_distinct_cells_that_were_walked_on(play, seed):
    player = play("explorer", seed).start()
    world = bytes(player.memory[0xC300:0xC700])
    assert 256 <= sum(world) <= 600
    cells = {(player.x // 8, player.y // 8)}
    counts = []
    for _ in player.run(4000, at_random(player.game, seed)):
        if not (player.x | player.y) & 7:
            cells.add((player.x // 8, player.y // 8))
        assert player.seen == len(cells) == popcount(player)
        counts.append(player.seen)
    assert counts == sorted(counts)
    assert counts[-1] > 50
    assert not any(world[32 * y + x] for x, y in cells)
    bits = {(8 * (i % 4) + b, i // 4) for i in range(128) for b in range(8)
            if player.memory[0xC200 + i] >> b & 1}  # fmt: skip
    assert bits == cells
    # The map shows it: floor 2, wall 3, seen 4. The last cell may not be drawn yet.
    shown = bytes(player.memory[0x9800:0x9C00])
    wrong = [(x, y) for y in range(32) for x in range(32)
             if shown[32 * y + x] != (4 if (x, y) in cells else 2 + world[32 * y + x])]  # fmt: skip
    assert set(wrong) <= {(player.x // 8, player.y // 8)}


def test_explorer_counts_in_two_bytes(play):
    player = play("explorer", seed=1).start()
    player.write(player.game.variables.seen, 255)
    for _ in player.run(100, at_random(player.game, 1)):
        if player.seen != 255:
            break
    assert player.seen == 256


def test_explorer_scrolls_by_pixels_and_around_the_world(play):
    player = play("explorer", seed=1).start()
    scrolls, windows = set(), set()
    player.write(player.game.variables.lives, 255)
    for _ in player.run(1500, at_random(player.game, 8)):
        scrolls.add((player.memory[0xFF43], player.memory[0xFF42]))
        windows.add((player.memory[0xFF4B], player.memory[0xFF4A]))
    assert {x & 7 for x, _ in scrolls} == {y & 7 for _, y in scrolls} == {0, 2, 4, 6}
    assert windows == {(7, 136)}


def test_an_explorer_that_a_ghost_touches_loses_a_life_and_the_ghost_goes_far(play):
    player = play("explorer", seed=1).start()
    player.memory[0xC120], player.memory[0xC121] = player.x, player.y
    player.memory[0xC122] = player.memory[0xC123] = 0
    player.tick(1)
    assert player.lives == 2
    assert (player.memory[0xC120] - player.x) % 256 in range(112, 145)


# Breakout


def bouncer(seed: int) -> Callable[[Player], str | None]:
    """Meet the ball with a part of the paddle that changes with each turn of the ball."""
    rng = random.Random(seed)
    state = [0, 12]

    def policy(player: Player) -> str | None:
        if player.speed_y != state[0]:
            state[:] = player.speed_y, rng.randint(2, 21)
        return toward(player.ball_x + 4 - state[1], player.paddle)

    return policy


def bricks(player: Player) -> list[int]:
    return player.memory[0xC200:0xC260]


def points(level: int, brick: int) -> int:
    """The rule of each bank, in Python."""
    return (1, 5 - brick // 16, 2 + brick % 2)[level % 3]


def test_breakout_switches_banks_with_its_levels_and_scores_by_their_rules(play):
    player = play("breakout", seed=3).start()
    seen = set()
    level, before, score = player.level, bricks(player), player.score
    for _ in player.run(8000, bouncer(3)):
        seen.add((player.level, player.bank, player.memory[0x4000]))
        after = bricks(player)
        if player.level == level:
            hits = [(i, a - b) for i, (a, b) in enumerate(zip(before, after, strict=True))]
            assert player.score - score == sum(n * points(level, i) for i, n in hits)
            assert player.bricks_left == sum(brick > 0 for brick in after)
            assert min(n for _, n in hits) >= 0
        elif player.bricks_left == 0:
            continue  # the level is being drawn, which takes frames
        level, before, score = player.level, after, player.score
    assert seen >= {(0, 1, 1), (1, 2, 2)}
    assert player.score > 30


def test_breakout_comes_back_to_the_first_bank_after_the_last(play):
    player = play("breakout", seed=3).start()
    variables = player.game.variables
    seen = []
    for _ in player.run(3000, bouncer(1)):
        state = (player.level, player.bank, player.memory[0x4000], player.memory[0xFF06])
        if seen[-1:] != [state] and player.bricks_left > 1:
            seen.append(state)
            player.write(variables.lives, 9)
            player.write(variables.bricks_left, 1)  # the next hit ends the level
        if player.level == 4:
            break
    assert [state[:3] for state in seen] == [(0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 1, 1)]
    assert [256 - state[3] for state in seen] == [43, 39, 35, 43], "steps are by TMA"


def test_the_timer_moves_the_ball_of_breakout(play):
    player = play("breakout", seed=3).start()
    player.tick(2)
    down = [0]
    for _ in range(30):
        at = player.ball_y
        player.tick(1)
        down.append(at - player.ball_y)
    # 4096 / 43 steps in 59.73 frames: 1.6 a frame, so one or two.
    assert set(down[1:]) == {1, 2}
    assert 46 <= sum(down) <= 49


# Heavy


def test_heavy_does_thousands_of_instructions_in_each_frame_and_is_never_late(play):
    player = play("heavy", seed=5).start()
    player.tick(10)
    main = player.game.assembled.address("main")  # call wait, and behind it the frame's work
    times: list[tuple[bool, int]] = []
    for place in (main, main + 3):
        player.boy.hook_register(
            0, place, lambda working: times.append((working, player.boy._cycles())), place > main
        )
    ticks = player.ticks
    player.tick(50)
    assert player.ticks == (ticks + 50) % 256
    spent = [
        then - now for (working, now), (_, then) in zip(times, times[1:], strict=False) if working
    ]
    # No instruction takes more than 24 cycles, so this many are 2,000 instructions at least.
    assert len(spent) >= 49
    assert min(spent) >= 24 * 2000


def test_all_sparks_of_heavy_stay_inside(play):
    player = play("heavy", seed=5).start()
    places = set()
    for _ in player.run(600, at_random(player.game, 1)):
        whole = player.memory[0xC300:0xC400]
        places |= set(zip(whole[1::8], whole[3::8], strict=True))
    assert max(x for x, _ in places) < 152
    assert max(y for _, y in places) < 128
    assert len(places) > 3000
