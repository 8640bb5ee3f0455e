"""The benchmarks that a configuration audits: their files, and the words of the program.

A benchmark is a source of kind choices, or a file whose columns are guessed. Not a program.
"""

from functools import cache
from pathlib import Path

from scripts.data.files import name_of_place
from scripts.plan.sources import columns_of, fetched_folder
from scripts.plan.workplan import Workplan
from scripts.running.program import UserError, closest, cut


@cache
def benchmarks_of(work: Workplan) -> dict[str, str]:
    """Return the source or the file of each benchmark, by name. Raises UserError for a word that is
    neither, and for a file that cannot be read as questions with options.
    """
    asked = work.config.benchmark or []
    known = [name for name, entry in work.sources.items() if "answers_are" in entry]
    found: dict[str, str] = {}
    for benchmark in [asked] if isinstance(asked, str) else asked:
        name = benchmark
        if benchmark not in known:
            if not Path(benchmark).is_file():
                raise UserError(
                    f"benchmark: {cut(benchmark)} is no file and no source with answers_are"
                    f"{closest(benchmark, known)}"
                )
            from scripts.data.choices import Declaration, read_choices  # late: it imports pandas

            read_choices(Path(benchmark), Declaration())
            name = name_of_place(Path(benchmark))
        if name in found:
            raise UserError(f"benchmark: {cut(benchmark)} is named twice; name it once")
        found[name] = benchmark
    return found


def input_of(work: Workplan, benchmark: str) -> str:
    """Return the file that an audit waits for: the manifest of a source, or the file itself."""
    return work.fetched(benchmark) if benchmark in work.sources else benchmarks_of(work)[benchmark]


def words_of(work: Workplan, benchmark: str) -> list[str]:
    """Return the words of `python -m scripts.audit.audit`: a file or a folder, then KEY=VALUE. What
    is fetched beside the splits of a source are answers of models.
    """
    if benchmark not in work.sources:
        return [benchmarks_of(work)[benchmark]]
    from scripts.data.choice_columns import as_yaml  # late: it imports pandas

    entry, place = work.sources[benchmark], Path(fetched_folder(work, benchmark))
    values = columns_of(work, benchmark) or {}
    values |= {key: entry[key] for key in ("encoding",) if key in entry}
    if "local" in entry:
        place = Path(work.fetched(benchmark))
    elif files := entry.get("files"):
        names = {Path(name).name for name in work.fetched_hashes(benchmark)}
        others = sorted(names - {Path(name).name for name in files.values()})
        values |= {"predictions": [str(place / name) for name in others]} if others else {}
    values |= {"name": entry["title"]}
    return [str(place), *(f"{key}={as_yaml(value)}" for key, value in values.items())]
