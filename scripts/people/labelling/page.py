"""Make a page on which people answer a sample of a study's items:
one HTML file that opens from disk and loads nothing.

A person answers by keyboard or mouse. The page saves each answer in the browser at once, and
continues where the person stopped. It exports the answers as CSV. An experiment names this file as
`people` (docs/people.md). Each person sees the items in a different order. The page contains no
labels, and no ids that show a label. Units (pairs, questions with their candidates, instances) are
drawn by hash and seed, so the same call makes the same page.

Reads  <dataset>/<split>.parquet of each dataset, all of one study,
       results/build/<study>/<source>/<dataset>; labelling.yaml of the study
Writes the page

    python -m scripts.people.labelling.page \\
        --dataset results/build/strided_sop/activitynet/stride-* --split val_1 --output order.html
"""

import argparse
import hashlib
import json
import re
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd
import pyarrow as pa

from scripts.data.files import whole
from scripts.data.items import ANSWER_COLUMNS, items_of
from scripts.data.keyed import keyed_hash
from scripts.data.options import PEOPLE
from scripts.data.studies import beside, folder_of, options_of, read_studies
from scripts.running.program import SEED, UserError, execute, log, parser, whole_number
from scripts.plan.schemas import check, schema
from scripts.data.tables import provenance_of, read_complete
from scripts.publish.parts import policy_hash

HERE = Path(__file__).parent
QUESTIONS = "labelling.yaml"
GAP = "________"  # for the mask of a dialog
CANDIDATE = "candidate"
OPTIONS = ["right", "wrong"]  # the answer to a chosen candidate, and to one that was not chosen


def sample_of(
    folder: Path, split: str, name: str, questions: dict, units: int, seed: int
) -> pd.DataFrame:
    """Draw `units` units of a dataset's split. Return their examples in the order of the draw, with
    the columns unit, item, label and the shown columns.

    name: the column of the examples' ids; questions: the study's labelling.yaml. Raises UserError
    if the split has fewer units, if an instance has no right option, and for a dataset that
    people are not asked about.
    """
    columns = dict.fromkeys([name, questions["unit"], "label", *questions["texts"]])
    if questions["choices"] == CANDIDATE:
        columns[CANDIDATE] = None
    file = folder / f"{split}.parquet"
    options = options_of(folder.parent.parent.name).of(provenance_of(file).get("options", {}))
    if option := options.refuses(PEOPLE):
        raise UserError(
            f"{folder}: people cannot be asked about a dataset with {option}; name another one"
        )
    types = pa.schema(
        [(column, pa.int8() if column == "label" else pa.string()) for column in columns]
    )
    table = read_complete(file, types).to_pandas()
    unit = table[questions["unit"]]
    if CANDIDATE in columns and (table.groupby(unit)["label"].sum() == 0).any():
        raise UserError(f"{folder}: {split} has an instance without a right option; make it again")
    drawn = pd.Series(unit.unique())
    if units > len(drawn):
        raise UserError(
            f"{folder}: --items is {units}, but {split} has {len(drawn)}; ask for fewer"
        )
    drawn = drawn.iloc[np.argsort(keyed_hash(drawn, seed), kind="stable")[:units]]
    place = pd.Index(drawn).get_indexer(unit)
    rows = table[place >= 0].assign(unit=place[place >= 0])
    texts = {
        column: rows[column].str.replace("<MASK>", GAP, regex=False)
        for column in questions["texts"]
    }
    return rows.assign(item=items_of(rows[name]), **texts).sort_values(
        ["unit", "item"], ignore_index=True
    )


def screens_of(sample: pd.DataFrame, titles: dict[str, str], dataset: int) -> list[dict]:
    """Return the screens of the page, in order. A screen shows a unit if the sample has candidates,
    else an example.

    titles: {column: title of its text}; dataset: the dataset's number on the page.
    """
    screens = []
    for _, rows in sample.groupby("unit" if CANDIDATE in sample else sample.index):
        first = rows.iloc[0]
        screen = {
            "dataset": dataset,
            "unit": int(first["unit"]),
            "texts": [[title, first[column]] for column, title in titles.items()],
            "items": rows["item"].map("{:016x}".format).tolist(),
            "pick": 1,
        }
        if CANDIDATE in sample:
            screen |= {
                "candidates": rows[CANDIDATE].str.strip().tolist(),
                "pick": int(rows["label"].sum()),
            }
        screens.append(screen)
    return screens


def page_of(content: dict) -> str:
    """The HTML of the page. It holds the content as JSON, which no markup in a corpus can end."""
    content_json = json.dumps(content, ensure_ascii=False, sort_keys=True)
    content = content | {"digest": hashlib.sha256(content_json.encode()).hexdigest()[:16]}
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    texts = {name: (HERE / f"page.{name}").read_text(encoding="utf-8") for name in ("css", "js")}
    hashes = {f"{name}_hash": policy_hash(text) for name, text in texts.items()}
    data = re.sub(
        "[<>&\u2028\u2029]",
        lambda sign: f"\\u{ord(sign[0]):04x}",
        json.dumps(content, ensure_ascii=False),
    )
    return environment.get_template("page.html.j2").render(
        content=content, data=data, **texts, **hashes
    )


def content_of(given: argparse.Namespace) -> dict:
    """All content of the page. Raises UserError for datasets of several studies, a dataset that is
    named twice, and a study without questions for people.
    """
    folders = [folder.resolve() for folder in given.dataset]
    studies = {folder.parent.parent.name for folder in folders}
    if len(set(folders)) < len(folders):
        raise UserError(
            "--dataset: names a folder twice, so that its items would be asked twice; name it once"
        )
    known = read_studies()
    labelled_studies = [study for study in known if beside(study, QUESTIONS)]
    if len(studies) > 1 or not studies <= set(labelled_studies):
        raise UserError(
            f"--dataset: {', '.join(sorted(studies))}: name datasets of one study, "
            f"results/build/<study>/<source>/<dataset>, of {', '.join(labelled_studies)}"
        )
    study = studies.pop()
    questions = check(
        beside(study, QUESTIONS), schema("labelling"), str(folder_of(study) / QUESTIONS)
    )
    name, screens = known[study]["columns"]["example_id"], []
    for number, folder in enumerate(folders):
        sample = sample_of(
            folder, given.split, name, questions, given.items or questions["items"], given.seed
        )
        screens += screens_of(sample, questions["texts"], number)
    return {
        "study": study,
        "question": questions["question"],
        "datasets": [
            {"source": folder.parent.name, "dataset": folder.name, "split": given.split}
            for folder in folders
        ],
        "choices": None
        if questions["choices"] == CANDIDATE
        else list(questions["choices"].items()),
        "options": OPTIONS,
        "types": [{"key": key} | entry for key, entry in questions["types"].items()],
        "columns": ANSWER_COLUMNS,
        "screens": screens,
    }


def main(given: argparse.Namespace) -> None:
    content = content_of(given)
    with whole(given.output) as place:
        place.write_text(page_of(content), encoding="utf-8")
    log.info(
        "%s: %d items of %d datasets of %s; open it in a browser",
        given.output,
        len(content["screens"]),
        len(content["datasets"]),
        content["study"],
    )


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--dataset", type=Path, nargs="+", required=True, help="the folders of datasets of a study"
    )
    options.add_argument(
        "--split", default="test", help="the split to draw from; default: %(default)s"
    )
    options.add_argument(
        "--items",
        type=whole_number(1, 1_000_000),
        help="the number of units (pairs, questions, instances) from each "
        "dataset; default: the number in labelling.yaml",
    )
    options.add_argument(
        "--seed", type=SEED, default=1, help="the seed of the draw; default: %(default)s"
    )
    options.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    options.set_defaults(reads=lambda given: given.dataset)
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
