"""This repository's own tests on two workers."""

import re
import subprocess
import sys

FILES = ["tests/lib/test_interrupts.py", "tests/lib/test_stats.py"]


def test_tests_of_one_file_run_in_one_process_and_two_files_in_two():
    command = [sys.executable, "-m", "pytest", "-v", "-n", "2", "--dist", "loadgroup", *FILES]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    ran = re.findall(r"^\[gw(\d)\].* PASSED (.+?)::", run.stdout, re.MULTILINE)
    assert len(ran) > 2
    assert sorted({name for _, name in ran}) == FILES
    assert len(set(ran)) == 2
    assert {worker for worker, _ in ran} == {"0", "1"}
