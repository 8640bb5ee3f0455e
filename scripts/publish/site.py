"""Make the page: one HTML file that opens from disk. It shows every figure, table and number, and
how each was made.

The page loads no other file: it contains its styles, its script and its figures (SVG). It links the
PDF, PNG and CSV files beside it. Its items follow resources/figures.yaml, study by study. Every
text from a corpus, a resource or a caption is escaped.

Reads  metrics.parquet, comparisons.parquet, published.csv,
       resources/{figures,studies,sources,models}.yaml,
       report/{workflow,all}.rst (beside resources/), resources/left_out.yaml if anything was left
       out, <publish>/figures/<name>.svg and .dark.svg, <publish>/tables/<name>.csv, checked by
       <publish>/<study>.manifest.json, cleaning.csv of each source, the `local` files of
       sources.yaml, run.json of each run
Writes the page, and findings.json beside it: the findings of the first screen, for the list of
       studies (scripts/publish/index.py). Figures and tables of an earlier configuration are
       removed

    python -m scripts.publish.site --metrics results/evaluate/default/metrics.parquet \\
        --resources resources --publish results/publish --cleaning results/clean/*/cleaning.csv \\
        --runs results/train/*/*/run.json --configuration '{"run": […], "experiments": {…}}' \\
        --provenance '{"accuracy_by_stride": {"rule": …, "code": …}}' \\
        --output results/publish/site/index.html
"""

import argparse
import json
import os
import tempfile
from functools import partial
from pathlib import Path

import pandas as pd
import yaml

from scripts.data.csv_files import read_csv
from scripts.data.files import sha256_of, whole
from scripts.data.manifest import check_made, describe_beside
from scripts.plan.models import STAGES, stage_of
from scripts.running.program import execute, json_object, log, parser
from scripts.data.papers import texts_of
from scripts.data.tables import read_metrics
from scripts.data.yaml_files import entries_of, read_yaml
from scripts.measure.comparisons import comparisons_beside
from scripts.publish.item import write_texts
from scripts.publish.compared import read_comparisons
from scripts.publish.items import files_of
from scripts.publish.comparison import published_claims
from scripts.publish.findings import findings_of, shared_caveats
from scripts.publish.marks import learnt_marks, with_replicates
from scripts.publish.names import method_title, model_title, source_title
from scripts.publish.parts import data_url, not_drawn, size_of, templates, shown_and_folded
from scripts.publish.page_runs import located, runs_shown
from scripts.publish.provenance import mixture
from scripts.publish.reading import cards_of, paper_tables
from scripts.publish.scorecard.cells import networks_of, read_scores
from scripts.publish.scorecard.card import read_left_out
from scripts.publish.table import EXPERIMENT, OF_COLUMN, TURNS

ALL = "all"  # the "study" of items that are about all studies
# A column with a cell of more characters is not squeezed to the width of its longest word.
WIDE = 14
NUMBER = r"[-−]?[\d,.–e]*( ± [\d.]+)?"
READERS = {"published": paper_tables, "cards": cards_of}
READERS["verdicts"] = lambda table: table.to_dict("records")
OF_SOURCE = ("title", "licence", "citation", "homepage", "sample")


def paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def over_replicates(texts: list[str], runs: list[dict]) -> list[str]:
    """Return the texts with the word `seeds` replaced by what the runs of models vary: seeds,
    wordings or both.
    """
    models = [fact for fact in runs if fact["method"] not in ("control", *STAGES)]
    asked = [fact.get("wording") is not None for fact in models]
    return [with_replicates(text, not all(asked), any(asked)) for text in texts]


def look_of(column: pd.Series, is_number: bool) -> str:
    """Return the CSS class of a column."""
    if is_number:
        return "n"
    return "wide" if column.str.len().max() > WIDE else ""


def readable_table(table: pd.DataFrame, heads: list[str] | None) -> dict:
    """Return a table for the page: its rows in groups by the columns `heads`, and the other columns
    with their looks (CSS classes). heads=None: the columns before the first numbers, as many as
    give groups of two or more rows on average. experiments: what each cell leads to, if anything.
    """
    experiments = {
        name.removeprefix(OF_COLUMN): table.pop(name)
        for name in list(table)
        if name.startswith(OF_COLUMN)
    }
    experiments |= {name: table[name] for name in table if name == EXPERIMENT}
    number = {name: column.str.fullmatch(NUMBER).all() for name, column in table.items()}
    if heads is None:
        first = next((name for name in table if number[name]), table.columns[0])
        heads = list(table)[: table.columns.get_loc(first)]
        while len(heads) > 1 and 2 * len(table[heads].drop_duplicates()) > len(table):
            heads = heads[:-1]
    titles = pd.Series([tuple(row) for row in table[heads].to_numpy()], dtype=object)
    rest = table.drop(columns=heads)
    links = pd.DataFrame(experiments, table.index).reindex(columns=list(rest), fill_value="")
    return {
        "header": list(rest),
        "looks": [look_of(rest[name], number[name]) for name in rest],
        "groups": [
            {
                "title": " · ".join(filter(None, title)),
                "rows": rows.to_numpy().tolist(),
                "experiments": links.loc[rows.index].to_numpy().tolist(),
            }
            for title, rows in rest.groupby(titles, sort=False)
        ],
    }


def studies_of(items: list[dict]) -> list[str]:
    return sorted({item["study"] for item in items})


def published_item(item: dict, given: argparse.Namespace, runs: list[dict]) -> dict:
    """Return a figure or table in the form that the template needs; runs: those it may show."""
    base = given.publish / f"{item['kind']}s" / item["name"]
    caption = paragraphs(item["caption"])
    if item["study"] != ALL:
        caption = over_replicates(caption, runs)
    shown = {"show": item["kind"]} | item
    shown |= {
        "caption": shown_and_folded(caption),
        "place": "" if given.alone else os.path.relpath(base, given.output.parent),
        "provenance": given.provenance.get(item["name"], {}),
    }
    if item["kind"] == "figure":
        svg, dark = base.with_suffix(".svg").read_bytes(), base.with_suffix(".dark.svg")
        return shown | {
            "not_drawn": not_drawn(svg),
            "image": data_url(svg),
            "size": size_of(svg),
            "dark": data_url(dark.read_bytes()) if dark.is_file() else "",
        }
    show, table = shown["show"], read_csv(base.with_suffix(".csv"))
    if show in READERS:
        return shown | {show: READERS[show](table)}
    return shown | {"table": readable_table(table, item.get("heads"))}


def cleaned(cleaning: pd.DataFrame, sources: dict) -> list[dict]:
    """Return for each source a table of what cleaning did: a row for each unit, action and reason,
    a column for each split. Rows of zeros are left out.
    """
    tables, row = [], ["unit", "action", "reason"]
    for name, counts in cleaning.groupby("source", sort=False):
        wide = counts.pivot_table("count", row, "split", aggfunc="sum", sort=False)
        wide = wide.loc[wide.fillna(0).any(axis=1), counts["split"].unique()]
        cells = wide.map("{:,.0f}".format, na_action="ignore").astype(object).fillna("")
        tables.append(
            {
                "title": source_title(name, sources),
                "splits": list(wide),
                "rows": cells.reset_index().to_numpy().tolist(),
                "sample": "sample" in sources.get(name, {}),
            }
        )
    return tables


def source_facts(name: str, entry: dict, root: Path) -> dict:
    """Return the title, licence, citation, homepage and file hashes of a corpus."""
    files = {}
    if "local" in entry:
        files[Path(entry["local"]).name] = sha256_of(root / entry["local"])
    for download in entry.get("downloads", []):
        for file, fact in (download.get("members") or {download["file"]: download}).items():
            files[file] = fact["sha256"] or "not published"
    return {key: entry.get(key, "") for key in OF_SOURCE} | {"name": name, "files": files}


def left_out_groups(left_out: list[dict], studies: dict) -> list[dict]:
    """Group the left-out tests by model and reason; each group lists the studies and methods."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in left_out:
        study = studies.get(entry["study"], {}).get("title", entry["study"])
        what = groups.setdefault((entry["model"], entry["reason"]), [])
        what.append(f"{study}: {method_title(entry['method'])}")
    return [
        {"model": model, "reason": reason, "what": of} for (model, reason), of in groups.items()
    ]


def results_shown(
    given: argparse.Namespace, studies: dict, metrics: pd.DataFrame, runs: list[dict]
) -> dict:
    """Return the figures and tables of the page: those of each measured study, with its question
    and its machines, and those about all studies.
    """
    items = read_yaml(given.resources / "figures.yaml")
    manifests = [given.publish / f"{name}.manifest.json" for name in studies_of(items)]
    check_made(filter(Path.is_file, manifests))

    def published_items(study: str, facts: list[dict]) -> list[dict]:
        return [published_item(item, given, facts) for item in items if item["study"] == study]

    sections = []
    for name, study in studies.items():
        if name not in set(metrics["study"]):
            continue
        of_study = [fact for fact in runs if fact["study"] == name]
        question = over_replicates(paragraphs(study["asks"]), of_study)
        shown = {"name": name, "question": shown_and_folded(question)}
        shown |= {"items": published_items(name, of_study), "machines": mixture(of_study)}
        sections.append({"short": study["title"]} | study | shown)
    return {
        "studies": sections,
        "all_items": published_items(ALL, runs),
        "left_out": left_out_groups(read_left_out(given.resources / "left_out.yaml"), studies),
        "samples": set(metrics["sample"]),
        "limits": sorted(metrics["limit"].dropna().unique()),
        "learnt": learnt_marks(metrics["dataset"]),
        "metrics_sha256": sha256_of(given.metrics),
    }


def sources_shown(given: argparse.Namespace, sources: dict, measured: set[str], root: Path) -> dict:
    """Return what the page says of the sources, measured or cleaned, and of their cleaning."""
    tables = [pd.read_csv(file, keep_default_na=False) for file in given.cleaning]
    cleaning = pd.concat(tables, ignore_index=True)
    names = sorted({*cleaning["source"], *measured} & sources.keys())
    return {
        "cleaning": cleaned(cleaning, sources),
        "sources": [source_facts(name, sources[name], root) for name in names],
    }


def settings_shown(given: argparse.Namespace, models: dict, published: Path, root: Path) -> dict:
    """Return the configuration, the project's own words, and the names that the page looks up."""
    return {
        "name": given.configuration.get("name", ""),
        "about": {
            name: paragraphs((root / f"report/{name}.rst").read_text(encoding="utf-8"))
            for name in ("workflow", "all")
        },
        "settings": given.configuration,
        "configuration": yaml.safe_dump(given.configuration, sort_keys=False, allow_unicode=True),
        "alone": given.alone,
        "entry_of": lambda name: models.get(name, {}),
        "stage_of": stage_of,
        "title_of": partial(model_title, models=models),
        "method_title": method_title,
        "reported": {*published_claims(published)["model"].str.split("; ").explode()},
    }


def remove_others(publish: Path, items: list[dict]) -> None:
    """Remove the figures and tables that an earlier configuration of this name made. Their numbers
    are not those of the page, and a paper would take them.
    """
    made = {publish / file for item in items for file in files_of(item)}
    made |= {publish / f"{name}.manifest.json" for name in ("findings", *studies_of(items))}
    others = [
        file
        for pattern in ("*.manifest.json", "figures/*.*", "tables/*.*")
        for file in sorted(publish.glob(pattern))
        if file not in made and file.name[0] != "."
    ]
    for file in others:
        file.unlink()
        log.info("%s: removed, since this study no longer makes it", file)


def main(given: argparse.Namespace) -> None:
    if given.texts:
        shown = json.loads(given.texts.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            given.resources, given.texts = Path(folder, "resources"), None
            write_texts(shown["texts"], Path(folder))
            write_texts(texts_of(**shown["papers"]), given.resources)
            return main(given)
    resources, root = given.resources, given.resources.resolve().parent
    sources, models, studies = (
        entries_of(resources / f"{name}.yaml") for name in ("sources", "models", "studies")
    )
    published = resources / "published.csv"
    metrics = read_metrics(given.metrics).to_pandas()
    released = read_metrics(given.metrics, others=True)["dataset"].to_pylist()
    located_runs = [located(file, given.output) for file in given.runs]
    runs = sorted(located_runs, key=lambda facts: facts["run"])
    scores, networks = read_scores(given.metrics), networks_of(located_runs)
    compared = read_comparisons(given.metrics)
    findings = findings_of(scores, compared, studies, sources, models, networks, published)
    first_screen = {"findings": findings, "shared_caveats": shared_caveats(findings)}
    results = results_shown(given, studies, metrics, runs)
    page = templates().get_template("page.html.j2")
    html = page.render(
        **first_screen,
        **results,
        **runs_shown(metrics, runs),
        **sources_shown(given, sources, {*metrics["source"], *released}, root),
        **settings_shown(given, models, published, root),
    )
    beside = given.output.with_name("findings.json")
    with whole(given.output) as place, whole(beside) as place_beside:
        place.write_text(html.translate(TURNS), encoding="utf-8")
        place_beside.write_text(json.dumps(first_screen, indent=1), encoding="utf-8")
    describe_beside(beside)
    if not given.alone:
        remove_others(given.publish, read_yaml(resources / "figures.yaml"))
    items = sum(len(section["items"]) for section in results["studies"])
    counts = len(results["studies"]), items, len(html.encode()) // 1024
    log.info("%s: %d studies, %d figures and tables, %d KB", given.output, *counts)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    for name, help_text, more in (
        ("--metrics", "results/evaluate/<name>/metrics.parquet", {}),
        ("--resources", "the folder resources/, with report/ beside it", {"required": False}),
        (
            "--texts",
            "JSON instead of it: texts, its files by path, and papers (scripts/data/papers.py)",
            {"required": False},
        ),
        ("--publish", "the folder with figures/ and tables/", {}),
        ("--cleaning", "cleaning.csv of each source", {"nargs": "+"}),
        ("--runs", "run.json of each run", {"nargs": "+"}),
        ("--configuration", "JSON: the configuration", {"type": json_object}),
        ("--provenance", "JSON: {name of a figure or table: {rule, code}}", {"type": json_object}),
        ("--output", "the HTML file to write", {}),
    ):
        options.add_argument(name, help=help_text, **{"type": Path, "required": True} | more)
    options.set_defaults(
        alone=False,
        reads=lambda given: [
            given.metrics,
            comparisons_beside(given.metrics),
            *given.cleaning,
            *given.runs,
        ],
    )
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
