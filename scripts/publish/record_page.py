"""What a record says of itself: its README.md, and the list of the records of a folder. Not a program."""

from pathlib import Path

from scripts.publish.provenance import commit_told
from scripts.publish.recorded import FACTS, read_record
from scripts.publish.table import markdown

HEAD = """# The record

What timestride has measured, kept with the project: of each study every number with its interval, the facts of every run, the figures and the
tables, and the command and the commit that made them. Written by `snakemake record --configfile presets/<study>.yaml`
(`scripts/publish/record.py`), never by hand; texts of the corpora are not in it.

    python -m scripts.publish.record --check docs/record          # which records other code would decide today, and which code
    python -m scripts.publish.record --redraw docs/record/<study> # draws each figure from the numbers here, and compares

In a record, `metrics.csv.gz` is a line a number (the columns: [docs/data.md](../data.md)), `runs.csv` a line a run with all that its `run.json`
tells, `history.csv` its loss by epoch, `draws.parquet` the bootstrap draws that figures compare by, `figures/` and `tables/` what the page
shows, `record.json` all of the rest.

"""


def page(record: dict, numbers: int) -> str:
    """README.md of a record."""
    facts = [("made by", f"`{record['command']}`"), ("timestride", commit_told(record["timestride"])), ("of the runs", ", ".join(record["commits_of_runs"])),
             ("recorded", record["recorded"]), ("runs", f"{len(record['runs']):,}"), ("numbers", f"{numbers:,}"),
             ("machines", "; ".join(record["machines"])), *((name, told) for name, told in record["spent"].items())]
    lines = [f"# The study `{record['name']}`", "", "Numbers, figures and tables at the commit below; whether other code would decide them today,",
             "`python -m scripts.publish.record --check docs/record` tells.", "", "| | |", "| --- | --- |",
             *(f"| {name} | {told if name == 'made by' else markdown(told)} |" for name, told in facts), ""]
    for name, figure in record["figures"].items():
        lines += [f"## {markdown(figure['title'])}", "", f"![{markdown(figure['title'])}](figures/{name}.svg)", "",
                  f"Study {markdown(figure['study'])}; its points: [{name}.csv](figures/{name}.csv).", ""]
    if record["tables"]:
        lines += ["## Tables", "", *(f"* [{markdown(title)}](tables/{name}.md) ([CSV](tables/{name}.csv))" for name, title in record["tables"].items()), ""]
    return "\n".join(lines)


def records_in(folder: Path) -> list[Path]:
    """The records of a folder."""
    return sorted(file.parent for file in folder.glob(f"*/{FACTS}"))


def index(folder: Path) -> str:
    """README.md of the folder of records: what a record is, and a line a record."""
    lines = ["| study | runs | figures | recorded | timestride | CPU time of the runs |", "| --- | ---: | ---: | --- | --- | ---: |"]
    for place in records_in(folder):
        record = read_record(place)
        lines.append(f"| [{record['name']}]({place.name}/README.md) | {len(record['runs']):,} | {len(record['figures'])} | {record['recorded']} | "
                     f"{commit_told(record['timestride'])} | {record['spent']['CPU time of the runs']} |")
    return HEAD + "\n".join(lines if len(lines) > 2 else ["No study has been recorded yet."]) + "\n"
