"""Processes that a program forks end with the program, however it ends."""

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
