"""Build a temporal NLI challenge set (Thukral et al. 2021, section 3): generated from event
templates, or as released.

temp_order     "They got married in March." / "They got married before July.": two times, before or
               after
temp_duration  "The meeting lasted from 12 PM to 5 PM." / "The meeting lasted for 5 hours.": is the
               duration right?
cross_unit     "The store will close in 2 hours." / "The store will close before 40 minutes.":
               durations in adjacent units

scripts/studies/temporal_nli/sets.py explains how pairs are labelled and drawn. The templates of the
test split are always new. options.py explains --options; these change the pairs:

  held_out      names what else is new in the test split (scripts/studies/temporal_nli/parts.py).
                Train and dev lose the pairs with this content. In the test split the column part
                marks pairs with it (unseen) and without it (seen)
  held_out_list takes the same lists in each sentence, at all distances, and holds one list or half
                of the lists out; some of these lists are not of time (HALVES of times.py)
  balanced      thins the test split until each cue is equally frequent with each label
                (scripts/studies/temporal_nli/balance.py)
  contrast      gives each pair of the test split a counterpart
                (scripts/studies/temporal_nli/contrast.py)
  limit         keeps at most that many pairs of the test split, by hash; an original and its
                counterpart count as one
  train_pairs   keeps that many pairs of train, by hash; dev does not change

Reads  <cleaned>/train.parquet, test.parquet (schema templates, or schema nli for a released set)
Writes <output>/train.parquet, dev.parquet, test.parquet (schema nli); dev contains whole templates
       taken out of train

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
import pyarrow as pa

from scripts.data.counterparts import COUNTERPART
from scripts.data.limit import limited
from scripts.data.builder_arguments import builder_arguments
from scripts.studies.temporal_nli.balance import balanced
from scripts.studies.temporal_nli.contrast import check_contrast, with_counterparts
from scripts.studies.temporal_nli.parts import SEEN, TEMPLATE, UNSEEN, check, unseen, with_parts
from scripts.studies.temporal_nli.sets import SETS, temp_order
from scripts.studies.temporal_nli.times import EACH_LIST, held_out_choices
from scripts.studies.temporal_nli.options import Options
from scripts.data.files import whole_set
from scripts.data.keyed import keyed_hash
from scripts.running.program import UserError, execute, log
from scripts.data.tables import TEMPLATES, provenance_of, read_complete, schema_of, write_table
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


def fewer(names: pd.Series, wanted: int | None, where: str, what: str = "templates") -> set[str]:
    """Return all names, or the `wanted` names with the lowest hashes.

    Raises UserError if there are fewer names.
    """
    known = pd.Series(names.unique(), dtype=object)
    if wanted is None:
        return set(known)
    if wanted > len(known):
        raise UserError(
            f"{where}: {wanted} {what} were asked for, but there are {len(known)}; ask for fewer"
        )
    return set(known[np.argsort(keyed_hash(known), kind="stable")[:wanted]])


def read(cleaned: Path, split: str, options: Options) -> pd.DataFrame:
    """Return the pairs of one split, with the kinds that hold them out. A train split has at most
    `train_templates` templates, another split at most `test_templates`.
    """
    most = options.train_templates if split == "train" else options.test_templates
    file = cleaned / f"{split}.parquet"
    is_generated = "challenge_set" not in schema_of(file).names
    check(options.challenge_set, options.held_out, is_generated)
    check_contrast(options.challenge_set, options.contrast)
    if not is_generated:
        rows = read_complete(file, NLI, VARIED).to_pandas()
        if not rows["label"].between(0, 2).all():
            raise UserError(f"{file}: a label is not one of 0 to 2; clean the source again")
        rows = rows[rows["challenge_set"] == options.challenge_set]
    else:
        templates = read_complete(file, TEMPLATES).to_pandas()
        try:
            rows = generated(templates, split, options)
        except UserError as error:
            raise UserError(f"{file}: {error}") from None
    rows = with_parts(rows, held_out_choices(options.held_out_list or "weekday"))
    where = f"{file}: {options.challenge_set}, {split}_templates"
    return rows[rows["group_id"].isin(fewer(rows["group_id"], most, where))]


def held_out(rows: pd.DataFrame, fraction: float, where: str) -> pd.Series:
    """Return which rows belong to the templates of dev: the share of all templates with the lowest
    hashes, at least one.
    """
    templates = rows["group_id"].nunique()
    if templates < 2:
        raise UserError(
            f"{where}: {templates} template(s) give pairs, but dev is held out of train by "
            "template, so two are needed; ask for more templates"
        )
    return rows["group_id"].isin(
        fewer(rows["group_id"], max(1, round(fraction * templates)), where)
    )


def write_splits(
    tables: dict[str, pd.DataFrame], options: Options, given: argparse.Namespace, folder: Path
) -> None:
    """Write every split to a folder.

    Raises UserError for an evaluation split without pairs.
    """
    first = given.splits[0]
    for split, rows in tables.items():
        source = given.cleaned / f"{first if split == 'dev' else split}.parquet"
        if split in given.splits[1:] and not len(rows):
            raise UserError(
                f"{source}: no pairs of {options.challenge_set}; add templates that have such units"
            )
        limit = options.limit if split in given.splits[1:] else None
        rows = rows.assign(pair=rows["example_id"].str.removesuffix(COUNTERPART))
        rows, cut = limited(rows, "pair", limit, "pairs", f"{given.output} {split}")
        write_table(
            pa.Table.from_pandas(rows, schema=NLI, preserve_index=False),
            folder / f"{split}.parquet",
            NLI,
            provenance_of(source) | {"split": split, "options": options.written()} | cut,
        )
        shares = ", ".join(
            f"{share:.1%} {name}"
            for name, share in zip(
                ("entailment", "neutral", "contradiction"),
                (np.bincount(rows["label"].astype(int), minlength=3) / max(1, len(rows))),
            )
        )
        log.info(
            "%s %s: %d pairs of %d templates, %s",
            given.output,
            split,
            len(rows),
            rows["group_id"].nunique(),
            shares,
        )


def as_measured(rows: pd.DataFrame, options: Options, where: str) -> pd.DataFrame:
    """Apply the options balanced and contrast to the pairs of an evaluation split (with part).
    where: the dataset and its split.
    """
    if options.balanced and len(rows):
        rows = balanced(rows, options.held_out, where, by_list=bool(options.held_out_list))
    if options.contrast != "none" and len(rows):
        rows = with_counterparts(rows, options.contrast, where)
    return rows


def main(given: argparse.Namespace) -> None:
    options, first = Options.of(given.options), given.splits[0]
    kind = options.held_out
    tables = {split: read(given.cleaned, split, options) for split in given.splits}
    for split, rows in tables.items():
        tables[split] = rows.assign(
            part=np.where(unseen(rows, kind) & (split != first), UNSEEN, SEEN)
        )
        if split != first:
            tables[split] = as_measured(tables[split], options, f"{given.output} {split}")
    learnt, where = tables[first], f"{given.cleaned / first}.parquet"
    known = learnt if kind == TEMPLATE else learnt[~unseen(learnt, kind)]
    if known.empty and len(learnt):
        raise UserError(
            f"{where}: held_out: {kind} leaves no pair of {options.challenge_set} to learn "
            "from; ask for more templates"
        )
    if known.empty:  # the released set III has no training file
        log.info(
            "%s: no pairs of %s to learn from: only the method direct can use this dataset",
            given.cleaned,
            options.challenge_set,
        )
        tables["dev"] = known
    else:
        dev = held_out(known, options.dev_fraction, where)
        learnt, ids = known[~dev], known.loc[~dev, "example_id"]
        chosen = fewer(ids, options.train_pairs, f"{where}: train_pairs", "pairs")
        tables |= {first: learnt[ids.isin(chosen)], "dev": known[dev]}
    with whole_set(given.output) as folder:
        write_splits(tables, options, given, folder)


if __name__ == "__main__":
    execute(main, builder_arguments(__doc__, Options).parse_args())
