"""Clean the step captions of HiREST (people's captions of the steps in HowTo100M videos).

Reads  all_data_train.json, all_data_val.json ({prompt: {"<video id>.mp4": {v_duration, steps:
       [{index, heading, absolute_bounds}], …}}}) from --fetched
Writes train.parquet, val.parquet (schema captions), sorted by video and start time, and
       cleaning.csv

Two thirds of the videos have no steps; they are dropped and counted. A video may be listed under
several prompts. Its first entry with steps is used; the others are dropped and counted. A video in
both splits leaves train. Neither case occurs in the released files.

    python -m scripts.clean.hirest --source hirest --fetched results/fetch/hirest \\
        --output results/clean/hirest --provenance '{"licence": "MIT"}'
"""

import argparse
from pathlib import Path

import msgspec

from scripts.clean.captions import Captions, caption_arguments, clean_splits, read_json
from scripts.clean.corpus import Count, counted, shaped, write_corpus
from scripts.data.tables import CAPTIONS
from scripts.running.program import UserError, cut, execute, shown

FILES = {"train": "all_data_train.json", "val": "all_data_val.json"}


class Step(msgspec.Struct):
    """One step of a video: its place in the order of its annotator, its caption,
    start and end in seconds.
    """

    index: int
    heading: str
    absolute_bounds: tuple[float, float]


class Entry(msgspec.Struct):
    """The used fields of one video under one prompt."""

    v_duration: float
    steps: list[Step]


def read_split(file: Path, split: str) -> tuple[dict[str, Captions], list[Count]]:
    """The videos of one file that have steps, by id without `.mp4`,
    and the counts of the videos left out.
    """
    prompts = shaped(read_json(file), dict[str, dict[str, object]], str(file))
    videos: dict[str, Captions] = {}
    entries = without = again = renumbered = 0
    for prompt, named in prompts.items():
        for name, value in named.items():
            entry = shaped(value, Entry, f"{file}: video {cut(name)} of prompt {shown(prompt)}")
            name = name.removesuffix(".mp4")
            entries += 1
            without += not entry.steps
            again += bool(entry.steps) and name in videos
            if not entry.steps or name in videos:
                continue
            renumbered += [step.index for step in entry.steps] != list(range(len(entry.steps)))
            videos[name] = Captions(
                entry.v_duration,
                [step.absolute_bounds for step in entry.steps],
                [step.heading for step in entry.steps],
            )
    if not videos:
        raise UserError(f"{file}: no video with steps in it; fetch it again")
    return videos, counted(split, "prompts", read=len(prompts)) + counted(
        split,
        "entries",
        read=entries,
        dropped={"the video has no steps": without, "an earlier prompt has the video": again},
        kept=len(videos),
        noted={"steps are not numbered in the order of the file": renumbered},
    )


def main(given: argparse.Namespace) -> None:
    read = {split: read_split(given.fetched / name, split) for split, name in FILES.items()}
    tables, counts = {}, []
    for split, table, found in clean_splits(
        {split: videos for split, (videos, _) in read.items()}, given.source, given.cut_rolling
    ):
        tables[split] = table
        counts += read[split][1] + found
    write_corpus(given, tables, CAPTIONS, counts)


if __name__ == "__main__":
    execute(main, caption_arguments(__doc__).parse_args())
