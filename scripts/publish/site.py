"""Make the page: one HTML file that opens from disk, with every figure, table and number and how it was made.

The page loads nothing: styles, a script of our own and figures (SVG) stand inside it; PDF, PNG and CSV beside it are linked. What is shown
follows resources/figures.yaml, study by study; every text from a corpus, a resource or a caption is escaped.

Reads  metrics.parquet, resources/{figures,studies,sources,models}.yaml, resources/published.csv, the captions that
       figures.yaml names (beside resources/), resources/left_out.yaml where anything was left out, <publish>/figures/<name>.svg, <publish>/tables/<name>.csv,
       cleaning.csv of each source, run.json of each run
Writes the page, and findings.json beside it: what its first screen says, for the list of studies (scripts/publish/index.py)

    python -m scripts.publish.site --metrics results/evaluate/default/metrics.parquet --resources resources \\
        --publish results/publish --cleaning results/clean/*/cleaning.csv --runs results/train/*/*/run.json \\
        --configuration '{"run": […], "experiments": {…}}' \\
        --provenance '{"accuracy_by_stride": {"rule": …, "code": …}}' \\
        --output results/publish/site/index.html
"""

import argparse
import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import yaml

from scripts.data.csv_files import read_csv
from scripts.data.files import sha256_of, whole
from scripts.plan.models import STAGES, stage_of
from scripts.running.program import UserError, execute, log, parser
from scripts.data.runs import facts_of
from scripts.data.tables import read_metrics
from scripts.data.yaml_files import read_yaml
from scripts.publish.comparison import paper_of, published_claims
from scripts.publish.findings import findings_of, shared_caveats
from scripts.publish.marks import with_replicates
from scripts.publish.names import load, method_title, model_title
from scripts.publish.parts import data_url, size_of, templates, told_and_folded
from scripts.publish.provenance import machine_of, mixture, provenance_of
from scripts.publish.reading import cards_of, paper_tables, verdict_rows
from scripts.publish.scorecard.cells import networks_of, read_scores
from scripts.publish.scorecard.card import read_left_out

ALL = "all"  # the study of what is about all of them
WIDE = 14  # characters from which on a column of a table is not squeezed to the width of its longest word
OTHERS = {"figure": ["pdf", "png", "svg", "csv"], "table": ["csv", "md", "tex"]}
FOLDERS = {"figure": "figures", "table": "tables"}


def paragraphs(file: Path) -> list[str]:
    """The paragraphs of a plain text, lines joined."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(
            f"{file}: no such file; write the caption there in plain paragraphs"
        ) from None
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def over_replicates(texts: list[str], runs: list[dict]) -> list[str]:
    """Texts that speak of seeds, in which that is what the runs of a study are replicates by: seeds, wordings or both."""
    asked = [
        fact.get("wording") is not None
        for fact in runs
        if fact["method"] not in ("control", *STAGES)
    ]
    return [with_replicates(text, not all(asked), any(asked)) for text in texts]


def readable_table(file: Path, heads: list[str] | None) -> dict:
    """A CSV of text cells: the look of each column (a CSS class: n of numbers, wide of long texts), and the rows in groups by `heads`.

    heads is the columns that head the groups; None for the words before the first number, as many of them as make groups of several rows.
    """
    table = read_csv(file)
    number = dict(
        zip(
            table,
            table.apply(lambda column: column.str.fullmatch(r"[-−]?[\d,.–e]*( ± [\d.]+)?").all()),
        )
    )
    if heads is None:
        numbers = [name for name in table if number[name]]
        heads = list(table)[: list(table).index(numbers[0])] if numbers else []
        while len(heads) > 1 and 2 * len(table[heads].drop_duplicates()) > len(table):
            heads = heads[:-1]
    rest = [name for name in table if name not in heads]
    groups: dict[tuple, list] = {}
    for head, row in zip(table[heads].to_numpy().tolist(), table[rest].to_numpy().tolist()):
        groups.setdefault(tuple(head), []).append(row)
    return {
        "header": rest,
        "looks": [
            "n" if number[name] else "wide" if table[name].str.len().max() > WIDE else ""
            for name in rest
        ],
        "groups": [
            {"title": " · ".join(filter(None, head)), "rows": rows} for head, rows in groups.items()
        ],
    }


def published_item(
    item: dict, publish: Path, root: Path, output: Path, provenance: dict, runs: list[dict]
) -> dict:
    """A figure or table as the template wants it; runs: those that it may show, which its caption counts by seeds or by wordings."""
    base = publish / FOLDERS[item["kind"]] / item["name"]
    links = [
        (suffix.upper(), os.path.relpath(f"{base}.{suffix}", output.parent))
        for suffix in OTHERS[item["kind"]]
    ]
    caption = paragraphs(root / item["caption"])
    if item["study"] != ALL:
        caption = over_replicates(caption, runs)
    shown = (
        {"show": item["kind"]}
        | item
        | {
            "caption": told_and_folded(caption),
            "links": links,
            "provenance": provenance.get(item["name"], {}),
        }
    )
    if item["kind"] == "figure":
        svg = base.with_name(f"{item['name']}.svg").read_bytes()
        dark = base.with_name(f"{item['name']}.dark.svg")
        return shown | {
            "image": data_url(svg),
            "size": size_of(svg),
            "dark": data_url(dark.read_bytes()) if dark.is_file() else "",
        }
    file = base.with_name(f"{item['name']}.csv")
    readers = {"verdicts": verdict_rows, "published": paper_tables, "cards": cards_of}
    if read := readers.get(shown["show"]):
        return shown | {shown["show"]: read(file)}
    return shown | {"table": readable_table(file, item.get("heads"))}


def cleaned(files: list[Path], sources: dict) -> list[dict]:
    """Per source the table of what cleaning did: a row for each thing, a column for each split; no rows of zeros."""
    tables = []
    for file in files:
        counts = pd.read_csv(file, keep_default_na=False)
        if counts.empty:
            continue
        wide = counts.pivot_table(
            index=["unit", "action", "reason"],
            columns="split",
            values="count",
            aggfunc="sum",
            sort=False,
        )
        wide = wide[list(dict.fromkeys(counts["split"]))]
        wide = wide[wide.fillna(0).any(axis=1)]
        rows = [
            [*index, *("" if pd.isna(value) else f"{int(value):,}" for value in values)]
            for index, values in zip(wide.index, wide.to_numpy())
        ]
        name = counts["source"].iloc[0]
        entry = sources.get(name, {})
        tables.append(
            {
                "title": entry.get("title", name),
                "splits": list(wide),
                "rows": rows,
                "sample": "sample" in entry,
            }
        )
    return tables


def source_facts(names: list[str], sources: dict, root: Path) -> list[dict]:
    """Titles, licences, citations and file hashes of the corpora; root: the folder that local ones are in.

    Raises UserError for a homepage that is no web address: a link may run what it names.
    """
    rows = []
    for name in names:
        entry = sources[name]
        if "homepage" in entry and not re.match(r"https?://[^/\s]", str(entry["homepage"])):
            raise UserError(
                f"resources/sources.yaml: {name}: homepage {str(entry['homepage'])[:60]!r} is no web address; write "
                "https://…"
            )
        files = (
            {Path(entry["local"]).name: sha256_of(root / entry["local"])}
            if "local" in entry
            else {}
        )
        for download in entry.get("downloads", []):
            for file, fact in (download.get("members") or {download["file"]: download}).items():
                files[file] = fact["sha256"] or "not published"
        rows.append(
            {
                "name": name,
                "files": files,
                "sample": entry.get("sample"),
                **{key: entry.get(key, "") for key in ("title", "licence", "citation", "homepage")},
            }
        )
    return rows


def model_facts(names: list[str], models: dict, published: set[str]) -> list[dict]:
    """Where the models come from, and whether the paper reports them."""
    rows = []
    for name in names:
        entry = models.get(name, {})
        places = [str(entry[key]) for key in ("hub", "revision", "folder") if key in entry]
        none = "a control: no weights" if "control" in entry else ""
        made = stage_of(entry)
        stage = (
            f"{'an' if made[0] == 'mlm' else 'a'} {made[0].upper()} stage of {model_title(made[1]['model'], models)}"
            if made
            else ""
        )
        rows.append(
            {
                "title": model_title(name, models),
                "licence": entry.get("licence", ""),
                "published": name in published,
                "origin": " ".join(places)
                or none
                or stage
                or "weights drawn here from the run's seed",
            }
        )
    return rows


def left_out_groups(left_out: list[dict], models: dict, studies: dict) -> list[dict]:
    """What was not asked: of each model and reason, in which studies and by which methods."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in left_out:
        study = studies.get(entry["study"], {}).get("title", entry["study"])
        told = groups.setdefault((entry["model"], entry["reason"]), [])
        told += [text] if (text := f"{study}: {method_title(entry['method'])}") not in told else []
    return [
        {"model": model_title(model, models), "reason": reason, "what": told}
        for (model, reason), told in groups.items()
    ]


def run_title(fact: dict, models: dict) -> str:
    """A run's model, and its method where it has one that is not plain training."""
    method = fact.get("method", "train")
    wording = fact.get("wording")
    return (
        model_title(fact["model"], models)
        + ("" if method == "train" else f", {method_title(method)}")
        + ("" if wording is None else f", wording {wording}")
    )


def main(given: argparse.Namespace) -> None:
    resources, root = given.resources, given.resources.resolve().parent
    sources, models, studies = (
        load(resources / f"{name}.yaml") for name in ("sources", "models", "studies")
    )
    published = published_claims(resources / "published.csv")
    metrics = read_metrics(given.metrics).to_pandas()
    runs = sorted(map(facts_of, given.runs), key=lambda facts: facts["run"])
    cleaning = pd.concat(
        [pd.read_csv(file, keep_default_na=False) for file in given.cleaning], ignore_index=True
    )
    configuration, provenance = json.loads(given.configuration), json.loads(given.provenance)

    def published_items(study: str, own: list[dict]) -> list[dict]:
        return [
            published_item(item, given.publish, root, given.output, provenance, own)
            for item in read_yaml(resources / "figures.yaml")
            if item["study"] == study
        ]

    sections = []
    for study in [name for name in studies if name in set(metrics["study"])]:
        own, entry = [fact for fact in runs if fact["study"] == study], studies[study]
        question = over_replicates(paragraphs(root / "report" / f"{study}.rst"), own)
        sections.append(
            {
                "name": study,
                "title": entry["title"],
                "short": entry.get("short", entry["title"]),
                "paper": entry["paper"],
                "question": told_and_folded(question),
                "items": published_items(study, own),
                "machines": mixture(own),
            }
        )
    reported = {
        model for _, claim in published.iterrows() for model in paper_of(claim).get("model", [])
    }
    experiments = [
        {"name": name, "title": configuration["experiments"][name].get("title", name)}
        for name in configuration["run"]
    ]
    datasets = {
        (fact["source"], fact["dataset"], split): digest
        for fact in runs
        for split, digest in fact["data"].items()
    }
    scores, networks = read_scores(given.metrics), networks_of(given.runs)
    found = findings_of(scores, studies, sources, models, networks, resources / "published.csv")
    first_screen = {
        "findings": [asdict(one) for one in found],
        "shared_caveats": shared_caveats(found),
    }
    html = (
        templates()
        .get_template("page.html.j2")
        .render(
            {
                **first_screen,
                "about": paragraphs(root / "report" / "workflow.rst"),
                "about_all": paragraphs(root / "report" / f"{ALL}.rst"),
                "studies": sections,
                "experiments": experiments,
                "all_items": published_items(
                    ALL, [fact for fact in runs if fact["study"] in studies]
                ),
                "left_out": left_out_groups(
                    read_left_out(resources / "left_out.yaml"), models, studies
                ),
                "sample": bool(metrics["sample"].any()),
                "all_sample": bool(metrics["sample"].all()),
                "limits": [f"{limit:,.0f}" for limit in sorted(metrics["limit"].dropna().unique())],
                "cleaning": cleaned(given.cleaning, sources),
                "sources": source_facts(sorted(set(cleaning["source"])), sources, root),
                "models": model_facts(sorted({fact["model"] for fact in runs}), models, reported),
                "runs": [
                    fact | {"title": run_title(fact, models), "machine": machine_of(fact)}
                    for fact in runs
                ],
                "datasets": [(*key, digest) for key, digest in sorted(datasets.items())],
                "metrics_sha256": sha256_of(given.metrics),
                "made_by": provenance_of(runs),
                "configuration": yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True),
            }
        )
    )
    with whole(given.output) as place, whole(given.output.with_name("findings.json")) as beside_it:
        place.write_text(html, encoding="utf-8")
        beside_it.write_text(json.dumps(first_screen, indent=1), encoding="utf-8")
    log.info(
        "%s: %d studies, %d figures and tables, %d KB",
        given.output,
        len(sections),
        sum(len(section["items"]) for section in sections),
        len(html.encode()) // 1024,
    )


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--metrics", type=Path, required=True, help="results/evaluate/<name>/metrics.parquet"
    )
    options.add_argument(
        "--resources",
        type=Path,
        required=True,
        help="the folder resources/; report/ stands beside it",
    )
    options.add_argument(
        "--publish", type=Path, required=True, help="the folder with figures/ and tables/"
    )
    options.add_argument(
        "--cleaning", type=Path, nargs="+", required=True, help="cleaning.csv of each source"
    )
    options.add_argument("--runs", type=Path, nargs="+", required=True, help="run.json of each run")
    options.add_argument("--configuration", required=True, help="JSON: the configuration")
    options.add_argument(
        "--provenance", required=True, help="JSON: {name of a figure or table: {rule, code}}"
    )
    options.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
