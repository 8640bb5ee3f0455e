"""The schemas by which editors complete and check files, as the typed models of scripts/plan make
them. A test (tests/plan/test_schemas.py) compares them with resources/schemas/. After a change of
a model:

    python -m tests.editor_schemas --write
"""

import argparse

import yaml

from scripts.plan.settings import Preset
from tests.conftest import ROOT

MODELS = {"preset": Preset}
HEAD = """\
# For editors, written by `python -m tests.editor_schemas --write` from {place}.
$schema: https://json-schema.org/draft/2020-12/schema
"""


def text_of(name: str) -> str:
    """Return the schema of a model as YAML."""
    model = MODELS[name]
    place = f"{model.__module__.replace('.', '/')}.py"
    return HEAD.format(place=place) + yaml.safe_dump(
        model.schema_of(), sort_keys=False, allow_unicode=True, width=120
    )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true", required=True)
    options.parse_args()
    for name in MODELS:
        (ROOT / f"resources/schemas/{name}.schema.yaml").write_text(text_of(name), encoding="utf-8")
