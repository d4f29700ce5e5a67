"""A binary library that draws from the C library by itself is an exact oracle."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from twinstep import UserError
from twinstep.chance import Draws, Row, interpose
from twinstep.testing.lab import Divergence
from twinstep.tests.chance import pig
from twinstep.tests.support.toy_labs import labs

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def compiled(folder, source, *flags):
    (folder / "it.c").write_text(source)
    built = folder / "it.so"
    command = ["cc", "-O2", "-shared", "-fPIC", *flags, str(folder / "it.c"), "-o", str(built)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(built))


@pytest.fixture(scope="module")
def lab_of(tmp_path_factory):
    """A function from a candidate's name to the lab."""
    with labs(tmp_path_factory.mktemp("pig"), pig.PIG, 24) as made:
        yield made


def test_a_library_with_hidden_draws_and_its_port_are_equal(lab_of):
    lab = lab_of("right")
    lab.require_lockstep(lab.traces("random"))
    lab.require_lockstep(lab.traces("sticky"))


def test_a_die_that_the_port_rolls_otherwise_is_found_in_one_step(lab_of):
    lab = lab_of("wrong")
    with pytest.raises(Divergence) as found:
        lab.require_lockstep(lab.traces("random"))
    assert found.value.record["one_step"]


#: Numbers of its own, beside a seed of the C library.
OWN = """
#include <stdlib.h>
static int x = 1;
void seed(int value) { srand(value); }
int draw(void) { return x = x * 5 + 3; }
"""
ALL = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/random.h>
static unsigned short x[3];
double draw(int which) {
    unsigned state = 7, filled;
    srand(5); srandom(5); srand48(5);
    switch (which) {
        case 0: return rand();
        case 1: return random();
        case 2: return lrand48();
        case 3: return nrand48(x);
        case 4: return mrand48();
        case 5: return drand48();
        case 6: return erand48(x);
        case 7: return rand_r(&state);
        case 8: return getentropy(&filled, 4) ? -1 : filled;
        case 9: return getrandom(&filled, 4, 0) == 4 ? filled : -1;
    }
    return -1;
}
"""


@pytest.mark.parametrize("flags", [(), ("-Wl,-z,now,-z,relro",), ("-fno-plt",)])
def test_every_random_function_is_answered_however_the_library_was_linked(tmp_path, flags):
    library = compiled(tmp_path, ALL, *flags)
    library.draw.restype = ctypes.c_double
    names = interpose(library)
    assert {"rand", "random", "drand48", "getrandom", "srand"} <= set(names)
    draws = Draws(Row(10))
    words = np.array([(n + 1) << 27 for n in range(10)], np.uint32)
    draws.put(words)
    with draws:
        got = [library.draw(which) for which in range(10)]
    half, unit = (words >> 1).tolist(), (words / 2**32 + 2**-17).tolist()
    signed = int(words[4]) - 2**31
    assert got == [*half[:4], signed, *unit[5:7], half[7], int(words[8]), int(words[9])]
    assert draws.state()["drawn"] == 10


def test_a_library_that_computes_its_own_numbers_is_one_line(tmp_path):
    library = compiled(tmp_path, OWN)
    with pytest.raises(UserError, match="calls no random function of the C library"):
        interpose(library)
    library.seed(1)  # nothing of it was pointed elsewhere
    assert library.draw() == 8


def test_a_row_that_runs_dry_in_c_is_one_line(tmp_path):
    library = compiled(tmp_path, "#include <stdlib.h>\nint draw(void) { return rand() + rand(); }")
    interpose(library)
    draws = Draws(Row(1))
    with (
        pytest.raises(UserError, match="the row has 1 words, and rand in .*asks for number 2"),
        draws,
    ):
        library.draw()


def test_functions_of_c_are_places_of_a_row_with_names(tmp_path):
    library = compiled(
        tmp_path, "#include <stdlib.h>\nint draw(void) { srand(1); return rand() - random(); }"
    )
    interpose(library)
    draws = Draws(Row({"second": 1, "first": 1}), {"rand": "first", "random": "second"})
    draws.put(np.array([2, 1 << 31], np.uint32))
    with draws:
        assert library.draw() == (1 << 30) - 1
