"""The benchmarks that a configuration audits: their files, and the words of the program.

A benchmark is a source of kind choices, or a file whose columns are guessed. Not a program.
"""

from functools import cache
from pathlib import Path

from scripts.plan.workplan import Workplan
from scripts.running.program import UserError, closest, cut


@cache
def benchmarks_of(work: Workplan) -> dict[str, str]:
    """Return the source or the file of each benchmark, by name. Raises UserError for a word that is
    neither, and for a file that cannot be read as questions with options.
    """
    asked = work.config.benchmark or []
    found: dict[str, str] = {}
    for benchmark in [asked] if isinstance(asked, str) else asked:
        known = [name for name, entry in work.sources.items() if "answers_are" in entry]
        if benchmark not in known:
            if not Path(benchmark).is_file():
                raise UserError(
                    f"benchmark: {cut(benchmark)} is no file and no source with answers_are"
                    f"{closest(benchmark, known)}"
                )
            from scripts.data.choices import Declaration, read_choices  # late: it imports pandas

            read_choices(Path(benchmark), Declaration())
        name = benchmark if benchmark in known else Path(benchmark).stem
        if name in found:
            raise UserError(f"benchmark: {cut(name)} is named twice; rename one of the two files")
        found[name] = benchmark
    return found


def input_of(work: Workplan, benchmark: str) -> str:
    """Return the file that an audit waits for: the manifest of a source, or the file itself."""
    return work.fetched(benchmark) if benchmark in work.sources else benchmarks_of(work)[benchmark]


def files_of(work: Workplan, benchmark: str) -> list[str]:
    """Return the files that an audit reads: of the test first, then of the training split, then
    answers of models.
    """
    if benchmark not in work.sources:
        return [benchmarks_of(work)[benchmark]]
    if "local" in work.sources[benchmark]:
        return [work.fetched(benchmark)]
    folder = Path("results/fetch", benchmark)
    names = [Path(name).name for name in work.fetched_hashes(benchmark)]
    splits = work.sources[benchmark].get("files", {"test": names[0]})
    first = [splits[split] for split in ("test", "train") if split in splits]
    return [str(folder / name) for name in [*first, *sorted(set(names) - set(splits.values()))]]


def words_of(work: Workplan, benchmark: str) -> list[str]:
    """Return the words of `python -m scripts.audit.audit`: the file, then KEY=VALUE."""
    from scripts.data.choice_columns import Declaration, as_yaml  # late: it imports pandas

    test, *others = files_of(work, benchmark)
    entry = work.sources.get(benchmark, {})
    words = [
        f"{key}={as_yaml(entry[key])}" for key in Declaration.__struct_fields__ if key in entry
    ]
    if "train" in entry.get("files", {}):
        words.append(f"train={others.pop(0)}")
    if others:
        words.append(f"predictions={as_yaml(others)}")
    title = [f"name={as_yaml(entry['title'])}"] if entry else []
    return [test, *words, *title]
