"""Compare two systems: the paired difference of every metric that both have, with its 95 % interval
and its p-value (two-sided, for a single test).

A system of a measured study is `model/method`. Write `experiment/model/method` if experiments
measured it differently. Elsewhere a system is a file of predictions (scripts/measure/external.py):

    python -m scripts.measure.compare search_all_options/control answer_and_category/control \\
        --metrics results/evaluate/controls/metrics.parquet
    python -m scripts.measure.compare ours.csv theirs.jsonl \\
        --dataset results/build/mctaco/mctaco/default --split test

    mctaco, mctaco, default, test
                                   A %     B %   A - B     95 % interval       p        n
    exact match                  31.76   25.30    6.46      4.31 to 8.60  <.0001    1,332

A and B are in per cent, A - B is in points. The difference is paired by groups, so a question that
is hard for both systems does not widen its interval. If you compare many pairs, some differences
look clear by chance.
"""

import argparse
import importlib
import tempfile
from pathlib import Path

import pandas as pd

from scripts.data.studies import read_studies
from scripts.data.tables import METRICS, check_columns, read_metrics, schema_of
from scripts.measure.external import split_file, title_of, write_run
from scripts.measure.intervals import difference
from scripts.measure.comparisons import bounds_of
from scripts.running.program import UserError, closest, cut, execute, parser, whole_number

PLACE = ["study", "source", "dataset", "split"]
SAME = [*PLACE, "limit", "n", "metric", "scoring"]  # what two rows must share to be compared
RELEASED = "released"  # the method and the dataset of predictions that came with a corpus


def rows_named(rows: pd.DataFrame, name: str, file: Path) -> pd.DataFrame:
    """Return the rows of a system in a metrics.parquet; rows that experiments share occur once.
    Raises UserError if there are no such rows, or if experiments have different numbers.
    """
    system = rows["model"] + "/" + rows["method"]
    full = rows["experiment"] + "/" + system
    found = rows[(system == name) | (full == name)]
    if found.empty:
        raise UserError(f"{file}: no system {cut(name)}{closest(name, {*system})}")
    same = [column for column in SAME if column in rows]
    found = found.drop_duplicates([*same, "value"])
    if (twice := found[found.duplicated(same, keep=False)]).size:
        of = ", ".join(sorted(set(twice["experiment"])))
        raise UserError(f"{file}: {name} differs between {of}; write EXPERIMENT/{name}")
    return found


def rows_of_file(predictions: Path, dataset: Path, split: str, resamples: int) -> pd.DataFrame:
    file = split_file(dataset.resolve(), split)
    study, source, name = file.parts[-4:-1]
    if study not in read_studies():
        raise UserError(f"--dataset {dataset}: name results/build/<study>/<source>/<dataset>")
    measures = importlib.import_module(f"scripts.studies.{study}.evaluate").STUDY
    with tempfile.TemporaryDirectory() as place:
        run = write_run(Path(place, "run"), predictions.stem, predictions, measures.answered, file)
        rows = pd.DataFrame(measures.measure_file(run, file, split, resamples))
    return rows[rows["draws"].notna()].assign(source=source, dataset=name)


def pairs_of(first_rows: pd.DataFrame, second_rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the rows of two systems side by side: the columns SAME, and `<name>_a` and `<name>_b`
    for every other column.
    """
    same = [column for column in SAME if column in first_rows and column in second_rows]
    if RELEASED in {*first_rows["method"], *second_rows["method"]}:
        same.remove("dataset")  # released rows are measured on the split itself
    pairs = first_rows.merge(second_rows, on=same, suffixes=("_a", "_b"))
    if len(pairs):
        return pairs
    known = [{*rows[PLACE].agg("/".join, axis=1)} for rows in (first_rows, second_rows)]
    if known[0] & known[1]:
        known = [{*rows["metric"]} for rows in (first_rows, second_rows)]
    first, second = (cut(", ".join(sorted(each)), 200) for each in known)
    raise UserError(
        f"{names[0]} and {names[1]} share no metric of the same examples (the first has {first}; "
        f"the second has {second}); measure both on one dataset and split"
    )


def line_of(pair: dict) -> dict:
    """Return a pair of rows as a line of the table: its place, its text, and whether it has an
    interval.
    """
    a, b = (
        {key.removesuffix(end): value for key, value in pair.items() if key.endswith(end)}
        for end in ("_a", "_b")
    )
    datasets = dict.fromkeys((pair | row)["dataset"] for row in (a, b))
    metrics = read_studies().get(pair["study"], {}).get("metrics", {})
    gap = difference(a, b, bounds_of(metrics, pair))
    values = [f"{value * 100:>8.2f}" for value in (a["value"], b["value"], gap.value)]
    span, p_value = "one group", ""
    if gap.ci_low is not None and gap.ci_high is not None and gap.p_value is not None:
        span = f"{gap.ci_low * 100:.2f} to {gap.ci_high * 100:.2f}"
        p_value = "<.0001" if gap.p_value < 1e-4 else f"{gap.p_value:.4f}"
    return {
        "place": f"{pair['study']}, {pair['source']}, {' and '.join(datasets)}, {pair['split']}",
        "text": f"{title_of(pair):<30}{''.join(values)}{span:>18}{p_value:>8}{pair['n']:>9,}",
        "has_interval": gap.p_value is not None,
    }


def print_pairs(pairs: pd.DataFrame) -> None:
    """Print a line for each metric, under its place. Raises UserError if no metric has an interval,
    because there is only one group.
    """
    lines = pd.DataFrame(map(line_of, pairs.to_dict("records")))
    head = f"{'A %':>38}{'B %':>8}{'A - B':>8}{'95 % interval':>18}{'p':>8}{'n':>9}"
    if not lines["has_interval"].any():
        where = lines["place"][0]
        raise UserError(
            f"{where}: has one group, and an interval needs two; measure on a larger split"
        )
    for place, texts in lines.groupby("place", sort=False)["text"]:
        print(place, head, *texts, sep="\n", end="\n\n")


def main(given: argparse.Namespace) -> None:
    if given.metrics:
        columns = ["method", "draws", "sd", "seeds", "effective_groups"]
        check_columns(given.metrics, schema_of(given.metrics), columns)
        rows = read_metrics(given.metrics, METRICS, True, others=True, ensembles=True).to_pandas()
        rows = rows[rows["draws"].notna() & rows["seed"].isna()]
        systems = [rows_named(rows, name, given.metrics) for name in given.systems]
    else:
        place = given.dataset, given.split, given.resamples
        systems = [rows_of_file(Path(name), *place) for name in given.systems]
    print_pairs(pairs_of(systems[0], systems[1], given.systems))


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "systems", nargs=2, metavar="SYSTEM", help="the systems A and B (see above)"
    )
    place = options.add_mutually_exclusive_group(required=True)
    place.add_argument("--metrics", type=Path, help="metrics.parquet, which has both systems")
    dataset = "the dataset of both files: results/build/<study>/<source>/<dataset>"
    place.add_argument("--dataset", type=Path, help=dataset)
    split = "the split of the dataset; default: %(default)s"
    options.add_argument("--split", default="test", help=split)
    draws = "for files: the number of draws for each interval; default: %(default)s"
    options.add_argument("--resamples", type=whole_number(1, 1_000_000), default=2000, help=draws)
    options.set_defaults(reads=lambda given: [given.metrics or given.dataset])
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
