"""A commit adds at most 1 MB of scores to the record, so that a clone stays small. Metrics, tables
and figures are made from the scores, and each recording writes them anew. A commit that must add
more says why in a line `Record-size:` of its message.
"""

import pytest

from tests.conftest import ROOT, call

MOST = 1_000_000  # bytes
SCORES = "docs/record/*/scores/*"


def git(*words: str, given: str = "") -> str:
    done = call("git", *words, input=given)
    if done.returncode:
        pytest.skip(f"git {words[0]}: {done.stderr.strip() or 'failed'}")
    return done.stdout


def added(before: str, *after: str) -> int:
    """Return the bytes of the record's scores that are new or changed. after: a commit; left out:
    the working tree.
    """
    lines = git(
        *(["diff", "--raw"] if not after else ["diff-tree"]), "-r", before, *after, "--", SCORES
    )
    rows = [line.split("\t") for line in lines.splitlines()]
    blobs = [facts.split()[3] for facts, _ in rows if not facts.endswith("D")]
    if not after:
        files = [ROOT / name for facts, name in rows if not facts.endswith("D")]
        return sum(file.stat().st_size for file in files)
    sizes = git("cat-file", "--batch-check=%(objectsize)", given="\n".join(blobs))
    return sum(map(int, sizes.split()))


@pytest.mark.parametrize("between", [("HEAD~1", "HEAD"), ("HEAD",)], ids=["commit", "changes"])
def test_a_commit_adds_little_to_the_record(between):
    before, *after = between
    said = git("log", "--format=%B", f"{before}..{after[0]}") if after else ""
    size = 0 if "\nRecord-size: " in said else added(*between)
    assert size <= MOST, (
        f"the scores in docs/record grow by {size / 1e6:.1f} MB, more than 1 MB: add new files of scores rather "
        "than write old ones anew, and record only what has changed"
    )


def test_the_record_itself_is_more():
    """The measure sees files: all scores are more than a commit may add."""
    empty = git("hash-object", "-t", "tree", "--stdin")
    assert added(empty.strip(), "HEAD") > MOST
