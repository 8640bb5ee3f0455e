"""What the cleaners are told beside their files."""


def cleaner_of(wildcards):
    """The program that cleans a source."""
    return f"scripts.clean.{SOURCES[wildcards.source].get('cleaner', wildcards.source)}"


def provenance_of(wildcards):
    """What the tables of a source carry: its terms and the hashes of its files."""
    entry = SOURCES[wildcards.source]
    return as_json({key: entry[key] for key in ("licence", "citation")} | {"sha256": fetched_hashes(wildcards.source)})


def expected_of(wildcards):
    """What the cleaner must find, and what it keeps, as options; nothing where the source does not say."""
    entry = SOURCES[wildcards.source]
    expected = ["--expect", as_json(entry["expect"])] if "expect" in entry else []
    return [*expected, *(["--keep-rolling-repeats"] if entry.get("keep_rolling_repeats") else [])]
