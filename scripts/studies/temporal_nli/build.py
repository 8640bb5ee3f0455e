"""Build a temporal NLI challenge set (Thukral et al. 2021, section 3).

temp_order     3.1 "They got married in March." / "They got married before July.": two times, before
               or after
temp_duration  3.2 "The meeting lasted from 12 PM to 5 PM." / "The meeting lasted for 5 hours.": is
               the duration right?
cross_unit     3.3 "The store will close in 2 hours." / "The store will close before 40 minutes.":
               durations in adjacent units

sets.py generates the paper's three sets from event templates; a released set is read. Train and
test have different templates. The paper has no dev split; here whole templates of train are dev.
The options (options.py) are further steps, in this order:

  parts.py     held_out: names what else is new in the test split. Train and dev lose the pairs with
               this content. In the test split the column part marks pairs with it (unseen) and
               without it (seen)
  times.py     held_out_list: takes the same lists in each sentence, at all distances, and holds one
               list or half of the lists out; some of these lists are not of time
  balance.py   balanced: thins the test split until each cue is equally frequent with each label
  contrast.py  contrast: gives each pair of the test split a counterpart
  of_lowest()  train_templates, test_templates, train_pairs: draws by hash; dev does not change with
               train_pairs
  limit        at most that many pairs of the test split, by hash; an original and its counterpart
               count as one

Reads  <cleaned>/train.parquet, test.parquet (schema templates, or schema nli for a released set)
Writes <output>/train.parquet, dev.parquet, test.parquet (schema nli)

Every draw depends only on a hash of its place in the set and on generation_seed. So the same
options give the same sentences on every machine. A repeated pair is drawn again.

    python -m scripts.studies.temporal_nli.build --cleaned results/clean/event_templates \\
        --splits train test --options '{"challenge_set": "temp_order", "train_templates": null,
                                        "test_templates": null, "iterations": 5,
                                        "generation_seed": 0, "dev_fraction": 0.1,
                                        "held_out": "template"}' --output /tmp/temp_order
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.data.counterparts import COUNTERPART
from scripts.data.limit import limited, of_lowest
from scripts.data.builder_arguments import builder_arguments
from scripts.studies.temporal_nli.balance import balanced
from scripts.studies.temporal_nli.contrast import check_contrast, with_counterparts
from scripts.studies.temporal_nli.parts import SEEN, TEMPLATE, UNSEEN, check, unseen, with_parts
from scripts.studies.temporal_nli.sets import SETS, temp_order
from scripts.studies.temporal_nli.times import EACH_LIST, held_out_choices
from scripts.studies.temporal_nli.options import Options
from scripts.data.files import whole_set
from scripts.running.program import UserError, execute, log
from scripts.data.tables import TEMPLATES, read_complete, schema_of, write_rows
from scripts.studies.temporal_nli.tables import NLI, VARIED


def generated(templates: pd.DataFrame, split: str, options: Options) -> pd.DataFrame:
    """Generate one split of a set from a table of templates. Return the columns of the schema nli,
    with late and known.
    """
    name = options.challenge_set
    generate = partial(temp_order, lists=EACH_LIST) if options.held_out_list else SETS[name]
    rows = generate(templates.sort_values("template"), options.iterations, options.generation_seed)
    rows = rows.reset_index(drop=True).assign(challenge_set=name)
    rows["example_id"] = f"{name}:{split}:" + rows.index.astype(str)
    return rows.reindex(columns=[*NLI.names, "late", "known"]).replace(
        {"duration_format": {"": None}}
    )


def pairs_of(cleaned: Path, split: str, options: Options) -> pd.DataFrame:
    """Return the pairs of one split, with the kinds that hold them out. A train split has at most
    `train_templates` templates, another split at most `test_templates`.
    """
    file, most = cleaned / f"{split}.parquet", options.test_templates
    if split == "train":
        most = options.train_templates
    is_generated = "challenge_set" not in schema_of(file).names
    check(options.challenge_set, options.held_out, is_generated)
    check_contrast(options.challenge_set, options.contrast)
    if is_generated:
        try:
            rows = generated(read_complete(file, TEMPLATES).to_pandas(), split, options)
        except UserError as error:
            raise UserError(f"{file}: {error}") from None
    else:
        rows = read_complete(file, NLI, VARIED).to_pandas()
        if not rows["label"].between(0, 2).all():
            raise UserError(f"{file}: a label is not one of 0 to 2; clean the source again")
        rows = rows[rows["challenge_set"] == options.challenge_set]
    rows = with_parts(rows, held_out_choices(options.held_out_list or "weekday"))
    what = f"{file}: {options.challenge_set}, {split}_templates"
    return rows[of_lowest(rows["group_id"], most, what)]


def learnt_pairs(
    rows: pd.DataFrame, options: Options, where: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pairs of train and of dev: the pairs without held-out content. dev has a share of
    their templates, those with the lowest hashes, at least one.
    """
    rows = rows.assign(part=SEEN)
    if options.held_out != TEMPLATE:
        known = rows[~unseen(rows, options.held_out)]
        if known.empty and len(rows):
            raise UserError(
                f"{where}: held_out: {options.held_out} leaves no pair of {options.challenge_set} "
                "to learn from; ask for more templates"
            )
        rows = known
    if rows.empty:  # the released set III has no training file
        log.info(
            "%s: no pairs of %s to learn from: only the method direct can use this dataset",
            *(where, options.challenge_set),
        )
        return rows, rows
    templates = rows["group_id"].nunique()
    if templates < 2:
        raise UserError(
            f"{where}: {templates} template(s) give pairs, but dev is held out of train by "
            "template, so two are needed; ask for more templates"
        )
    wanted = max(1, round(options.dev_fraction * templates))
    is_dev = of_lowest(rows["group_id"], wanted, where)
    train, what = rows[~is_dev], f"{where}: train_pairs"
    return train[of_lowest(train["example_id"], options.train_pairs, what)], rows[is_dev]


def measured_pairs(
    rows: pd.DataFrame, options: Options, source: Path, where: str
) -> tuple[pd.DataFrame, dict]:
    """Return the pairs of an evaluation split, and the provenance of the limit. where: the dataset
    and its split. Raises UserError if there are none.
    """
    if rows.empty:
        raise UserError(
            f"{source}: no pairs of {options.challenge_set}; add templates that have such units"
        )
    rows = rows.assign(part=np.where(unseen(rows, options.held_out), UNSEEN, SEEN))
    if options.balanced:
        rows = balanced(rows, options.held_out, where, by_list=bool(options.held_out_list))
    if options.contrast != "none":
        rows = with_counterparts(rows, options.contrast, where)
    rows = rows.assign(pair=rows["example_id"].str.removesuffix(COUNTERPART))
    return limited(rows, "pair", options.limit, "pairs", where)


def write(rows: pd.DataFrame, file: Path, source: Path, facts: dict) -> None:
    """Write the pairs of a split (schema nli). source: the file that they were made of; facts:
    further provenance.
    """
    write_rows(rows, file, NLI, source, {"split": file.stem} | facts)
    shares = np.bincount(rows["label"].astype(int), minlength=3) / max(1, len(rows))
    log.info(
        "%s: %d pairs of %d templates, %.1f %% entailment, %.1f %% neutral, %.1f %% contradiction",
        *(file, len(rows), rows["group_id"].nunique(), *(100 * shares)),
    )


def main(given: argparse.Namespace) -> None:
    options, [first, *evaluated] = Options.of(given.options), given.splits
    files = {split: given.cleaned / f"{split}.parquet" for split in given.splits}
    pairs = {split: pairs_of(given.cleaned, split, options) for split in given.splits}
    facts = {"options": options.written()}
    train, dev = learnt_pairs(pairs[first], options, str(files[first]))
    with whole_set(given.output) as folder:
        write(train, folder / files[first].name, files[first], facts)
        write(dev, folder / "dev.parquet", files[first], facts)
        for split in evaluated:
            where = f"{given.output} {split}"
            rows, cut = measured_pairs(pairs[split], options, files[split], where)
            write(rows, folder / files[split].name, files[split], facts | cut)


if __name__ == "__main__":
    execute(main, builder_arguments(__doc__, Options).parse_args())
