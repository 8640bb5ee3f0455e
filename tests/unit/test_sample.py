"""The sample corpora: the same bytes each time, every quirk of the real files, every word in the vocabulary."""

import csv
import hashlib
import json
import re
import zipfile
from functools import cache

import pandas as pd
import pytest

from scripts.common.files import sha256_of
from scripts.common.yaml_files import entries_of
from scripts.fetch.samples import procedures, rides
from scripts.fetch.samples.files import ALPHABET
from scripts.train.control import classifier
from tests.conftest import ROOT

# Of `--videos 40 --seed 3`. They change with the generator's texts, and must be the same on every machine.
PINNED = {
    "activitynet": "4e466cd5b0abffe1e2e07933b7e5758c733185658f2e8d75de9ef939ac7a8832",
    "howto100m": "84db42b346d594c10476f60b9af14033ba7b1d9e9a5e378e68c76f80efc439b2",
}


def written(program, folder, form, *more, videos=40, seed=3):
    done = program(f"scripts.fetch.samples.{form}", "--videos", videos, "--seed", seed, "--output", folder, *more)
    assert done.returncode == 0, done.stderr
    return {file.name: file for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sample")


@pytest.fixture(scope="module")
def activitynet(program, folder):
    files = written(program, folder / "activitynet", "activitynet", videos=900, seed=1)
    return {name.removesuffix(".json"): json.loads(file.read_text()) for name, file in files.items()}


@pytest.fixture(scope="module")
def howto100m(program, folder):
    return written(program, folder / "howto100m", "howto100m", videos=300, seed=1)


def speech(files):
    with zipfile.ZipFile(files["raw_caption.zip"]) as archive:
        assert archive.namelist() == ["raw_caption.json"]
        return json.loads(archive.read("raw_caption.json"))


@pytest.mark.parametrize("form", PINNED)
def test_the_same_bytes_on_every_machine(program, tmp_path, form):
    files = written(program, tmp_path, form)
    digest = hashlib.sha256("".join(sha256_of(file) for file in files.values()).encode()).hexdigest()
    assert digest == PINNED[form]
    others = written(program, tmp_path / "other", form, seed=4)
    assert all(sha256_of(files[name]) != sha256_of(others[name]) for name in files)


def test_videos_of_activitynet(activitynet):
    train, val_1, val_2 = (activitynet[split] for split in ("train", "val_1", "val_2"))
    assert len(train) == 900 and len(val_1) == 180 and 160 < len(val_2) < 180
    assert set(val_2) < set(val_1) and not set(train) & set(val_1)
    assert all(val_1[name]["sentences"] != val_2[name]["sentences"] for name in val_2)
    for video in (*train.values(), *val_1.values(), *val_2.values()):
        assert list(video) == ["duration", "timestamps", "sentences"]
        assert len(video["timestamps"]) == len(video["sentences"]) > 0


@pytest.mark.parametrize("split", ["train", "val_1", "val_2"])
def test_every_quirk_of_activitynet(activitynet, split):
    videos = activitynet[split].values()
    sentences = [text for video in videos for text in video["sentences"]]
    spans = [(*span, video["duration"]) for video in videos for span in video["timestamps"]]
    starts = [[begin for begin, _ in video["timestamps"]] for video in videos]
    assert any(text.startswith(" ") for text in sentences)
    assert any("\n" in text for text in sentences) and any("  " in text.strip() for text in sentences)
    assert any(times != sorted(times) for times in starts)
    assert any(begin > end for begin, end, _ in spans) and any(begin == end for begin, end, _ in spans)
    assert 0 < max(end - duration for _, end, duration in spans) <= 1
    assert {type(begin) for begin, _, _ in spans} == {int, float}
    assert 0.1 < sum(len(video["sentences"]) < 5 for video in videos) / len(starts) < 0.5
    assert set(activitynet["train_ids" if split == "train" else "val_ids"]) > set(activitynet[split])


def test_sentences_shared_by_train_and_val(activitynet):
    known = {text.strip() for video in activitynet["train"].values() for text in video["sentences"]}
    assert any(text.strip() in known for video in activitynet["val_1"].values() for text in video["sentences"])


def test_every_quirk_of_howto100m(howto100m):
    videos = speech(howto100m)
    texts = [text for video in videos.values() for text in video["text"]]
    assert len(videos) == 300 and all(re.fullmatch(f"[{re.escape(ALPHABET)}]{{11}}", name) for name in videos)
    assert {list} == {type(value) for video in videos.values() for value in video.values()}
    assert any(text is None for text in texts) and any(text != text for text in texts)
    assert any(isinstance(text, (int, float)) and text == text for text in texts)
    strings = [text for text in texts if isinstance(text, str)]
    assert any(not text.strip() for text in strings) and any("\n" in text for text in strings)
    assert any("}" in text for text in strings) and any('"' in text for text in strings)
    assert any(len({len(value) for value in video.values()}) > 1 for video in videos.values())
    assert any(video["start"] != sorted(video["start"]) for video in videos.values())
    assert any(end > start for video in videos.values() for end, start in zip(video["end"], video["start"][1:]))
    pairs = [pair for video in videos.values() for pair in zip(video["text"], video["text"][1:])
             if isinstance(pair[0], str) and isinstance(pair[1], str) and pair[0]]
    assert any(one == other for one, other in pairs) and any(other.startswith(f"{one} ") for one, other in pairs)
    assert all(10 <= len(video["start"]) <= 40 for video in videos.values())


def test_the_listing_of_howto100m(howto100m):
    with open(howto100m["HowTo100M_v1.csv"], newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert list(rows[0]) == ["video_id", "task_id", "rank", "category_1", "category_2"]
    listed, captioned = {row["video_id"] for row in rows}, set(speech(howto100m))
    assert listed - captioned and captioned - listed and len(listed & captioned) > 280


def test_every_word_is_in_the_vocabulary(activitynet, howto100m):
    known = set(procedures.vocabulary()) | set(rides.vocabulary())
    assert all(re.fullmatch("[a-z]+", word) for word in known)
    texts = [text for split in ("train", "val_1", "val_2") for video in activitynet[split].values()
             for text in video["sentences"]]
    texts += [text for video in speech(howto100m).values() for text in video["text"] if isinstance(text, str)]
    words = set(re.findall("[a-z]+", " ".join(texts).lower()))
    assert words <= known
    assert len(words) > 0.95 * len(known), "the vocabulary holds words that never occur"
    assert all(text.isascii() for text in texts)


def test_the_kept_list_of_words_is_up_to_date(program, tmp_path):
    """The one that tiny models are made with holds every word of the samples and of the generated sets."""
    kept = ROOT / "resources/sample_vocabulary.txt"
    done = program("scripts.fetch.samples.vocabulary", "--templates", ROOT / "resources/templates.csv", "--output", tmp_path / "words")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "words").read_text() == kept.read_text(), (
        "write it anew: python -m scripts.fetch.samples.vocabulary --templates resources/templates.csv --output "
        "resources/sample_vocabulary.txt")
    assert set(procedures.vocabulary()) | set(rides.vocabulary()) <= set(kept.read_text().split())


@pytest.fixture(scope="module")
def pairs(program, tmp_path_factory):
    """(form, stride): the pairs of the default study's sample to learn from, and those to measure on."""
    @cache
    def of(form, stride):
        folder, splits = cleaned(form), {"activitynet": ("train", "val_1"), "howto100m": ("train", "val")}[form]
        options = {"stride": stride, "size_matched": None, "same_videos": None, "max_videos": None, "hard": False, "label_seed": 0}
        done = program("scripts.build.strided_sop", "--cleaned", folder / "clean", "--splits", *splits, "--options", json.dumps(options),
                       "--output", folder / f"stride-{stride}")
        assert done.returncode == 0, done.stderr
        return [pd.read_parquet(folder / f"stride-{stride}/{split}.parquet").rename(columns={"text_a": "first", "text_b": "second"})
                for split in splits]

    @cache
    def cleaned(form):
        folder = tmp_path_factory.mktemp(form)
        sample = entries_of(ROOT / "resources/sources.yaml")[f"sample_{form}"]["sample"]
        arguments = [part for name, value in sample.items() for part in (f"--{name}", value)]
        for name, *rest in (("fetch.samples", *arguments, "--output", folder / "fetch"),
                            ("clean", "--source", f"sample_{form}", "--fetched", folder / "fetch", "--output", folder / "clean",
                             "--provenance", "{}")):
            done = program(f"scripts.{name}.{form}", *rest)
            assert done.returncode == 0, done.stderr
        return folder

    return of


def accuracy(train, measured, features):
    """Of a control that sees these features of the difference of the two texts."""
    scores = classifier(features, train, 2, True)(measured)
    return (scores.argmax(1) == measured["label"]).mean()


@pytest.mark.parametrize("stride", [0, 1, 3])
@pytest.mark.parametrize("features", ["words", "first_words", "cue_words", "lengths"])
def test_words_tell_no_order_in_the_sample_of_howto100m(pairs, stride, features):
    assert abs(accuracy(*pairs("howto100m", stride), [features]) - 0.5) < 0.06


@pytest.mark.parametrize("stride, least", [(0, 0.65), (1, 0.75), (3, 0.85)])
def test_words_tell_the_order_in_the_sample_of_activitynet(pairs, stride, least):
    assert accuracy(*pairs("activitynet", stride), ["words"]) > least


@pytest.mark.parametrize("stride, least", [(0, 0.5), (1, 0.6), (3, 0.75)])
def test_way_and_floor_together_tell_the_order_in_the_sample_of_howto100m(pairs, stride, least):
    """How late a lift that goes this way is at this floor, by the training pairs alone: what a model can learn."""
    def way_and_floor(texts):
        seen = texts.str.extract(rf"({'|'.join(rides.WAYS)}) \w+ \w+ ({'|'.join(rides.FLOORS)})")
        return seen[0].str.cat(seen[1], sep=" ")

    train, measured = pairs("howto100m", stride)
    late = pd.concat([1 - train["label"], train["label"]]).groupby(way_and_floor(pd.concat([train["first"], train["second"]]))).mean()
    later = way_and_floor(measured["second"]).map(late).fillna(0.5) - way_and_floor(measured["first"]).map(late).fillna(0.5)
    assert ((later > 0) == measured["label"]).mean() > least


def test_unzipped_is_the_member_of_the_zip(program, tmp_path):
    inside = speech(written(program, tmp_path / "zip", "howto100m"))
    plain = written(program, tmp_path / "plain", "howto100m", "--unzipped")["raw_caption.json"]
    assert repr(json.loads(plain.read_text())) == repr(inside)


def test_more_videos_than_bodies(program, tmp_path):
    files = written(program, tmp_path, "howto100m", "--unzipped", "--captions-per-video", 6, videos=4500)
    videos = json.loads(files["raw_caption.json"].read_text())
    assert len(videos) == 4500
    bodies = [json.dumps(video) for video in videos.values()]
    assert bodies[:2000] != bodies[2000:4000] and sorted(bodies[:2000]) == sorted(bodies[2000:4000])


@pytest.mark.parametrize("form", PINNED)
def test_too_few_videos(program, tmp_path, form):
    done = program(f"scripts.fetch.samples.{form}", "--videos", 2, "--seed", 1, "--output", tmp_path)
    assert done.returncode == 2 and "argument --videos: '2' is not a whole number from 10 to" in done.stderr
    assert not list(tmp_path.iterdir())
