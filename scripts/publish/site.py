"""Make the page: one HTML file that opens from disk, with every figure, table and number and how it was made.

The page loads nothing: styles and figures (SVG) stand inside it; PDF, PNG and CSV beside it are linked. What is shown
follows resources/figures.yaml, study by study; every text from a corpus, a resource or a caption is escaped.

Reads  metrics.parquet, resources/{figures,studies,sources,models}.yaml, resources/published.csv, the captions that
       figures.yaml names (beside resources/), resources/left_out.yaml where anything was left out, <publish>/figures/<name>.svg, <publish>/tables/<name>.csv,
       cleaning.csv of each source, run.json of each run
Writes the page

    python -m scripts.publish.site --metrics results/evaluate/default/metrics.parquet --resources resources \\
        --publish results/publish --cleaning results/clean/*/cleaning.csv --runs results/train/*/*/run.json \\
        --configuration '{"run": […], "experiments": {…}}' \\
        --provenance '{"accuracy_by_stride": {"rule": …, "code": …}}' \\
        --output results/publish/site/index.html
"""

import argparse
import base64
import json
import os
import re
from pathlib import Path

import jinja2
import pandas as pd
import yaml

from scripts.common.csv_files import read_csv
from scripts.common.files import sha256_of, whole
from scripts.common.handed import has_options
from scripts.common.items import HUMAN
from scripts.common.models import STAGES, stage_of
from scripts.common.program import UserError, execute, log, parser
from scripts.common.runs import facts_of
from scripts.common.tables import read_metrics
from scripts.common.yaml_files import read_yaml
from scripts.publish.comparison import DIFFERENCE, Facts, findings, paper_of, published_claims, settings_of, trends
from scripts.publish.findings import findings_of, shared_caveats
from scripts.publish.machines import machine_of, mixture
from scripts.publish.marks import with_replicates
from scripts.publish.names import load, method_title, model_title
from scripts.publish.provenance import provenance_of
from scripts.publish.scorecard.cells import networks_of, read_scores
from scripts.publish.scorecard.layout import read_left_out

SHOWN = 45  # words of a caption that are not folded away
ALL = "all"  # the study of what is about all of them
TEMPLATES = Path(__file__).parent / "templates"
OTHERS = {"figure": ["pdf", "png", "svg", "csv"], "table": ["csv", "md", "tex"]}
FOLDERS = {"figure": "figures", "table": "tables"}


def paragraphs(file: Path) -> list[str]:
    """The paragraphs of a plain text, lines joined."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{file}: no such file; write the caption there in plain paragraphs") from None
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def over_replicates(texts: list[str], runs: list[dict]) -> list[str]:
    """Texts that speak of seeds, in which that is what the runs of a study are replicates by: seeds, wordings or both."""
    asked = [fact.get("wording") is not None for fact in runs if fact["method"] not in ("control", *STAGES)]
    return [with_replicates(text, not all(asked), any(asked)) for text in texts]


def readable_table(file: Path, heads: list[str] | None) -> dict:
    """A CSV of text cells: which columns are numbers, and the rows in groups by `heads`.

    heads is the columns that head the groups; None for the words before the first number.
    """
    table = read_csv(file)
    number = dict(zip(table, table.apply(lambda column: column.str.fullmatch(r"[-−]?[\d,.–e]*( ± [\d.]+)?").all())))
    if heads is None:
        numbers = [name for name in table if number[name]]
        heads = list(table)[: list(table).index(numbers[0])] if numbers else []
    rest = [name for name in table if name not in heads]
    groups: dict[tuple, list] = {}
    for head, row in zip(table[heads].to_numpy().tolist(), table[rest].to_numpy().tolist()):
        groups.setdefault(tuple(head), []).append(row)
    return {"header": rest, "number": [number[name] for name in rest],
            "groups": [{"title": " · ".join(filter(None, head)), "rows": rows} for head, rows in groups.items()]}


def example_groups(file: Path) -> list[dict]:
    """Examples to read, in groups by all columns but those of the pair."""
    pair = {"Outcome", "First", "Second", "P(right order)", "Pair"}
    groups: dict[str, list] = {}
    for record in read_csv(file).to_dict("records"):
        about = [f"{name.lower()} {value}" if value.isdigit() else value
                 for name, value in record.items() if name not in pair]
        groups.setdefault(" · ".join(about), []).append(record)
    return [{"title": title, "examples": records} for title, records in groups.items()]


def is_made(item: dict, runs: list[dict], is_probe: bool = False, answered: bool = False) -> bool:
    """Whether one of the study's runs is what a figure or table needs (the rules make no other); what is about all studies is made
    where several studies or models ran, and in a probe. answered: whether people answered (`needs_people`)."""
    if item.get("needs_people"):
        return answered
    runs = [fact for fact in runs if fact["method"] != "control" or not item.get("needs_model")]
    if item["study"] == ALL and not is_probe and max(len({fact["study"] for fact in runs}), len({fact["model"] for fact in runs})) < 2:
        return False
    if item.get("needs_wordings"):
        runs = [fact for fact in runs if fact.get("wording")]
    return any(has_options(fact["data_options"], item.get("needs", {})) for fact in runs)


def question_groups(file: Path) -> list[dict]:
    """Questions to read, each with its candidates, in groups by the columns before Category; those after Question are of a
    candidate, and shown where they hold anything."""
    table = read_csv(file)
    of_candidate = list(table)[list(table).index("Question") + 1:]
    about = [name for name in table if name not in ("Category", "Outcome", "Question", *of_candidate)]
    groups: dict[str, list] = {}
    for key, rows in table.groupby([*about, "Category", "Outcome", "Question"], sort=False):
        facts = dict(zip(["Category", "Outcome", "Question"], key[len(about):]))
        columns = [name for name in of_candidate if name not in ("Read as", "Right") and (rows[name] != "").any()]
        columns.sort(key=lambda name: name == "P(likely)")  # last
        groups.setdefault(" · ".join(key[: len(about)]), []).append(
            facts | {"columns": columns, "candidates": rows.to_dict("records")})
    return [{"title": title, "questions": questions} for title, questions in groups.items()]


def data_url(svg: bytes) -> str:
    """A picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def size_of(svg: bytes) -> tuple[int, int]:
    """Width and height of a picture, in points; the same for both where it does not tell."""
    found = re.search(rb'<svg[^>]*\bviewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    return (round(float(found[1])), round(float(found[2]))) if found else (1, 1)


def told_and_folded(texts: list[str]) -> dict[str, list[str]]:
    """A caption as what is told at once, the sentences up to SHOWN words of its first paragraph, and what is folded away."""
    sentences = re.split(r"(?<=[.:;!?]) (?=[A-Z])", texts[0])
    words = [len(" ".join(sentences[:number]).split()) for number in range(1, len(sentences) + 1)]
    number = max(1, sum(count <= SHOWN for count in words))
    rest = " ".join(sentences[number:])
    if len(" ".join([rest, *texts[1:]]).split()) <= SHOWN // 3:  # too little to fold
        return {"told": texts, "folded": []}
    return {"told": [" ".join(sentences[:number])], "folded": [*([rest] if rest else []), *texts[1:]]}


def published_item(item: dict, publish: Path, root: Path, output: Path, provenance: dict, runs: list[dict]) -> dict:
    """A figure or table as the template wants it; runs: those that it may show, which its caption counts by seeds or by wordings."""
    base = publish / FOLDERS[item["kind"]] / item["name"]
    links = [(suffix.upper(), os.path.relpath(f"{base}.{suffix}", output.parent)) for suffix in OTHERS[item["kind"]]]
    caption = paragraphs(root / item["caption"])
    shown = item | {"caption": told_and_folded(caption if item["study"] == ALL else over_replicates(caption, runs)), "links": links,
                    "provenance": provenance.get(item["name"], {})}
    if item["kind"] == "figure":
        svg = base.with_name(f"{item['name']}.svg").read_bytes()
        dark = base.with_name(f"{item['name']}.dark.svg")
        return shown | {"image": data_url(svg), "size": size_of(svg), "dark": data_url(dark.read_bytes()) if dark.is_file() else ""}
    file = base.with_name(f"{item['name']}.csv")
    if item.get("show") == "examples" and "Candidate" in read_csv(file):
        return shown | {"show": "questions", "groups": question_groups(file)}
    if item.get("show") == "examples":
        return shown | {"show": "examples", "groups": example_groups(file)}
    return shown | {"show": "table", "table": readable_table(file, item.get("heads"))}


def with_commas(text: str) -> str:
    """Whole numbers from ten thousand on as 20,000; any other text as it is."""
    return f"{int(text):,}" if text.isdigit() and len(text) > 4 else text


def unit_words(unit: str) -> str:
    """A unit in words; `points over context_scope=target; dataset=target*` as `points over target`."""
    if not unit.startswith(DIFFERENCE):
        return unit.replace("_", " ")
    values = dict.fromkeys(value for key, value in settings_of(unit.removeprefix(DIFFERENCE)).items() if key != "dataset")
    return (DIFFERENCE + ", ".join(values)).replace("_", " ")


def compared(study: str, published: pd.DataFrame, facts: Facts) -> dict:
    """The study's published claims, each with what was found here, and the trends that no claim is about."""
    claims = published[published["study"] == study]
    rows = [claim.to_dict() | {"value": with_commas(claim["value"]), "unit": unit_words(claim["unit"]),
                               "found": findings(claim, facts)}
            for _, claim in claims.iterrows()]
    known = {settings_of(setting).get("source") for setting in claims["setting"]}
    alone = facts.metrics[~facts.metrics["source"].isin(known) & (facts.metrics["slice"] == "all")]
    strided = "stride" in alone and alone["stride"].notna().any()
    return {"claims": rows, "unclaimed": trends(alone, "accuracy", "stride", facts, {}) if strided else []}


def cleaned(files: list[Path], sources: dict) -> list[dict]:
    """Per source the table of what cleaning did: a row for each thing, a column for each split; no rows of zeros."""
    tables = []
    for file in files:
        counts = pd.read_csv(file, keep_default_na=False)
        if counts.empty:
            continue
        wide = counts.pivot_table(index=["unit", "action", "reason"], columns="split", values="count", aggfunc="sum",
                                  sort=False)
        wide = wide[list(dict.fromkeys(counts["split"]))]
        wide = wide[wide.fillna(0).any(axis=1)]
        rows = [[*index, *("" if pd.isna(value) else f"{int(value):,}" for value in values)]
                for index, values in zip(wide.index, wide.to_numpy())]
        name = counts["source"].iloc[0]
        entry = sources.get(name, {})
        tables.append({"title": entry.get("title", name), "splits": list(wide), "rows": rows, "sample": "sample" in entry})
    return tables


def source_facts(names: list[str], sources: dict, root: Path) -> list[dict]:
    """Titles, licences, citations and file hashes of the corpora; root: the folder that local ones are in.

    Raises UserError for a homepage that is no web address: a link may run what it names.
    """
    rows = []
    for name in names:
        entry = sources[name]
        if "homepage" in entry and not re.match(r"https?://[^/\s]", str(entry["homepage"])):
            raise UserError(f"resources/sources.yaml: {name}: homepage {str(entry['homepage'])[:60]!r} is no web address; write "
                            "https://…")
        files = {Path(entry["local"]).name: sha256_of(root / entry["local"])} if "local" in entry else {}
        for download in entry.get("downloads", []):
            for file, fact in (download.get("members") or {download["file"]: download}).items():
                files[file] = fact["sha256"] or "not published"
        rows.append({"name": name, "files": files, "sample": entry.get("sample"),
                     **{key: entry.get(key, "") for key in ("title", "licence", "citation", "homepage")}})
    return rows


def model_facts(names: list[str], models: dict, published: set[str]) -> list[dict]:
    """Where the models come from, and whether the paper reports them."""
    rows = []
    for name in names:
        entry = models.get(name, {})
        places = [str(entry[key]) for key in ("hub", "revision", "folder") if key in entry]
        none = "a control: no weights" if "control" in entry else ""
        made = stage_of(entry)
        stage = f"{'an' if made[0] == 'mlm' else 'a'} {made[0].upper()} stage of {model_title(made[1]['model'], models)}" if made else ""
        rows.append({"title": model_title(name, models), "licence": entry.get("licence", ""), "published": name in published,
                     "origin": " ".join(places) or none or stage or "weights drawn here from the run's seed"})
    return rows


def left_out_groups(left_out: list[dict], models: dict, studies: dict) -> list[dict]:
    """What was not asked: of each model and reason, in which studies and by which methods."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in left_out:
        study = studies.get(entry["study"], {}).get("title", entry["study"])
        told = groups.setdefault((entry["model"], entry["reason"]), [])
        told += [text] if (text := f"{study}: {method_title(entry['method'])}") not in told else []
    return [{"model": model_title(model, models), "reason": reason, "what": told} for (model, reason), told in groups.items()]


def run_title(fact: dict, models: dict) -> str:
    """A run's model, and its method where it has one that is not plain training."""
    method = fact.get("method", "train")
    wording = fact.get("wording")
    return (model_title(fact["model"], models) + ("" if method == "train" else f", {method_title(method)}")
            + ("" if wording is None else f", wording {wording}"))


def page(context: dict) -> str:
    """The HTML of the page."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    return environment.get_template("page.html.j2").render(context)


def main(given: argparse.Namespace) -> None:
    resources, root = given.resources, given.resources.resolve().parent
    sources, models, studies = (load(resources / f"{name}.yaml") for name in ("sources", "models", "studies"))
    published = published_claims(resources / "published.csv")
    metrics = read_metrics(given.metrics, draws=True).to_pandas()
    means = metrics[metrics["seed"].isna()]
    runs = sorted(map(facts_of, given.runs), key=lambda facts: facts["run"])
    cleaning = pd.concat([pd.read_csv(file, keep_default_na=False) for file in given.cleaning], ignore_index=True)
    configuration, provenance = json.loads(given.configuration), json.loads(given.provenance)

    def published_items(study: str, own: list[dict]) -> list[dict]:
        return [published_item(item, given.publish, root, given.output, provenance, own) for item in read_yaml(resources / "figures.yaml")
                if item["study"] == study and is_made(item, own, bool(configuration.get("model")), answered(study))]

    def answered(study: str) -> bool:
        return HUMAN in set(metrics["model"][(metrics["study"] == study) | (study == ALL)])

    sections = []
    for study in [name for name in studies if name in set(metrics["study"])]:
        own = [fact for fact in runs if fact["study"] == study]
        facts = Facts(means[means["study"] == study], own, cleaning, sources, models)
        sections.append({"name": study, "title": studies[study]["title"], "short": studies[study].get("short", studies[study]["title"]), "paper": studies[study]["paper"],
                         "question": told_and_folded(over_replicates(paragraphs(root / "report" / f"{study}.rst"), own)),
                         "items": published_items(study, own), "machines": mixture(own),
                         "compared": compared(study, published, facts)})
    reported = {model for _, claim in published.iterrows() for model in paper_of(claim).get("model", [])}
    experiments = [{"name": name, "title": configuration["experiments"][name].get("title", name)}
                   for name in configuration["run"]]
    datasets = {(fact["source"], fact["dataset"], split): digest
                for fact in runs for split, digest in fact["data"].items()}
    found = findings_of(read_scores(given.metrics), studies, sources, models, networks_of(given.runs), resources / "published.csv")
    html = page({
        "findings": found, "shared_caveats": shared_caveats(found),
        "about": paragraphs(root / "report" / "workflow.rst"), "about_all": paragraphs(root / "report" / f"{ALL}.rst"), "studies": sections, "experiments": experiments,
        "all_items": published_items(ALL, [fact for fact in runs if fact["study"] in studies]),
        "left_out": left_out_groups(read_left_out(resources / "left_out.yaml"), models, studies),
        "sample": bool(metrics["sample"].any()), "all_sample": bool(metrics["sample"].all()),
        "limits": [f"{limit:,.0f}" for limit in sorted(metrics["limit"].dropna().unique())],
        "cleaning": cleaned(given.cleaning, sources),
        "sources": source_facts(sorted(set(cleaning["source"])), sources, root),
        "models": model_facts(sorted({fact["model"] for fact in runs}), models, reported),
        "runs": [fact | {"title": run_title(fact, models), "machine": machine_of(fact)} for fact in runs],
        "datasets": [(*key, digest) for key, digest in sorted(datasets.items())],
        "metrics_sha256": sha256_of(given.metrics), "made_by": provenance_of(runs),
        "configuration": yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True),
    })
    with whole(given.output) as beside_it:
        beside_it.write_text(html, encoding="utf-8")
    log.info("%s: %d studies, %d figures and tables, %d KB", given.output, len(sections),
             sum(len(section["items"]) for section in sections), len(html.encode()) // 1024)


def arguments() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument("--metrics", type=Path, required=True, help="results/evaluate/<name>/metrics.parquet")
    options.add_argument("--resources", type=Path, required=True, help="the folder resources/; report/ stands beside it")
    options.add_argument("--publish", type=Path, required=True, help="the folder with figures/ and tables/")
    options.add_argument("--cleaning", type=Path, nargs="+", required=True, help="cleaning.csv of each source")
    options.add_argument("--runs", type=Path, nargs="+", required=True, help="run.json of each run")
    options.add_argument("--configuration", required=True, help="JSON: the configuration")
    options.add_argument("--provenance", required=True, help="JSON: {name of a figure or table: {rule, code}}")
    options.add_argument("--output", type=Path, required=True, help="the HTML file to write")
    return options


if __name__ == "__main__":
    execute(main, arguments().parse_args())
