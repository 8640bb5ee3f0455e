"""The reader of word vectors: all kinds of files, any words, wrong lines, memory."""

import gzip
import zipfile

import numpy as np
import pytest

from scripts.running.program import UserError
from scripts.train.paradigms.vectors import read_vectors

pytestmark = pytest.mark.slow

LINES = [
    ", 0.5 -0.25 1",
    "the 1 2 3",
    ". . . 4 5 6",
    "at name@domain.com 7 8 9",
    "2000 -1 -2 -3e-1",
    "noon\u00a0x 0 0 1",
    "the 9 9 9",
]


def written(folder, kind, lines):
    text = "".join(f"{line}\n" for line in lines).encode()
    file = folder / f"v.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("glove.txt", text)
    else:
        file.write_bytes(gzip.compress(text) if kind == "txt.gz" else text)
    return file


@pytest.mark.parametrize("kind", ["txt", "txt.gz", "zip"])
def test_wanted_words_are_read_from_every_kind_of_file(tmp_path, kind):
    file = written(tmp_path, kind, LINES)
    words, vectors = read_vectors(file, set("the 2000 absent . at".split()))
    assert words == ["the", "2000"] and vectors.dtype == np.float32
    assert vectors.tolist() == [[1, 2, 3], [-1, -2, np.float32(-0.3)]]
    words, vectors = read_vectors(file, {". . .", "at name@domain.com", "noon\u00a0x", ","})
    assert words == [",", ". . .", "at name@domain.com", "noon\u00a0x"]
    assert vectors[1].tolist() == [4, 5, 6]
    (tmp_path / "windows").write_bytes(b"a 1 2 \r\nb 3 4")
    assert read_vectors(tmp_path / "windows", {"a", "b"})[1].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "lines, said",
    [
        (["a 1 2 3", "b 1 2"], "line 2: 2 numbers where the first line has 3"),
        (["a 1 2 3", "the 1 two 3"], "line 2: 'two' is not a number"),
        ([], "v.txt: empty"),
        (["a 1 2", "x" * (1 << 20)], "line 2: longer than 1,048,576 bytes"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, lines, said):
    with pytest.raises(UserError, match=said):
        read_vectors(written(tmp_path, "txt", lines), {"the"})


@pytest.mark.parametrize("kind", ["txt.gz", "zip"])
def test_a_file_cut_off_is_named(tmp_path, kind):
    draw = np.random.default_rng(0)
    file = written(
        tmp_path, kind, [f"w{number} {draw.random()} {draw.random()}" for number in range(5000)]
    )
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        UserError, match="cannot be unpacked .* cut off or damaged; get the file again"
    ):
        read_vectors(file, {"w1"})


def test_a_zip_of_several_texts_or_none_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(UserError, match="gone: no such file"):
        read_vectors(tmp_path / "gone", {"a"})
    for names, said in (
        (["a.txt", "b.txt"], r"holds 2 .txt files \(a.txt, b.txt\)"),
        (["a.bin"], r"holds 0 .txt files \(none\)"),
    ):
        with zipfile.ZipFile(tmp_path / "several.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "a 1 2\n")
        with pytest.raises(UserError, match=said):
            read_vectors(tmp_path / "several.zip", {"a"})
