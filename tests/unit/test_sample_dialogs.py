"""The sample dialogs: the same bytes each time, quirks of the real files, answers that follow from what is talked about."""

import json
import re
import zipfile
from collections import Counter

import pandas as pd
import pytest

from scripts.common.files import sha256_of
from scripts.common.tables import read_table
from scripts.fetch.samples.dialog_texts import texts
from scripts.fetch.samples.dialogs import LONGEST, SPLITS, corpus
from scripts.fetch.samples.timedial import MASK, challenge

# Of `--dialogs 240 --seed 3`. They change with the generator's texts, and must be the same on every machine.
PINNED = {
    "train.zip": "e28ed98512102bb3405f773c9899c265bb3fcda2870fe85f89573b4add5a5a31",
    "validation.zip": "fe2776f71ff7978557b146fd8b613dae5b3b29534c8ebe241518d51e9418c782",
    "test.zip": "bee771325ea20c22eae148726b9a02932489dc5663de6c637996d1ecf9639005",
    "test.json": "0db1b7842033098af8aed2977ad1bd1ef0fb93af8697e9d816d0a13c6954d297",
}


def written(program, folder, form, dialogs=240, seed=3):
    done = program(f"scripts.fetch.samples.{form}", "--dialogs", dialogs, "--seed", seed, "--output", folder)
    assert done.returncode == 0, done.stderr
    return {file.name: file for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def files(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    return written(program, folder / "dailydialog", "dailydialog") | written(program, folder / "timedial", "timedial")


@pytest.fixture(scope="module")
def default():
    """The dialogs and instances of the default study."""
    dialogs = corpus(1200, 1)
    return dialogs, challenge(dialogs, 1200, 1)


def lines_of(files, split):
    """The dialogs of one split as they are written."""
    with zipfile.ZipFile(files[f"{split}.zip"]) as archive:
        return archive.read(f"{split}/dialogues_{split}.txt").decode().splitlines()


def plain(text):
    return re.sub(r"[\W_]", "", text).lower()


def test_same_arguments_same_bytes(files):
    assert {name: sha256_of(file) for name, file in files.items()} == PINNED


def test_another_seed_other_dialogs(program, tmp_path, files):
    assert sha256_of(written(program, tmp_path, "timedial", seed=4)["test.json"]) != PINNED["test.json"]


@pytest.mark.parametrize(("wanted", "said"), [(47, "'47' is not a whole number from 48 to 20000"), (20001, "is not a whole number")])
def test_too_few_or_too_many_are_refused(program, tmp_path, wanted, said):
    done = program("scripts.fetch.samples.timedial", "--dialogs", wanted, "--seed", 1, "--output",
                   tmp_path)
    assert done.returncode == 2 and said in done.stderr and not list(tmp_path.iterdir())


def test_quirks_of_the_real_files(files):
    train, validation, test = (lines_of(files, split) for split in SPLITS)
    assert [len(train), len(validation), len(test)] == [200, 20, 20]
    text = "\n".join(train)
    for quirk in ("t ’ s", " ' ", r"[a-z]\.[A-Z]", "。", "'"):
        assert re.search(quirk, text), quirk
    assert all(line.endswith("__eou__") for line in train)
    earlier = set(map(plain, train))
    assert len(earlier) == 200
    for lines in (validation, test):
        assert 1 <= sum(plain(line) in earlier for line in lines) <= 4
        earlier |= set(map(plain, lines))


def test_challenge_is_made_of_the_corpus(files):
    """With the right option in place each instance is a dialog of the corpus, most of them of train."""
    where = {}
    for split in reversed(SPLITS):
        for line in lines_of(files, split):
            where[plain(line.replace("__eou__", ""))] = split
    instances = json.loads(files["test.json"].read_text())
    found = Counter(where[plain("".join(turn[2:] for turn in one["conversation"]).replace(MASK, one["correct1"]))]
                    for one in instances)
    assert found["train"] > 0.6 * len(instances) and sum(found.values()) == len(instances) == 36
    assert len({tuple(one["conversation"]) for one in instances}) == 36
    assert sum(one["correct2"] == "none" for one in instances) == 6
    assert any(one["conversation"][-1] == "" for one in instances)
    assert any(one[key].endswith(" ") for one in instances for key in ("correct1", "incorrect1"))


def test_every_instance_is_sound(default):
    """One mask, four different options, a rule for each wrong one that the dialog bears out."""
    dialogs, instances = default
    assert len(instances) == 180 and sum(one["correct2"] == "none" for one in instances) == 30
    assert Counter(one["id"] for one in instances).most_common(1)[0][1] == 1
    rules = Counter()
    for one in instances:
        text = " ".join(one["conversation"])
        options = [one[key].strip() for key in ("correct1", "correct2", "incorrect1", "incorrect2")]
        assert text.count(MASK) == 1 and len(set(options)) == 4
        assert not re.search(rf"(?<!\w){re.escape(options[0])}(?!\w)", text), "the answer stands nowhere else"
        for number in (1, 2):
            option, rule = one[f"incorrect{number}"].strip(), one[f"incorrect{number}_rule"]
            rules[rule] += 1
            assert rule != "Rule 1" or option in text
            assert rule != "Rule 2" or set(re.split("[ :]", option)) & set(re.split("[ :]", f"{text} {options[0]}"))
    assert set(rules) == {"Rule 1", "Rule 2", "Rule 3"} and min(rules.values()) >= 10


def test_dialogs_fit_a_small_model(default):
    """Four turns or more, short enough, three times and more in most; no word that the vocabulary lacks."""
    dialogs, _ = default
    words = set(re.findall(r"[a-z]+|\d+", " ".join(texts()).lower()))
    assert len(words) <= 900
    train = [["".join(piece if isinstance(piece, str) else piece.text for piece in turn) for turn in one]
             for one in dialogs["train"]]
    assert all(4 <= len(one) <= 12 for one in train)
    assert max(sum(2 + len(re.findall(r"\w+|[^\w\s]", turn)) for turn in one) for one in train) <= LONGEST
    assert {word for one in train for turn in one for word in re.findall(r"[a-z]+|\d+", turn.lower())} <= words
    times = [sum(not isinstance(piece, str) for turn in one for piece in turn) for one in dialogs["train"]]
    assert sum(count >= 3 for count in times) > 0.8 * len(times)


def test_times_follow_from_what_is_talked_about(default):
    """Counts of (verb or noun before the mask, unit) in train tell right from wrong far above chance (a sixth)."""
    dialogs, instances = default
    topics = {}
    for one in dialogs["train"]:
        for before, turn in zip([[]] + one, one):
            for piece in turn:
                if not isinstance(piece, str):
                    about = plain(" ".join(part for part in [*before, *turn] if isinstance(part, str)))
                    topics.setdefault(unit(piece.text), []).append(about)
    seen = {name: Counter(word for about in counts for word in grams(about)) for name, counts in topics.items()}
    right = []
    for one in instances:
        if one["correct2"] == "none":
            continue
        place = next(number for number, turn in enumerate(one["conversation"]) if MASK in turn)
        said = "".join(turn[2:] for turn in one["conversation"][max(0, place - 1) : place + 1])
        about = grams(plain(said.replace(MASK, "")))
        score = {key: sum(seen.get(unit(one[key]), Counter())[gram] / (1 + sum(counts[gram] for counts in seen.values()))
                          for gram in about)
                 for key in ("correct1", "correct2", "incorrect1", "incorrect2")}
        right.append(min(score["correct1"], score["correct2"]) > max(score["incorrect1"], score["incorrect2"]))
    assert sum(right) / len(right) > 1 / 3


def unit(text):
    """`hours` of `two hours`, `am` of `7:30 am`, the month of a date, the decade of a year."""
    words = [word for word in re.findall(r"[A-Za-z]+|\d+", text) if word not in ("old", "next", "this", "every")]
    named = [word for word in words if not word.isdecimal()]
    return named[-1] if named else text[:3]


def grams(text):
    """Runs of eight characters."""
    return {text[place : place + 8] for place in range(len(text) - 7)}


def test_the_cleaners_read_them(program, tmp_path, files):
    for name, fetched in (("dailydialog", files["train.zip"].parent), ("timedial", files["test.json"].parent)):
        done = program(f"scripts.clean.{name}", "--source", "sample", "--fetched", fetched, "--output", tmp_path / name,
                       "--provenance", "{}")
        assert done.returncode == 0, done.stderr
    counts = pd.read_csv(tmp_path / "dailydialog/cleaning.csv", keep_default_na=False)
    changed = counts[counts["action"] == "changed"].groupby("reason")["count"].sum()
    for reason in ("spaced apostrophe in a contraction", "full stop", "full-width"):
        assert changed[changed.index.str.contains(reason)].sum() > 0, reason
    text = read_table(tmp_path / "dailydialog/train.parquet")["text"].to_pylist()
    assert not any(re.search(r"’|。| ' |[a-z]\.[A-Z]", turn) for turn in text)
    assert read_table(tmp_path / "timedial/test.parquet").num_rows == 4 * 30
    assert read_table(tmp_path / "timedial/extras.parquet").num_rows == 3 * 6
