"""Files appear whole or not at all, the remains of killed processes are removed, and an error of
the system is one sentence.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts.data.files import whole, whole_set
from scripts.running.program import UserError, number, whole_number
from scripts.data.tables import read_table, write_table
from tests.conftest import ROOT, python_code
from tests.rows import each_row, texts_of


def killed(code: str, folder) -> None:
    """Run code that writes under `folder`, and kill it when it prints that it is in the middle."""
    running = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"from pathlib import Path\nimport time\nfrom scripts.data.files import *\n{code}\n"
            "    print('in the middle', flush=True)\n    time.sleep(60)",
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert running.stdout.readline() == "in the middle\n"
    running.kill()
    running.wait()


@pytest.mark.parametrize(
    "code",
    [
        "with whole(Path('a.txt')) as place:\n    place.write_text('half')",
        "with whole_set(Path('.')) as place:\n    (place / 'a.txt').write_text('half')",
    ],
)
def test_what_a_killed_process_left_goes_when_the_next_writes(tmp_path, code):
    (tmp_path / "a.txt").write_text("old")
    killed(code, tmp_path)
    (left,) = tmp_path.glob(".*")
    assert (tmp_path / "a.txt").read_text() == "old"
    again = (
        f"from pathlib import Path\nfrom scripts.data.files import *\n{code.replace('half', 'new')}"
    )

    def write_again() -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        python_code(again, check=True, cwd=tmp_path, env=environment)

    write_again()
    assert left.exists(), "it is not a minute old: the other host's clock may differ"
    os.utime(left, (0, time.time() - 61))
    write_again()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"


def test_what_other_hosts_and_living_processes_write_stays(tmp_path):
    with whole(tmp_path / "a.txt") as place:
        place.write_text("half")
        # the file of a living process
        ours = tmp_path / place.name.replace(f"-{os.getpid()}.", f"-{os.getppid()}.")
        others = tmp_path / ".0123abcd-1.a.txt"
        for path in (ours, others):
            path.write_text("half")
            os.utime(path, (0, time.time() - 3600))
    with whole(tmp_path / "a.txt") as place:
        place.write_text("whole")
    assert ours.exists() and others.exists()
    os.utime(others, (0, time.time() - 8 * 86400))
    with whole(tmp_path / "a.txt") as place:
        place.write_text("whole")
    assert ours.exists() and not others.exists(), "nobody writes a file for a week"


def test_a_set_of_files_appears_together_or_not_at_all(tmp_path):
    folder = tmp_path / "out"
    with pytest.raises(ZeroDivisionError), whole_set(folder) as place:
        (place / "a").write_text("half")
        raise ZeroDivisionError
    assert not folder.exists()
    with whole_set(folder) as place:
        (place / "a").write_text("one")
        (place / "shards").mkdir()
        (place / "shards/b").write_text("two")
    with whole_set(folder) as place:
        (place / "shards").mkdir()
    assert sorted(path.name for path in folder.iterdir()) == ["a", "shards"]
    assert not list((folder / "shards").iterdir())
    (folder / "c").mkdir()
    with pytest.raises(IsADirectoryError) as error, whole_set(folder) as place:
        (place / "a").write_text("new")
        (place / "c").write_text("new")
    assert error.value.filename == str(folder / "c") and (folder / "a").read_text() == "one"


ENDS = texts_of(r"""
raise OSError(errno.EIO, 'Input/output error', '/x/y') | 1 | /x/y: Input/output error; check the path and its disk
raise RuntimeError('[enforce fail at inline_container.cc:664] . unexpected pos 64 vs 0') | 1 | usually because the disk is full
with suppress(KeyError), whole(Path('/tmp/x')): raise OSError('Write failed: no space left on device') | 1 | no space left on the device (Write failed
with ExitStack() as stack: stack.callback(lambda: {}[0]); raise OSError(errno.ENOSPC, 'full', '/x/y') | 1 | no space left on the device while writing /x/y
raise RuntimeError("can't start new thread") | 1 | out of memory
raise KeyboardInterrupt | 130 | stopped by Ctrl-C
raise UserError('f.json: video \x1b[31m\n\ud800' + 'x' * 2_000_000 + '; fetch it again') | 1 | fetch it again
open('/dev/full', 'w').write('x' * 100_000) | 1 | no space left on the device
""")


@each_row("code, wanted, said", ENDS)
def test_an_error_is_one_sentence(tmp_path, code, wanted, said):
    """Standard output is a full disk."""
    program = (
        "import errno\nfrom contextlib import *\nfrom scripts.data.files import *\nfrom scripts.running.program import *\n"
        f"def main(given):\n    {code}\n"
        f"execute(main, parser('x').parse_args(['--log', {str(tmp_path / 'log')!r}]))"
    )
    with open("/dev/full", "w") as full:
        piped = {"stdout": full, "stderr": subprocess.PIPE}
        done = python_code(program, capture_output=False, **piped)
    assert done.returncode == int(wanted) and said in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 2000
    assert done.stderr.isprintable() is False
    assert "\x1b" not in done.stderr and (tmp_path / "log").read_text() == done.stderr


def test_ctrl_c_before_a_program_begins_is_one_line():
    """As in its imports, or while Snakemake plans."""
    program = (
        "import signal, scripts\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.raise_signal(signal.SIGINT)"
    )
    done = python_code(program)
    said = "error: stopped by Ctrl-C; give the same command again\n"
    assert (done.returncode, done.stderr) == (-signal.SIGINT, said)


@pytest.mark.parametrize("log_only", ["", "1"])
def test_a_log_that_cannot_be_written_hides_no_error(log_only):
    """Snakemake shows the log of a failed program, not its terminal. If the log's disk is full, the
    error is on the terminal.
    """
    program = (
        "from scripts.running.program import *\ndef main(given):\n    log.info('begins')\n"
        "    raise UserError('f.json: is broken; mend it')\n"
        "execute(main, parser('x').parse_args(['--log', '/dev/full']))"
    )
    done = python_code(program, env=os.environ | {"TIMESTRIDE_LOG_ONLY": log_only})
    assert (done.returncode, done.stderr) == (1, "begins\nerror: f.json: is broken; mend it\n")


def test_numbers_have_bounds():
    assert [whole_number(-2, 5)(text) for text in ("-2", "+5", " 0 ")] == [-2, 5, 0]
    assert number(0, 1)("0.5") == 0.5
    for read, text in [
        (whole_number(1, 5), text)
        for text in ("0", "6", "1.0", "", "1_0", "٣", "²", "9" * 99, "nan")
    ] + [(number(0, 1), text) for text in ("nan", "inf", "-0.1", "1.1", "", "x")]:
        with pytest.raises(Exception, match="is not a (whole )?number from"):
            read(text)


READS_IN_LITTLE_MEMORY = """
import resource, sys
from pathlib import Path
from scripts.data.tables import UserError, read_table
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
before = resource.getrlimit(resource.RLIMIT_AS)
for spare in (1, 4, 8, 16, 32, 64, 128):
    resource.setrlimit(resource.RLIMIT_AS, (used + spare * 2**20, before[1]))
    try:
        print(len(read_table(Path(sys.argv[1]))))
    except UserError as error:
        print(error)
"""


def test_a_good_file_is_not_blamed_for_too_little_memory(tmp_path):
    """Only a file that is proven bad is to be removed."""
    file = tmp_path / "a.parquet"
    values = np.random.default_rng(1).integers(0, 2**60, 2_000_000)
    pq.write_table(pa.table({"a": values, "b": values[::-1]}), file, write_page_checksum=True)
    said = python_code(READS_IN_LITTLE_MEMORY, file).stdout.splitlines()
    told = f"{file}: needs more memory than there is; give the job more of it (mem_mb)"
    assert len(said) == 7 and told in said[0]
    assert all(line.startswith(told) or line == "2000000" for line in said), said
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(UserError, match="not a Parquet file, .*; remove it and run again"):
        read_table(file)


def test_a_flipped_bit_in_a_table_is_told(tmp_path):
    file, refused = tmp_path / "a.parquet", 0
    table = pa.table(
        {"text": [f"caption {row}" for row in range(200)], "score": [row / 7 for row in range(200)]}
    )
    write_table(table, file, table.schema, {"licence": "none"})
    whole_file = file.read_bytes()
    for place in range(4, len(whole_file), 7):
        file.write_bytes(
            whole_file[:place] + bytes([whole_file[place] ^ 4]) + whole_file[place + 1 :]
        )
        try:
            read = read_table(file, table.column_names)
            assert read["text"] == table["text"]
            assert read["score"] == table["score"], f"byte {place} was read as data"
        except UserError as error:
            assert str(error).startswith(str(file))
            refused += 1
    assert refused > len(whole_file) / 7 / 2
