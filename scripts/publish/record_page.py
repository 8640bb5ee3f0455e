"""What a record says of itself: its README.md, and the list of the records of a folder.

Not a program.
"""

from pathlib import Path

from scripts.publish.parts import templates
from scripts.publish.provenance import commit_told
from scripts.publish.recorded import FACTS, read_record
from scripts.publish.table import markdown


def rendered(template: str, **told: object) -> str:
    """A file of Markdown, by a template of templates/record/."""
    environment = templates()
    environment.filters |= {"commit": commit_told, "markdown": markdown}
    return environment.get_template(f"record/{template}.md.j2").render(told)


def page(record: dict, numbers: int) -> str:
    """README.md of a record."""
    return rendered("page", record=record, numbers=numbers)


def records_in(folder: Path) -> list[Path]:
    """The records of a folder."""
    return sorted(file.parent for file in folder.glob(f"*/{FACTS}"))


def index(folder: Path) -> str:
    """README.md of the folder of records: what a record is, and a line a record."""
    return rendered(
        "list", records=[(place.name, read_record(place)) for place in records_in(folder)]
    )
