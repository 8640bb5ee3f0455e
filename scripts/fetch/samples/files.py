"""Code of all sample programs: texts, arguments, ids as YouTube's, zips of the same bytes."""

import argparse
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import BinaryIO

from scripts.data.files import whole
from scripts.running.program import SEED, parser
from scripts.data.yaml_files import read_yaml

ROOT = Path(__file__).parents[3]
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@cache
def texts_of(kind: str) -> dict:
    return read_yaml(ROOT / f"resources/samples/{kind}.yaml")


def sample_arguments(
    doc: str, things: str, number: Callable, formats: Iterable[str] = ()
) -> argparse.ArgumentParser:
    """The arguments of every sample: how many things (a type of number), the seed, the folder; and
    the format where there are several.
    """
    options = parser(doc)
    count = f"the number of {things}"
    options.add_argument(f"--{things}", type=number, required=True, metavar="N", help=count)
    options.add_argument("--seed", type=SEED, required=True, help="the seed of all draws")
    options.add_argument("--output", type=Path, required=True, help="the folder to write to")
    if formats:
        whose = "the corpus whose format the files have"
        options.add_argument("--format", choices=formats, required=True, help=whose)
    return options


def write(place: Path, text: str) -> None:
    """Write a text, whole, with the same bytes on every system."""
    with whole(place) as beside:
        beside.write_bytes(text.encode())


def wavered(chance: Random, most: float) -> float:
    """A number between -most and most: the sum of two even draws, so mostly near 0.

    No logarithm or cosine, since their last bits vary between machines.
    """
    return most * (chance.random() + chance.random() - 1)


def identifiers(chance: Random, count: int) -> list[str]:
    """`count` different ids of eleven characters, as YouTube's."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(ALPHABET, k=11))] = None
    return list(found)


@contextmanager
def opened_zip(place: Path, member: str) -> Iterator[BinaryIO]:
    """A member of a new zip to write to.

    It is stored, not compressed: versions of zlib compress differently.
    """
    with zipfile.ZipFile(place, "w") as archive:
        entry = zipfile.ZipInfo(member, date_time=(2019, 6, 6, 0, 0, 0))
        entry.external_attr = 0o644 << 16
        entry.create_system = 3
        with archive.open(entry, "w", force_zip64=True) as opened:
            yield opened
