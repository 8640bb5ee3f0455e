"""What a record says of itself: its README.md, and the list of the records of a folder. Not a program."""

from pathlib import Path

from scripts.publish.provenance import commit_told
from scripts.publish.recorded import FACTS, read_record
from scripts.publish.table import markdown

HEAD = """# The record

What timestride has measured, kept with the project. A record has every number of a study with its interval, the facts of every run, and the
command and the commit that made them. `snakemake record --configfile presets/<study>.yaml` writes it (`scripts/publish/record.py`), nobody by
hand. No text of a corpus is in it.

    python -m scripts.publish.record --check docs/record          # which records other code would decide today, and which code
    python -m scripts.publish.record --redraw docs/record/<study> # draws the figures of a record from its numbers, and compares the points

| file | holds |
| --- | --- |
| `metrics.csv.gz` | a line a number (the columns: [docs/data.md](../data.md)) |
| `draws.parquet` | the bootstrap draws that figures compare by |
| `runs.csv` | a line a run, with all that its `run.json` says |
| `history.csv` | the loss of each run by epoch |
| `record.json` | all of the rest |
| `figures/`, `tables/` | what README.md or docs/*.md link (`docs/record/<study>/figures/<item>.svg`), and nothing else |

The page of a study shows all its figures and tables: the command of the record makes it.

"""


def page(record: dict, numbers: int) -> str:
    """README.md of a record."""
    facts = [
        ("made by", f"`{record['command']}`"),
        ("timestride", commit_told(record["timestride"])),
        ("of the runs", ", ".join(record["commits_of_runs"])),
        ("recorded", record["recorded"]),
        ("runs", f"{len(record['runs']):,}"),
        ("numbers", f"{numbers:,}"),
        ("machines", "; ".join(record["machines"])),
        *record["spent"].items(),
    ]
    lines = [
        f"# The study `{record['name']}`",
        "",
        "Its numbers at the commit below ([what the files hold](../README.md)). Whether other code would decide",
        "them today, `python -m scripts.publish.record --check docs/record` says. The command below makes the page, with all figures and tables.",
        "",
        "| | |",
        "| --- | --- |",
        *(f"| {name} | {told if name == 'made by' else markdown(told)} |" for name, told in facts),
        "",
    ]
    for name, figure in record["figures"].items():
        lines += [
            f"## {markdown(figure['title'])}",
            "",
            f"![{markdown(figure['title'])}](figures/{name}.svg)",
            "",
            f"Study {markdown(figure['study'])}; its points: [{name}.csv](figures/{name}.csv).",
            "",
        ]
    if record["tables"]:
        lines += [
            "## Tables",
            "",
            *(
                f"* [{markdown(title)}](tables/{name}.md) ([CSV](tables/{name}.csv))"
                for name, title in record["tables"].items()
            ),
            "",
        ]
    return "\n".join(lines)


def records_in(folder: Path) -> list[Path]:
    """The records of a folder."""
    return sorted(file.parent for file in folder.glob(f"*/{FACTS}"))


def index(folder: Path) -> str:
    """README.md of the folder of records: what a record is, and a line a record."""
    lines = [
        "| study | runs | recorded | timestride | CPU time of the runs |",
        "| --- | ---: | --- | --- | ---: |",
    ]
    for place in records_in(folder):
        record = read_record(place)
        lines.append(
            f"| [{record['name']}]({place.name}/README.md) | {len(record['runs']):,} | {record['recorded']} | "
            f"{commit_told(record['timestride'])} | {record['spent']['CPU time of the runs']} |"
        )
    return HEAD + "\n".join(lines if len(lines) > 2 else ["No study has been recorded yet."]) + "\n"
