"""The reset: NumPy's draws for an integer seed, bit for bit.

Gymnasium seeds PCG64 through NumPy's SeedSequence, draws qpos uniformly within 0.1 of zero and
then qvel as 0.1 times normal numbers. All of it is integer arithmetic except a few products and
sums of doubles, each rounded on its own. XLA may turn a product and a sum in one computation
into a fused multiply-add, which rounds once. So every product that is added to something is
computed in one iteration of a loop, which ends there, and added in the next or after the
loop. No compiler carries a product over that border.

The draws are made in 64 bits whatever precision JAX runs under.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from twinstep.generated.halfcheetah import ziggurat

Array = Any  # jax.Array
Wide = tuple[Array, Array]  # 128 bits: u64[] high, low

JOINTS = 9
LOW, HIGH = -0.1, 0.1
NOISE = 0.1

_PCG_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645
_WORD = 2**64 - 1
_WIDTHS = np.array(ziggurat.WIDTHS, np.float64)
_INSIDE = np.array(ziggurat.INSIDE, np.uint64)
_HEIGHTS = np.array(ziggurat.HEIGHTS, np.float64)
_LOG_FACTORS = np.array([(n >> 64, n & _WORD) for n in ziggurat.LOG_FACTORS], np.uint64)
_POOL = 4


class _Draws(NamedTuple):
    """State between two words of the generator; f64[18] drawn, u64[] held, f64[] x, i32[] the rest.

    drawn: the values that the numbers so far are made of. place: index of the number being drawn.
    stage: purpose of the next word, see `_next`. held: the word that a normal number began with.
    x: its value, or its distance into the tail.
    """

    state: Wide
    drawn: Array
    place: Array
    stage: Array
    held: Array
    x: Array


_FRESH, _WEDGE, _TAIL, _TAIL_HEIGHT = range(4)


def reset(seed: Array, dtype: Any = np.float64) -> tuple[Array, Array]:
    """Return qpos[9] and qvel[9] in this dtype for the seed u32[2], the low word first."""
    with jax.enable_x64(True):
        drawn = _drawn(seed)
        qpos = np.float64(LOW) + drawn[:JOINTS]
        qvel = np.float64(NOISE) * drawn[JOINTS:]
        return qpos.astype(dtype), qvel.astype(dtype)


def _drawn(seed: Array) -> Array:
    """Return f64[18]: (HIGH - LOW) * uniform number, nine times, then nine normal numbers."""
    increment, state = _seeded(seed)
    begin = _Draws(
        state=state,
        drawn=jnp.zeros(2 * JOINTS, np.float64),
        place=jnp.int32(0),
        stage=jnp.int32(_FRESH),
        held=jnp.uint64(0),
        x=jnp.float64(0),
    )
    end = lax.while_loop(
        lambda draws: draws.place < 2 * JOINTS, lambda draws: _next(draws, increment), begin
    )
    return end.drawn


def _next(draws: _Draws, increment: Wide) -> _Draws:
    """Take one word of the generator and advance by one stage."""
    state = _stepped(draws.state, increment)
    word = _word(state)
    bits = word >> 11
    uniform = bits.astype(np.float64) * np.float64(2.0**-53)
    stage, held = draws.stage, draws.held
    fresh = stage == _FRESH
    from_uniform = fresh & (draws.place < JOINTS)

    # A fresh word is a layer, a sign and a place in the layer. Most end here, inside.
    layer, across = (word & 0xFF).astype(np.int32), _across(word)
    x = across.astype(np.float64) * jnp.asarray(_WIDTHS)[layer]
    x = jnp.where((word >> 8) & 1 == 1, -x, x)
    inside = across < jnp.asarray(_INSIDE)[layer]

    # The wedge: the word is a height, and the point counts if it lies under the density. The
    # rounding here decides only whether it counts, which is almost never.
    kept = (held & 0xFF).astype(np.int32)
    low, high = jnp.asarray(_HEIGHTS)[kept], jnp.asarray(_HEIGHTS)[jnp.maximum(kept - 1, 0)]
    under = (high - low) * uniform + low < jnp.exp(np.float64(-0.5) * draws.x * draws.x)

    # The tail: one word for the distance, one for the height.
    logarithm = _minus_log(jnp.uint64(1 << 53) - bits, stage >= _TAIL)
    beyond = draws.x
    far = np.float64(ziggurat.RIGHT) + beyond
    far = jnp.where((_across(held) >> 8) & 1 == 1, -far, far)
    high_enough = logarithm + logarithm > beyond * beyond

    is_wedge, is_tail = stage == _WEDGE, stage == _TAIL
    in_tail = ~is_tail & high_enough
    done = from_uniform | jnp.where(fresh, inside, jnp.where(is_wedge, under, in_tail))
    value = jnp.where(from_uniform, np.float64(HIGH - LOW) * uniform, x)
    value = jnp.where(fresh, value, jnp.where(is_wedge, draws.x, far))
    begun = jnp.where(layer > 0, jnp.int32(_WEDGE), jnp.int32(_TAIL))
    more = jnp.where(is_tail, jnp.int32(_TAIL_HEIGHT), jnp.int32(_TAIL))
    after = jnp.where(fresh, begun, more)
    after = jnp.where(done | is_wedge, jnp.int32(_FRESH), after)
    places = jnp.arange(2 * JOINTS, dtype=np.int32)
    return _Draws(
        state=state,
        drawn=jnp.where(done & (places == draws.place), value, draws.drawn),
        place=draws.place + done.astype(np.int32),
        stage=after,
        held=jnp.where(fresh, word, held),
        x=jnp.where(fresh, x, jnp.where(is_tail, ziggurat.PER_RIGHT * logarithm, draws.x)),
    )


def _across(word: Array) -> Array:
    """Return the 52 bits of a word that place a point across its layer."""
    return (word >> 9) & np.uint64(2**52 - 1)


# ---- the generator ----------------------------------------------------------------------


def _seeded(seed: Array) -> tuple[Wide, Wide]:
    """Return PCG64's increment and its state for a SeedSequence of this integer."""
    words = _seed_words(seed)
    begin, sequence = (words[0], words[1]), (words[2], words[3])
    increment = ((sequence[0] << 1) | (sequence[1] >> 63), (sequence[1] << 1) | 1)
    return increment, _stepped(_plus(begin, increment), increment)


def _seed_words(seed: Array) -> list[Array]:
    """Return SeedSequence's first four words u64[] for u32[2]."""
    constant = 0x43B0D7E5

    def hashed(value: Array, factor: int) -> Array:
        nonlocal constant
        value = value ^ np.uint32(constant)
        constant = constant * factor & 0xFFFFFFFF
        value = value * np.uint32(constant)
        return value ^ (value >> 16)

    # An integer below 2^32 has one word only, but missing words count as 0.
    zero = jnp.uint32(0)
    pool = [hashed(word, 0x931E8875) for word in (seed[0], seed[1], zero, zero)]
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                other = hashed(pool[source], 0x931E8875)
                mixed = pool[target] * np.uint32(0xCA01F9DD) - other * np.uint32(0x4973F715)
                pool[target] = mixed ^ (mixed >> 16)
    constant = 0x8B51F9DD
    halves = [hashed(pool[n % _POOL], 0x58F38DED).astype(np.uint64) for n in range(8)]
    return [halves[n] | (halves[n + 1] << 32) for n in range(0, 8, 2)]


def _stepped(state: Wide, increment: Wide) -> Wide:
    factor = (np.uint64(_PCG_FACTOR >> 64), np.uint64(_PCG_FACTOR & _WORD))
    return _plus(_times(state, factor), increment)


def _word(state: Wide) -> Array:
    """Return the word u64[] that this state gives: its halves xored and rotated."""
    high, low = state
    both, turn = high ^ low, high >> 58
    return (both >> turn) | (both << ((np.uint64(64) - turn) & np.uint64(63)))


def _plus(a: Wide, b: Wide) -> Wide:
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]).astype(np.uint64), low


def _times(a: Wide, b: Wide) -> Wide:
    """Return the low 128 bits of a product."""
    half = np.uint64(2**32 - 1)
    x, y = a[1], b[1]
    x0, x1, y0, y1 = x & half, x >> 32, y & half, y >> 32
    middle = x1 * y0 + ((x0 * y0) >> 32)
    other = x0 * y1 + (middle & half)
    high = x1 * y1 + (middle >> 32) + (other >> 32)
    return high + a[0] * y + x * b[0], x * y


# ---- the logarithm ----------------------------------------------------------------------


def _minus_log(part: Array, wanted: Array) -> Array:
    """Return -ln(part / 2^53), rounded once, for u64[] 1 .. 2^53; any number where not wanted.

    NumPy takes log1p(-u), and 1 - u is `part` exactly. A compiler's own logarithm may be off
    in the last place, and the drawn number shows it. Here it is found digit by digit: factors
    1 + 2^-k that lift the number to 1 without passing it, in 120 fraction bits. (Where u is below
    2^-36 that can be too few to round right, but no sum with RIGHT shows so small a number.)
    """
    one = np.uint64(1 << (ziggurat.FRACTION - 64))
    up = jnp.maximum(lax.clz(part).astype(np.int64) - 11, 0).astype(np.uint64)
    number = ((part << up) << (ziggurat.FRACTION - 64 - 53), jnp.uint64(0))
    two = (np.uint64(ziggurat.LOG_TWO >> 64), np.uint64(ziggurat.LOG_TWO & _WORD))
    total = _times(two, (jnp.uint64(0), up))
    last = jnp.where(wanted, len(ziggurat.LOG_FACTORS), 0)

    def lift(carry: tuple[Array, Wide, Wide]) -> tuple[Array, Wide, Wide]:
        k, (high, low), total = carry
        by = (k + 1).astype(np.uint64)
        shifted = (high >> by, (low >> by) | (high << (np.uint64(64) - by)))
        lifted = _plus((high, low), shifted)
        fits = (lifted[0] < one) | ((lifted[0] == one) & (lifted[1] == 0))
        entry = jnp.asarray(_LOG_FACTORS)[k]
        more = _plus(total, (entry[0], entry[1]))
        number = tuple(jnp.where(fits, a, b) for a, b in zip(lifted, (high, low), strict=True))
        total = tuple(jnp.where(fits, a, b) for a, b in zip(more, total, strict=True))
        return k + 1, number, total  # type: ignore[return-value]

    _, number, total = lax.while_loop(
        lambda carry: carry[0] < last, lift, (jnp.zeros_like(last), number, total)
    )
    # The remainder to 1 is below 2^-60, so it is its own logarithm.
    left_low = np.uint64(0) - number[1]
    left_high = one - number[0] - (number[1] != 0).astype(np.uint64)
    return _rounded(_plus(total, (left_high, left_low)))


def _rounded(number: Wide) -> Array:
    """Return f64[] number / 2^FRACTION, rounded once; the number is below 2^127."""
    high, low = number
    small = high == 0
    top, rest = jnp.where(small, low, high), jnp.where(small, jnp.uint64(0), low)
    # The leading bit goes to bit 62, because the conversion takes signed numbers.
    up = lax.clz(top) - 1
    down = (np.uint64(64) - up) & np.uint64(63)
    moved = jnp.where(up == 0, top, (top << up) | (rest >> down))
    lost = jnp.where(up == 0, rest, rest << up) != 0
    whole = (moved | lost.astype(np.uint64)).astype(np.int64).astype(np.float64)
    exponent = jnp.where(small, 0, 64) - ziggurat.FRACTION - up.astype(np.int64)
    power = lax.bitcast_convert_type((exponent + 1023) << 52, np.float64)
    return whole * power
