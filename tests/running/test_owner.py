"""Programs end with the Snakemake that started them, and forks with their program, however it
ends.
"""

import os
import subprocess
import sys
import time

from tests.conftest import ROOT

PROGRAM = """
import multiprocessing, time
from scripts.running.owner import end_forks_with_this
end_forks_with_this()
forks = [
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,), daemon=True)
    for _ in range(2)
]
for fork in forks:
    fork.start()
print(*[fork.pid for fork in forks], flush=True)
time.sleep(600)
"""


def test_forks_of_a_killed_program_end():
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    forks = [int(process) for process in program.stdout.readline().split()]
    assert len(forks) == 2
    program.kill()
    program.communicate()
    until = time.monotonic() + 30
    while alive := [process for process in forks if os.path.exists(f"/proc/{process}")]:
        assert time.monotonic() < until, alive
        time.sleep(0.1)


SLOW = """
import argparse, time
time.sleep(2)  # as long imports do
from scripts.running.program import execute
execute(lambda given: time.sleep(600), argparse.Namespace(log=None))
"""
OWNER = f"""
import subprocess, sys, time
from scripts.running.owner import name_owner
name_owner()
print(subprocess.Popen([sys.executable, "-c", {SLOW!r}]).pid, flush=True)
time.sleep(600)
"""


def test_a_program_ends_whose_owner_was_killed_while_it_imported_its_modules():
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    program = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    assert os.path.exists(f"/proc/{program}")
    until = time.monotonic() + 30
    while os.path.exists(f"/proc/{program}"):
        if time.monotonic() > until:
            os.kill(program, 9)
            raise AssertionError("it lived on")
        time.sleep(0.1)
