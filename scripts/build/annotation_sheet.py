"""Draw pairs of a strided dataset for people to order: the human baseline of Jain et al. 2020 (20 a dataset).

Writes a CSV with an empty column `answer`; a person writes in_order where text_a comes first in the video, swapped
where text_b does. The sheet shows no label. Sheets of several datasets may be joined into one file, which an
experiment names as `human_labels`.

    python -m scripts.build.annotation_sheet --dataset results/build/strided_sop/activitynet/stride-0 \\
        --split val_1 --pairs 20 --seed 1 --output sheet.csv
"""

import argparse
from pathlib import Path

import numpy as np

from scripts.common.csv_files import write_csv
from scripts.common.keyed import keyed_hash
from scripts.common.program import SEED, UserError, execute, log, parser, whole_number
from scripts.common.tables import STRIDED_PAIRS, read_table


def main(given: argparse.Namespace) -> None:
    pairs = read_table(given.dataset / f"{given.split}.parquet", ["pair_id", "text_a", "text_b"], STRIDED_PAIRS).to_pandas()
    if given.pairs > len(pairs):
        raise UserError(f"{given.dataset}: {given.pairs} pairs were asked for, {given.split} has {len(pairs)}")
    sheet = pairs.iloc[np.argsort(keyed_hash(pairs["pair_id"], given.seed))[: given.pairs]].copy()
    sheet.insert(0, "split", given.split)
    sheet.insert(0, "dataset", given.dataset.name)
    sheet.insert(0, "source", given.dataset.parent.name)
    write_csv(sheet.assign(answer=""), given.output)
    log.info("%s: %d pairs of %s %s to order", given.output, len(sheet), given.dataset, given.split)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--dataset", type=Path, required=True, help="the folder of a strided dataset")
    options.add_argument("--split", required=True, help="the split to draw from")
    options.add_argument("--pairs", type=whole_number(1, 1_000_000), default=20, help="how many; default: %(default)s")
    options.add_argument("--seed", type=SEED, default=1, help="of the draw; default: %(default)s")
    options.add_argument("--output", type=Path, required=True, help="the CSV to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
