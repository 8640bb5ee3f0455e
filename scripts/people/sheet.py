"""Write a sheet (CSV) on which a person answers a sample of a study's items in a spreadsheet.

A row is an example: its texts, and the empty columns `answer` and `types`. An experiment names the
filled sheet as `people` (docs/people.md). The sheet contains no labels, and no ids that show a
label. Units (pairs, questions with their candidates, instances) are drawn by hash and seed, so
everybody answers the same ones. The name of the person decides their order.

Reads  <dataset>/<split>.parquet of each dataset, all of one study,
       results/build/<study>/<source>/<dataset>; labelling.yaml of the study
Writes the sheet

    python -m scripts.people.sheet --dataset results/build/strided_sop/activitynet/stride-* \\
        --split val_1 --person Ann --output ann.csv
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.csv_files import write_csv
from scripts.data.items import ANSWER_COLUMNS, items_of
from scripts.data.keyed import keyed_hash
from scripts.data.options import PEOPLE
from scripts.data.studies import beside, folder_of, options_of, read_studies
from scripts.data.tables import provenance_of, read_table
from scripts.plan.schemas import check, schema
from scripts.running.program import SEED, UserError, execute, log, parser, whole_number

QUESTIONS = "labelling.yaml"
GAP = "________"  # for the mask of a dialog


def sample_of(folder: Path, study: str, questions: dict, given: argparse.Namespace) -> pd.DataFrame:
    """Return the rows of the drawn units of a dataset. Raises UserError if the split has fewer
    units, and for a dataset that people are not asked about.
    """
    file = folder / f"{given.split}.parquet"
    options = options_of(study).of(provenance_of(file).get("options", {}))
    if option := options.refuses(PEOPLE):
        raise UserError(
            f"{folder}: people cannot be asked about a dataset with {option}; name another one"
        )
    ids = [read_studies()[study]["columns"]["example_id"], questions["unit"]]
    texts = questions["texts"]
    table = read_table(file, list(dict.fromkeys([*ids, *texts]))).to_pandas()
    example, unit = (table[name] for name in ids)
    units, count = pd.Series(unit.unique()), given.items or questions["items"]
    if count > len(units):
        raise UserError(
            f"{folder}: --items is {count}, but {given.split} has {len(units)}; ask for fewer"
        )
    drawn = units[np.argsort(keyed_hash(units, given.seed), kind="stable")[:count]]
    about = dict(zip(ANSWER_COLUMNS, (study, folder.parent.name, folder.name, given.split)))
    sheet = table[[*texts]].apply(lambda text: text.str.strip().str.replace("<MASK>", GAP))
    sheet = sheet.rename(columns=texts).assign(**about, person=given.person, answer="", types="")
    sheet["item"] = [f"i{item:016x}" for item in items_of(example)]
    # another order for each person; the examples of a unit stay together
    order = np.lexsort([keyed_hash(one + given.person, given.seed) for one in (example, unit)])
    return sheet.iloc[order[unit.isin(drawn).to_numpy()[order]]]


def main(given: argparse.Namespace) -> None:
    folders = [folder.resolve() for folder in given.dataset]
    studies, known = {folder.parent.parent.name for folder in folders}, read_studies()
    asked = [study for study in known if beside(study, QUESTIONS)]
    if len({*folders}) < len(folders):
        raise UserError("--dataset: names a folder twice; name it once")
    if len(studies) > 1 or not studies <= {*asked}:
        raise UserError(
            f"--dataset: {', '.join(sorted(studies))}: name datasets of one study, "
            f"results/build/<study>/<source>/<dataset>, of {', '.join(asked)}"
        )
    study = studies.pop()
    place = folder_of(study) / QUESTIONS
    questions = check(beside(study, QUESTIONS), schema("labelling"), str(place))
    sheet = pd.concat([sample_of(folder, study, questions, given) for folder in folders])
    write_csv(sheet, given.output)
    log.info("%s: %d rows. %s", given.output, len(sheet), questions["question"])
    for name, meaning in questions["answers"].items():
        log.info("answer %s: %s", name, meaning)
    for name, meaning in questions["types"].items():
        log.info("types %s: %s", name, meaning)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--dataset", type=Path, nargs="+", required=True, help="the folders of datasets of a study"
    )
    options.add_argument(
        "--split", default="test", help="the split to draw from; default: %(default)s"
    )
    options.add_argument("--person", required=True, help="the name of the person who answers")
    options.add_argument(
        "--items",
        type=whole_number(1, 1_000_000),
        help="the number of units (pairs, questions, instances) of each dataset; default: the "
        "number in labelling.yaml",
    )
    options.add_argument(
        "--seed", type=SEED, default=1, help="the seed of the draw; default: %(default)s"
    )
    options.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    options.set_defaults(reads=lambda given: given.dataset)
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
