"""Write the words of the tiny models that are trained from scratch: those of the sample corpora and of the generated sets.

The list is kept in the repository (resources/sample_vocabulary.txt), so that a model changes only when it does. Run this
after sample sentences, event templates or lists of times were changed; a test says when it is due.

    python -m scripts.fetch.samples.vocabulary --templates resources/templates.csv --output resources/sample_vocabulary.txt
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from scripts.build.temporal_nli_times import DAYS, LISTS, NAMES
from scripts.clean.event_templates import SIDES
from scripts.common.files import whole
from scripts.common.program import execute, log, parser
from scripts.fetch.samples import dialog_texts, mctaco, procedures, rides


def words_of(texts: list[str]) -> set[str]:
    """The lower-cased words and numbers of texts."""
    return set(re.findall(r"[a-z]+|\d+(?:st|nd|rd|th)?", " ".join(texts).lower()))


def vocabulary(templates: Path) -> list[str]:
    """Every word that a tiny model should know as one piece, sorted."""
    table = pd.read_csv(templates, dtype=str, keep_default_na=False)
    forms = [form for columns in SIDES.values() for column in columns for form in table[column]]
    times = [time for _, _, spellings, _ in LISTS.values() for spelling in spellings for time in spelling]
    units = [word for name in NAMES.values() for word in (name, f"{name}s")]
    prepositions = ["at", "on", "in", "before", "after", "from", "to", "for", "less", "than"]
    numbers = [str(number) for number in range(101)]
    return sorted(set(procedures.vocabulary()) | set(rides.vocabulary()) | words_of([*forms, *times, *DAYS, *units, *prepositions, *numbers,
                                                       *mctaco.texts(), *dialog_texts.texts()]))


def main(given: argparse.Namespace) -> None:
    words = vocabulary(given.templates)
    with whole(given.output) as place:
        place.write_text("\n".join(words) + "\n", encoding="utf-8")
    log.info("%s: %d words", given.output, len(words))


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--templates", type=Path, required=True, help="the list of event templates")
    options.add_argument("--output", type=Path, required=True, help="the file to write, one word a line")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
