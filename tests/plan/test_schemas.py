"""The files of resources/ and the presets follow their schemas."""

import pytest
import yaml

from scripts.data.studies import folder_of
from scripts.running.program import UserError
from scripts.plan.schemas import VALIDATOR, check_entries, check_study, schema
from scripts.data.yaml_files import read_yaml
from tests.conftest import ROOT
from tests.editor_schemas import MODELS as MODELS_OF_FILES
from tests.editor_schemas import text_of
from tests.registers import FIGURES, MODELS, SOURCES, STUDIES
from tests.rows import rows_of

FILES = {
    "config.yaml": "preset",
    **{f"presets/{file.name}": "preset" for file in ROOT.glob("presets/*.yaml")},
    **{f"resources/{name}.yaml": name for name in ("sources", "models", "figures")},
    **{
        f"scripts/studies/{study}/{name}.yaml": name
        for study in STUDIES
        for name in ("study", "figures", "claims", "labelling")
        if name != "claims" or folder_of(study).joinpath("claims.yaml").exists()
    },
}
RESOURCES = {"sources": SOURCES, "models": MODELS, "studies": STUDIES, "figures": FIGURES}


@pytest.mark.parametrize("file, name", FILES.items())
def test_shipped_files_keep_to_their_schema_and_name_it_to_editors(file, name):
    text = (ROOT / file).read_text(encoding="utf-8")
    first = text.splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert named != first
    assert (ROOT / file).parent.joinpath(
        named
    ).resolve() == ROOT / f"resources/schemas/{name}.schema.yaml"
    errors = list(VALIDATOR(schema(name)).iter_errors(yaml.safe_load(text)))
    assert not errors, errors[0].message


@pytest.mark.parametrize("name", MODELS_OF_FILES)
def test_the_schemas_for_editors_are_those_of_the_models(name):
    written = (ROOT / f"resources/schemas/{name}.schema.yaml").read_text(encoding="utf-8")
    assert written == text_of(name), "give `python -m tests.editor_schemas --write`"


@pytest.mark.parametrize(
    "kind, name, change, said",
    rows_of("""
        sources | activitynet | 'citatoin: x' | unknown key citatoin at activitynet; did you mean citation?
        sources | activitynet | 'local: x.csv' | 'activitynet: exactly one of downloads and local'
        sources | hirest | 'downloads: [{urls: [''https://x/y''], file: y, sha256: ''123''}]' | sixty-four hexadecimal digits
        sources | event_templates | 'local: "{x}.csv"' | 'event_templates.local: ''{x}.csv'' does not match'
        sources | event_templates | 'local: "@file"' | without braces, and its name does not begin with @
        sources | hirest | 'homepage: "javascript:alert(1)"' | an address, http:// or https://
        sources | hirest | 'cleaner: nowhere' | hirest needs scripts/clean/nowhere.py, which is missing; write it
        models | random | 'vectors_of: esim_glove_50d' | vectors_of and reads_cleaned are keys of controls with search
        studies | mctaco | 'reads: []' | 'study.yaml: reads: [] should be non-empty'
    """),
)
def test_broken_entries_are_refused(kind, name, change, said):
    entry = RESOURCES[kind][name] | yaml.safe_load(change)
    with pytest.raises(UserError) as refused:
        if kind == "studies":
            check_study(name, entry)
        else:
            check_entries(kind, RESOURCES[kind] | {name: entry}, f"resources/{kind}.yaml")
    assert said in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text, said",
    [
        ("a: [1, 2\nb: 3", "is not valid YAML in line 2"),
        ("a: !!python/object:os.system {}", "is not valid YAML in line 1"),
        ("a: \x01", "is not valid YAML"),
        # each of these ended the process
        *((text * 30_000, "is not valid YAML") for text in ("[", "a: {b: ", "- ")),
        ("\na: \udce9", "line 2: is not UTF-8"),
        ("a: &a [*a]", "refers to itself, or has more than 500,000 values"),
        *(  # a billion values: in lists, in mappings, by merging
            (
                "a0: &a0 {z: 1}\n"
                + "".join(f"a{n}: &a{n} {form.replace('?', f'*a{n - 1}')}\n" for n in range(1, 31)),
                "refers to itself, or has more than 500,000 values",
            )
            for form in ("[?, ?]", "{x: ?, y: ?}", "{<<: [?, ?]}")
        ),
    ],
)
def test_files_that_are_no_yaml(tmp_path, text, said):
    (tmp_path / "f.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError) as refused:
        read_yaml(tmp_path / "f.yaml")
    assert said in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(UserError, match="cannot be read"):
        read_yaml(tmp_path / "g.yaml")
