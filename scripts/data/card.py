"""Describe a study's datasets for people who use them without this workflow: a dataset card.

Each dataset is a configuration with its own splits. `datasets.load_dataset("results/build/<study>",
"<source>-<dataset>")` loads them unchanged, labels with their names. Terms and citations are those
in the Parquet files.

Each call of Snakemake that may run jobs writes the card of every existing dataset, even if another
configuration built the dataset (scripts/running/start.py).

Reads  FOLDER/<source>/<dataset>/manifest.json and <split>.parquet of each dataset, columns.yaml
Writes FOLDER/README.md
"""

from pathlib import Path

import jinja2
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from scripts.data.files import whole
from scripts.data.manifest import files_in
from scripts.running.program import UserError, log
from scripts.data.studies import options_of
from scripts.data.tables import parquet_errors, provenance_of, schema_of
from scripts.data.yaml_files import read_yaml

LABEL = "label"
OF_STUDY = ("name", "title", "paper", "labels")  # the facts of a study on its card
CARD = """---
{{ front }}---

# {{ study.title }}

The datasets that timestride built for {{ study.title }} ({{ study.paper }}), one \
configuration each:

```python
from datasets import load_dataset
load_dataset("results/build/{{ study.name }}", "{{ datasets[0].name }}")   # the folder of this \
file; or pandas.read_parquet of one file
```

{% if sample %}
SAMPLE DATA, written for timestride; not a corpus: {{ sample | join(", ") }}.

{% endif %}
| configuration | split | examples |
|---|---|---:|
{% for one in datasets %}
{% for split, facts in one.splits.items() %}
| {{ one.name }} | {{ split }} | {{ "{:,}".format(facts.rows) }} |
{% endfor %}
{% endfor %}

Labels: {% for label in study.labels %}{{ loop.index0 }} {{ label }}{{ ", " if not loop.last }}\
{% endfor %}
.

| column | type | what |
|---|---|---|
{% for name, kind in fields.items() %}
| {{ name }} | {{ kind }} | {{ columns.get(name, "") | cell }} |
{% endfor %}

## Terms and citation

A dataset keeps the terms of its corpus. Cite the corpus, and the paper of the \
study ({{ study.paper }}).

| configuration | licence | citation |
|---|---|---|
{% for one in datasets %}
| {{ one.name }} | {{ one.terms.get("licence", "unknown") | cell }} | \
{{ one.terms.get("citation", "unknown") | cell }} |
{% endfor %}
"""


def cell(text: object) -> str:
    return (
        str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
    )


def dataset_of(folder: Path, path: str) -> dict:
    """Return the facts of one dataset for the card: configuration, schema, terms (its provenance,
    with its options) and, for each split, its file, rows and hash.
    """
    manifest = folder / path / "manifest.json"
    splits = {
        Path(name).stem: facts | {"path": f"{path}/{name}"}
        for name, facts in files_in(manifest).items()
        if name.endswith(".parquet")
    }
    if not splits:
        raise UserError(
            f"{manifest}: lists no Parquet file; remove it, and the same command writes it again"
        )
    for facts in splits.values():
        with parquet_errors(folder / facts["path"]):
            facts["rows"] = pq.read_metadata(folder / facts["path"]).num_rows
    any_file = folder / next(iter(splits.values()))["path"]
    return {
        "name": path.replace("/", "-"),
        "splits": splits,
        "schema": schema_of(any_file),
        "terms": provenance_of(any_file),
    }


def feature(field: pa.Field, labels: list[str]) -> dict:
    """Return a column in the form of the Hub's dataset_info."""
    if field.name == LABEL:
        return {
            "name": LABEL,
            "dtype": {
                "class_label": {"names": {str(place): label for place, label in enumerate(labels)}}
            },
        }
    return {
        "name": field.name,
        "dtype": {"double": "float64", "float": "float32"}.get(str(field.type), str(field.type)),
    }


def front_matter(datasets: list[dict], study: dict) -> dict:
    """Return the YAML at the head of a card. Each dataset is a configuration with its splits."""
    licences = {one["terms"].get("licence", "") for one in datasets}
    configs, facts_of_datasets = [], []
    for one in datasets:
        options = options_of(study["name"]).of(one["terms"].get("options", {}))
        labels, splits = options.labels(study["labels"]), one["splits"].items()
        configs.append(
            {
                "config_name": one["name"],
                "data_files": [{"split": split, "path": facts["path"]} for split, facts in splits],
            }
        )
        facts_of_datasets.append(
            {
                "config_name": one["name"],
                "features": [feature(field, labels) for field in one["schema"]],
                "splits": [
                    {"name": split, "num_bytes": facts["bytes"], "num_examples": facts["rows"]}
                    for split, facts in splits
                ],
            }
        )
    return {
        "pretty_name": study["title"],
        "language": sorted({one["terms"].get("language", "en") for one in datasets}),
        "tags": ["timestride"],
        "license": "mit" if all(name.split(" ")[0] == "MIT" for name in licences) else "other",
        "configs": configs,
        "dataset_info": facts_of_datasets,
    }


def card(datasets: list[dict], study: dict, columns: dict[str, str]) -> str:
    """Return the text of README.md: front matter, how to load, splits and their sizes, columns,
    terms.
    """
    front = yaml.safe_dump(
        front_matter(datasets, study), sort_keys=False, allow_unicode=True, width=120
    )
    templates = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    templates.filters["cell"] = cell
    return templates.from_string(CARD).render(
        front=front,
        study=study,
        datasets=datasets,
        sample=[one["name"] for one in datasets if one["terms"].get("sample")],
        fields={field.name: field.type for one in datasets for field in one["schema"]},
        columns=columns,
    )


def describe_datasets(folder: Path, study: dict, columns: Path) -> None:
    """Write README.md of a folder of datasets; columns: columns.yaml."""
    texts = read_yaml(columns)["dataset"]
    manifests = sorted(folder.glob("*/*/manifest.json"))
    datasets = [dataset_of(folder, str(file.parent.relative_to(folder))) for file in manifests]
    if not datasets:
        raise UserError(f"{folder}: holds no dataset; make one with `snakemake build`")
    with whole(folder / "README.md") as place:
        place.write_text(card(datasets, study, texts), encoding="utf-8")
    log.info("%s: %d datasets", folder / "README.md", len(datasets))
