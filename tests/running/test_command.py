"""The command `timestride`: its words become one call of Snakemake, and a wrong word is named."""

import shlex
from functools import partial

import pytest

from scripts.running.command import call_of
from scripts.running.program import UserError
from tests.conftest import ROOT, call
from tests.rows import each_row


@pytest.fixture
def at_home(monkeypatch):
    monkeypatch.chdir(ROOT)


@each_row(
    "given, called",
    """
        run                        | 'snakemake --cores all'
        run small                  | 'snakemake --cores all --configfile presets/small.yaml'
        run base recorded=true -c2 | 'snakemake --configfile presets/base.yaml --config recorded=true -c2'
        run small -n --configfile presets/base.yaml --config a=1 -c2 | 'snakemake --configfile presets/small.yaml presets/base.yaml --config a=1 -n -c2'
        run a=1 --configfiles=presets/base.yaml -C b=2 c=3 | 'snakemake --cores all --configfile presets/base.yaml --config a=1 b=2 c=3'
        run results/a.parquet      | 'snakemake --cores all results/a.parquet'
        probe A/B limit=20         | 'snakemake --cores all --configfile presets/probe.yaml --config model=A/B limit=20'
        compare a b --metrics m    | 'scripts.measure.compare a b --metrics m'
    """,
)
def test_words_become_a_call(at_home, given, called):
    assert call_of(given.split()) == called.split()


def test_elsewhere_the_files_of_the_project_are_named_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called = shlex.join(call_of(["run", "small"]))
    assert called == (
        f"snakemake -s {ROOT}/Snakefile --cores all --configfile {ROOT}/presets/small.yaml"
    )


@each_row(
    "given, said",
    """
        run smal         | 'smal: is no preset, target or KEY=VALUE; did you mean small'
        run evalute      | 'evalute: is no preset, .* did you mean evaluate'
        run gone.yaml    | 'gone.yaml'
        run broken.yaml  | 'broken.yaml: is not valid YAML in line 2'
        probe A/B --configfile latin.yaml -n | 'latin.yaml: line 2: is not UTF-8; save it as UTF-8'
        probe            | 'names no model'
    """,
)
def test_a_wrong_word_is_named(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.yaml").write_text("run: [a\nname: b\n")
    (tmp_path / "latin.yaml").write_text("name: a\ntitle: café\n", encoding="latin-1")
    with pytest.raises(UserError, match=said):
        call_of(given.split())


def test_the_command_prints_its_call_and_ends_as_snakemake_does(tmp_path):
    timestride = partial(call, ROOT / "timestride", cwd=tmp_path)
    assert "./timestride probe" in timestride("--help").stdout
    assert "limit      measures at most so many items" in timestride("probe", "--help").stdout
    done = timestride("run", "--version")
    assert done.returncode == 0 and done.stderr.startswith("snakemake -s ")
    refused = timestride("run", "nothing")
    assert refused.returncode == 1 and refused.stderr.startswith("error: nothing: is no preset")
