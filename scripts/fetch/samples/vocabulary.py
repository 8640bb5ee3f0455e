"""Write the words of the tiny models: those of the sample texts and of the generated sets.

The list is in the repository (resources/sample_vocabulary.txt), so a model changes only when the
list does. Run this after a change of texts, event templates or lists of times; a test says when.

    python -m scripts.fetch.samples.vocabulary --templates resources/templates.csv \\
        --output resources/sample_vocabulary.txt
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from scripts.studies.temporal_nli.times import DAYS, LISTS, NAMES
from scripts.clean.event_templates import SIDES
from scripts.running.program import execute, log, parser
from scripts.fetch.samples.dialog_times import MINUTES
from scripts.fetch.samples.files import texts_of, write

# Words that programs write beside the texts of resources/.
WRITTEN = (
    "at on in before after from to for less than am pm o'clock old once twice three four"
    " times every next this decade a yes it is no only for not that they"
)


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


def vocabulary(templates: Path) -> list[str]:
    """Every word that a tiny model should know as one piece, sorted."""
    table = pd.read_csv(templates, dtype=str, keep_default_na=False)
    forms = [form for columns in SIDES.values() for column in columns for form in table[column]]
    times = [time for _, _, lists, _ in LISTS.values() for spellings in lists for time in spellings]
    units = [word for name in [*NAMES.values(), *MINUTES] for word in (name, f"{name}s")]
    samples = [texts_of(kind) for kind in ("captions", "dialogs", "questions")]
    # Categories stand in a listing, not in a caption.
    texts = [
        text
        for sample in samples
        for key, value in sample.items()
        if key != "categories"
        for text in texts_in(value)
    ]
    years = [
        str(year)
        for subject in texts_of("dialogs")["scenes"]["born"]["subjects"]
        for year in subject["usual"]
    ]
    texts = [re.sub(r"\{\w+\}", " ", text) for text in texts]
    numbers = [str(number) for number in range(101)]
    words = " ".join([*forms, *times, *DAYS, *units, *texts, *years, *numbers, WRITTEN]).lower()
    return sorted(set(re.findall(r"[a-z]+|\d+(?:st|nd|rd|th)?", words)))


def main(given: argparse.Namespace) -> None:
    words = vocabulary(given.templates)
    write(given.output, "\n".join(words) + "\n")
    log.info("%s: %d words", given.output, len(words))


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--templates", type=Path, required=True, help="the file of event templates"
    )
    options.add_argument("--output", type=Path, required=True, help="the file of words to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
