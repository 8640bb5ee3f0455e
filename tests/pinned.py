"""The pinned study of `make lock`, in a temporary folder: what each program makes of small corpora,
as one line a program (tests/lock.py).

A table counts by its content. Scores of a run that fits or trains count as a sum with weights,
since processors differ. Evaluation reads scores that a hash draws, so it does not depend on what was
trained.
"""

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scripts.data.files import sha256_of
from scripts.data.manifest import files_in, write_manifest
from scripts.data.tables import PREDICTIONS, write_table
from scripts.data.yaml_files import read_yaml
from tests.conftest import ROOT
from tests.content_digests import digest_of
from tests.files import read_json, write_json, write_yaml
from tests.samples import downloads, members
from tests.train.api_server import as_vllm, serving, written_of

Pinned = dict[str, str | list[float]]
DIMENSION = 6  # of the word vectors
MOST = 40  # numbers of a program
# The others are built, trained or asked like these.
EVALUATED = {
    "strided_sop": "order order_of_controls orders spans strides",
    "temporal_nli": "nli sets",
    "mctaco": "questions questions_asked units",
    "timedial": "dialogs filled candidates",
    "choices": "endings endings_read trips",
}


# ---- the corpora


def as_csv(rows: list[dict]) -> bytes:
    found = io.StringIO()
    writer = csv.DictWriter(found, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return found.getvalue().encode()


def hirest() -> dict[str, bytes]:
    """Steps in another order, one that repeats, one without text, and one past the video's end."""

    def steps(*rows: tuple[str, int, int]) -> dict:
        listed = [
            {"index": number, "heading": text, "absolute_bounds": list(span)}
            for number, (text, *span) in enumerate(rows)
        ]
        return {
            "relevant": True,
            "clip": True,
            "v_duration": 60.0,
            "bounds": [0, 0],
            "steps": listed,
        }

    train = {
        f"Boil {number} eggs": {
            f"v{number}.mp4": steps(("boil  water ", 5, 9), ("add the egg", 2, 5), ("eat", 7, 70)),
            "again.mp4": steps(("peel", 1, 1), (" ", 3, 4)),
        }
        for number in range(4)
    }
    val = {"Fry an egg": {"v9.mp4": steps(("fry", 1, 2), ("turn", 3, 4))}}
    return {
        f"all_data_{name}.json": json.dumps(one).encode()
        for name, one in (("train", train), ("val", val))
    }


def captions() -> dict[str, bytes]:
    rows = [
        {
            "video_id": f"v{video}",
            "start": start,
            "end": start + 1.5,
            "text": f"Step  {start}, {video}",
        }
        for video in range(20)
        for start in (4.0, 0.25, 62.5)
    ]
    return {"captions.csv": as_csv(rows)}


def schema_guided() -> dict[str, bytes]:
    def talk(number: int) -> dict:
        said = [
            ("USER", f" A table for\n{number} pm. "),
            ("SYSTEM", ""),
            ("SYSTEM", "Today?"),
            ("USER", "Yes."),
        ]
        turns = [{"speaker": who, "utterance": text, "frames": []} for who, text in said]
        return {"dialogue_id": f"1_{number:05}", "services": ["Restaurants_1"], "turns": turns}

    parts = {"train_001": map(talk, range(8)), "dev_001": map(talk, range(6, 10))}
    return {f"{name}.json": json.dumps([*dialogs]).encode() for name, dialogs in parts.items()}


def dialogs() -> dict[str, bytes]:
    lines = [
        {
            "dialog_id": f"d{number}",
            "dialog": [f"Is it {number % 50} o'clock ?", " No ,  later .", ""],
        }
        for number in range(60)
    ]
    return {"own.jsonl": "".join(json.dumps(one) + "\n" for one in lines).encode()}


def nli() -> dict[str, bytes]:
    """Rows in the columns of the release: each challenge set, type and label."""
    event = "She will visit Rome"
    templates = {
        "Forward Past Template": "She visited Rome",
        "Backward Past Template": "she visited Rome",
        "Forward Future Template": event,
        "Backward Future Template": "she will visit Rome",
        "Duration Template": "She stayed in Rome",
    }
    order = [
        {
            "Premise": f"{event} at 5 pm.",
            "Hypothesis": f"{event} {preposition} 7 pm.",
            "Label": label,
            "Time Diff": difference,
            "Type": kind,
            "Prem Fixed": "True",
            "Temp Type": "Forward Future",
        }
        for preposition, label, difference in (
            ("before", "Entailment", 2),
            ("after", "Contradiction", -2),
        )
        for kind in ("SINGLE_day_time_12", "SINGLE_day")
    ]
    lasting = [
        {
            "Premise": "She stayed in Rome from May to June.",
            "Hypothesis": "She stayed in Rome for less than 2 months.",
            "Label": "Neutral",
            "Time Diff": difference,
            "Type": "DATE_M_full",
            "Dur Type": "LESS_GOLD+1",
            "Next Cycle": "False",
            "Temp Type": "Near",
        }
        for difference in (1, 2)
    ]
    units = [
        {
            "Premise": f"{event} in 90 minutes.",
            "Hypothesis": f"Before 2 hours, {event.lower()}.",
            "Label": "E",
            "Premise Preposition": "in",
            "Higher Duration Unit": "day_time",
            "Premise Direction": "forward",
            "Hypothesis Direction": "backward",
            "Lower/Higher Diff": difference,
        }
        for difference in (30, -30)
    ]
    files = {"cs1": order, "cs2": lasting}
    found = {
        f"{name}_{part}.csv": as_csv(rows)
        for name, rows in files.items()
        for part in ("train", "test")
    }
    return found | {"cs3_test.csv": as_csv(units), "templates.csv": as_csv([templates])}


def endings() -> dict[str, bytes]:
    """Items that end as a caption of the sample goes on, and articles."""
    videos = {
        name: json.loads(members("activitynet")[f"{name}.json"]) for name in ("train", "val_1")
    }
    chosen = [pair for part in videos.values() for pair in [*part.items()][:24]]
    items = []
    for number, (video, entry) in enumerate(chosen):
        first, second, *_ = (sentence.strip() for sentence in entry["sentences"])
        begin, _, rest = second.partition(" ")
        ends = ["flies away.", "sings a song.", "is a cube."]
        ends.insert(number % 4, rest)
        items.append((f"{first} {begin.lower()}", ends, number % 4, f"activitynet~{video}"))
    items += [
        (f"Rest {number} hours.", [f"End {place}." for place in range(4)], number % 4, "wikihow~1")
        for number in range(12)
    ]
    lines = [
        {"ind": number, "activity_label": "Doing", "ctx": context, "split": "val", "split_type": "indomain",
         "label": label, "endings": ends, "source_id": source}
        for number, (context, ends, label, source) in enumerate(items)
    ]  # fmt: skip
    return {"hellaswag_val.jsonl": "".join(json.dumps(one) + "\n" for one in lines).encode()}


def trips() -> dict[str, bytes]:
    """Questions with options of one's own, some of which repeat between the splits."""
    rows = [
        {"context": f"Trip {number % 20}.", "question": f"How long is leg {number % 25}?"}
        | {f"Option {name}": f"{number * place % 7} hours" for place, name in enumerate("ABC", 1)}
        | {"answer": "ABC"[number % 3], "category": "a long one" if number % 2 else "b"}
        for number in range(60)
    ]
    return {"train.csv": as_csv(rows[:40]), "test.csv": as_csv(rows[30:])}


def vectors() -> bytes:
    words = (ROOT / "resources/sample_vocabulary.txt").read_text(encoding="utf-8").split()
    drawn = np.random.default_rng(1).normal(size=(len(words), DIMENSION)).round(3)
    return "".join(
        f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, drawn)
    ).encode()


FILES = {
    "hirest_rows": hirest,
    "captions_rows": captions,
    "schema_guided_rows": schema_guided,
    "dialogs_rows": dialogs,
    "nli_rows": nli,
    "endings": endings,
    "trips": trips,
}


def configure(folder: Path, address: str) -> dict:
    """Write the corpora and return the configuration. address: of a model behind an API."""
    config = read_yaml(ROOT / "tests/pinned.yaml")
    for name, write in FILES.items():
        config["sources"][name]["downloads"] = downloads(folder / f"corpora/{name}.zip", write())
    file = folder / "corpora/vectors.txt"
    file.write_bytes(vectors())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    config["models"]["esim"]["vectors"] = {
        "urls": [file.as_uri()],
        "file": file.name,
        "sha256": digest,
    }
    config["models"]["teacher"]["api"] = address
    stages = ("sample_dialogs_mlm", "sample_dialogs_clm")
    config["run"] = [name for name in config["experiments"] if name not in stages]
    return config


# ---- the study


def answer(body: dict) -> dict:
    """Answer a question by a hash, and a text by the values of its words."""
    if "prompt" in body:
        choice = as_vllm(body["prompt"])
        return choice if body["echo"] else written_of(choice)
    text = json.dumps(body["messages"])
    return {
        "message": {
            "role": "assistant",
            "content": "ABC"[hashlib.sha256(text.encode()).digest()[0] % 3],
        }
    }


def snakemake(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", folder]
    command += ["--configfile", folder / "pinned.yaml", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "TIMESTRIDE_MIRROR"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}\nerror: the pinned study failed, see above")


@contextmanager
def finished(folder: Path) -> Iterator[list[dict]]:
    """Run the study in a folder, to its trained runs; yield what the model behind an API was
    asked.
    """
    with serving(answer) as server:
        write_yaml(folder / "pinned.yaml", configure(folder, server.address))
        cleaned = [f"results/clean/{name}/manifest.json" for name in FILES]
        snakemake(folder, "--", *cleaned, "train")
        yield server.bodies


def draw_scores(folder: Path) -> None:
    """Replace the scores of all runs by numbers that a hash of run, example and label draws, and
    the training values of controls by numbers that a hash of the run draws.
    """
    for file in sorted(folder.glob("results/train/*/*/predictions.parquet")):
        name, table = file.parent.name.rpartition("-")[0], pq.read_table(file)
        drawn = [
            [
                hashlib.sha256(f"{name} {example} {label}".encode()).digest()[0] / 256
                for label in range(len(scores))
            ]
            for example, scores in zip(table["example_id"].to_pylist(), table["score"].to_pylist())
        ]
        place = table.schema.get_field_index("score")
        scores = pa.array(drawn, table.schema.field("score").type)
        write_table(table.set_column(place, "score", scores), file, PREDICTIONS, {})
        facts = read_json(file.parent / "run.json")
        if facts.get("training_value") is not None:  # it decides which control is chosen
            facts["training_value"] = hashlib.sha256(name.encode()).digest()[0] / 256
            write_json(file.parent / "run.json", facts)
        mark = file.parent / "work/finished.json"  # readers compare the hashes in it
        finished_facts = read_json(mark)
        for of_run in (file, file.parent / "run.json"):
            finished_facts["sha256"][of_run.name] = sha256_of(of_run)
        write_json(mark, finished_facts)
    for manifest in folder.glob("results/train/*/*.manifest.json"):
        write_manifest(manifest.parent, list(files_in(manifest)), manifest)


# ---- what it made


def together(digests: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:12]


def of_files(folder: Path, *patterns: str) -> str:
    """Return a digest of the content of files, by their places."""
    files = sorted(
        {file for pattern in patterns for file in folder.glob(pattern) if file.is_file()}
    )
    assert files, (folder, patterns)
    return together(f"{file.relative_to(folder)} {digest_of(file)}" for file in files)


def sum_of(run: Path) -> float:
    """Return a sum of the scores of a run with weights; of its losses, if it makes a model."""
    made = run / "predictions.parquet"
    if made.exists():
        scores = np.array(pq.read_table(made)["score"].to_pylist(), float).ravel()
    else:
        scores = np.array(pq.read_table(run / "history.parquet")["loss"].to_pylist(), float)
    scores = np.nan_to_num(scores, nan=-9, neginf=-99, posinf=99)
    return round(float((scores * np.cos(np.arange(len(scores)))).sum() / len(scores) ** 0.5), 5)


def of_runs(folder: Path) -> Pinned:
    """Return the sums of the runs of each program of training."""
    found: dict[str, list[float]] = {}
    for file in sorted(folder.glob("results/train/*/*/run.json")):
        program = read_json(file)["code"].partition("@")[0]
        found.setdefault(program, []).append(sum_of(file.parent))
    return {program: sums[:MOST] for program, sums in found.items()}


def of_metrics(file: Path) -> str:
    """Return a digest of metrics, their numbers to six digits."""
    table = (
        pq.read_table(file)
        .to_pandas()
        .drop(columns="draws")
        .map(lambda value: f"{value:.6g}" if isinstance(value, float) else str(value))
    )
    return together(sorted(table.to_csv(index=False).splitlines()))


def of_tables(folder: Path) -> Pinned:
    """Return a digest of the tables of each cleaner and builder, and of the files of models."""
    sources = read_yaml(ROOT / "tests/pinned.yaml")["sources"]
    sources |= read_yaml(ROOT / "resources/sources.yaml")
    places: dict[str, list[str]] = {}
    for place in sorted((folder / "results/clean").iterdir()):
        cleaner = sources[place.name].get("cleaner", place.name)
        ends = (f"results/clean/{place.name}/**/*.{suffix}" for suffix in ("parquet", "csv"))
        places.setdefault(f"clean/{cleaner}", []).extend(ends)
    for study in EVALUATED:
        places[f"build/{study}"] = [
            f"results/build/{study}/*/*/*.{end}" for end in ("parquet", "csv")
        ]
    places["text/temporal_spans"] = ["results/build/temporal_spans/*/*.parquet"]
    places["fetch/model"] = [
        f"results/fetch/models/*/{file}.json" for file in ("*config", "tokenizer")
    ]
    places["train/asking/local_model"] = ["results/train/*/*tiny_gpt*answer*/answers.parquet"]
    return {program: of_files(folder, *patterns) for program, patterns in places.items()}


def of_requests(bodies: list[dict]) -> Pinned:
    """Return a digest of what a model behind an API was asked, in words and for likelihoods."""
    asked = sorted(json.dumps(body, sort_keys=True) for body in bodies)
    return {
        f"train/asking/{name}": together(one for one in asked if key in one)
        for name, key in (("server", '"messages"'), ("echo", '"prompt"'))
    }


def of_evaluations(folder: Path) -> Pinned:
    """Evaluate experiments; return a digest of the numbers of each study."""
    place = folder / "results/evaluate/pinned"
    files = {
        f"evaluate/{study}": [place / study / f"{name}.parquet" for name in names.split()]
        for study, names in EVALUATED.items()
    }
    files["measure/collect"] = [place / "choices.parquet"]
    wanted = [file for of_program in files.values() for file in of_program]
    snakemake(folder, "--", *(str(file.relative_to(folder)) for file in wanted))
    return {program: together(map(of_metrics, tables)) for program, tables in files.items()}


def results(folder: Path) -> Pinned:
    """Run the study in an empty folder; return what each program made."""
    with finished(folder) as bodies:
        found = of_tables(folder) | of_requests(bodies) | of_runs(folder)
        draw_scores(folder)
        return found | of_evaluations(folder)
