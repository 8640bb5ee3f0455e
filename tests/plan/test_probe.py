"""The questions that a probe asks a model, by the model's kind and in every wording; left-out
studies with the reason.
"""

from pathlib import Path

import pytest
import yaml

from scripts.plan.configuration import resolve
from scripts.plan.user_entries import from_command_line, merge_entries, probed_models
from scripts.running.program import UserError
from scripts.plan.schemas import check, checked, schema
from scripts.plan.settings import Configuration
from tests.conftest import ROOT
from tests.rows import each_row, texts_of
from tests.plan.test_configuration import MODELS, SOURCES, STUDIES, default, overlaid, read

ENCODER, MASKED = ["encoder"], ["encoder", "mask_filler"]
DATA = yaml.safe_load("""
strided_sop: {source: sample_activitynet, stride: 0}
temporal_nli: {source: generated, challenge_set: temp_order}
mctaco: {source: sample_mctaco}
timedial: {source: sample_dialogs}
""")
PROBE = {
    study: {
        "study": study,
        "data": data,
        "models": "probed",
        "methods": "fitting",
        "controls": False,
    }
    for study, data in DATA.items()
}


def probe(
    abilities: list[str],
    studies: tuple = tuple(DATA),
    trained: bool = True,
    quantised: str | None = None,
    **changed,
):
    """Return the plan of a probe of a model with these abilities."""
    config = default() | {
        "model": "minilm",
        "seeds": [1],
        "run": list(studies),
        "experiments": PROBE,
    }
    facts = {
        "kind": abilities[0],
        "abilities": abilities,
        "weights": ["model.safetensors"] if trained else [],
        "quantised": quantised,
    }
    return planned(overlaid(config, changed), lambda name, entry, needed: facts)


def planned(config: dict, facts=lambda name, entry, needed: None, here: Path = ROOT):
    """Return the plan of a configuration, like rules/common.smk."""
    config = checked(Configuration, from_command_line(config))
    sources, _ = merge_entries("sources", config.sources, SOURCES, ROOT, here)
    models, _ = merge_entries("models", config.models, MODELS, ROOT, here)
    names, models, _ = probed_models(config.model, models, ROOT, here)
    return resolve(config, sources, models, STUDIES, names, facts)


def refused(call, *arguments, **changed) -> str:
    with pytest.raises(UserError) as error:
        call(*arguments, **changed)
    assert "\n" not in str(error.value)
    return str(error.value)


def asked(plan) -> dict[str, set[str]]:
    """Return, for each study, the methods that ask the model."""
    return {
        study: {run.method for run in plan.runs.values() if run.study == study}
        for study in plan.experiments
    }


LIKELIHOOD = {
    "strided_sop": {"likelihood", "likelihood_blind"},
    "temporal_nli": {"likelihood", "likelihood_blind", "likelihood_pmi"},
    "mctaco": {"likelihood", "likelihood_blind", "verbalizer", "verbalizer_blind"},
    "timedial": set(
        (
            "likelihood likelihood_blind likelihood_token likelihood_candidate "
            "likelihood_candidate_blind"
        ).split()
    ),
}
ANSWER = {
    study: {"answer", "answer_blind"}
    | ({"answer_all", "answer_all_blind"} if study in ("mctaco", "timedial") else set())
    for study in LIKELIHOOD
}
TRAINED = {
    "strided_sop": {"train", "train_blind"},
    "temporal_nli": {"train", "hypothesis_only"},
    "mctaco": {"train", "train_blind"},
    "timedial": {"classify", "classify_blind"},
}


@each_row(
    "abilities, wanted",
    [
        (ENCODER, TRAINED),
        (
            MASKED,
            {
                study: TRAINED[study]
                | LIKELIHOOD[study]
                | ({"fill_zero_shot"} if study == "timedial" else set())
                for study in DATA
            },
        ),
        (["decoder"], LIKELIHOOD),
        (["decoder", "chat"], {study: LIKELIHOOD[study] | ANSWER[study] for study in DATA}),
        (["api"], ANSWER),
        (["api", "logprobs"], {study: LIKELIHOOD[study] | ANSWER[study] for study in DATA}),
        (
            ["encoder_decoder", "span_writer"],
            LIKELIHOOD | {"timedial": LIKELIHOOD["timedial"] | {"generate_zero_shot"}},
        ),
    ],
)
def test_a_model_is_asked_what_fits_its_kind(abilities, wanted):
    assert asked(probe(abilities)) == wanted


def test_fine_tune():
    more = asked(probe(["decoder"], fine_tune=True))
    assert all(TRAINED[study] | LIKELIHOOD[study] <= methods for study, methods in more.items())
    assert "train_symmetric" in more["strided_sop"]
    assert "generate" not in more["timedial"]
    assert "mlm" not in more["timedial"], "what does not fit does not fit"
    plan = probe(MASKED, fine_tune=False)
    assert asked(plan)["mctaco"] == LIKELIHOOD["mctaco"]
    left = {left.method: left.reason for left in plan.left_out if left.study == "mctaco"}
    assert left["train"] == "it trains the model, and `fine_tune: false` allows no training"


def test_quantised_weights_are_asked_in_bf16_and_not_trained():
    plan = probe(["decoder", "chat"], ("mctaco",), quantised="fp8", fine_tune=True)
    assert asked(plan)["mctaco"] == LIKELIHOOD["mctaco"] | ANSWER["mctaco"]
    left = {left.method: left.reason for left in plan.left_out}
    assert left["train"] == "it trains the model, and its weights are quantised (fp8)"
    precisions = {
        run.training.get("precision") for run in plan.runs.values() if run.method != "control"
    }
    assert precisions == {"bf16"}


def test_what_is_left_out_is_told_with_its_reason():
    left = {(item.study, item.method): item for item in probe(ENCODER).left_out}
    assert {("timedial", "fill_zero_shot"), ("mctaco", "likelihood")} < set(left)
    assert not {method for _, method in left if method.endswith("_blind")}
    one = left["timedial", "generate_zero_shot"]
    assert (one.experiment, one.model) == ("timedial", "minilm")
    assert one.reason == (
        "it needs an encoder-decoder that writes masked spans (T5), and this is an encoder "
        "without a head that fills masks"
    )
    reasons = {item.method: item.reason for item in probe(["decoder"], ("mctaco",)).left_out}
    assert reasons == {
        "train": "a probe does not train a decoder; with `fine_tune: true` it does"
    } | dict.fromkeys(
        ("answer", "answer_all"), "a probe of a decoder does not use it; name it under methods"
    )


def test_a_model_behind_an_api_is_asked_in_words_and_not_otherwise():
    def of_mctaco(methods="fitting", **changed):
        entry = {"api": "https://models.example/v1", "name": "m", "key": "KEY", "licence": "theirs"}
        experiments = {"mctaco": PROBE["mctaco"] | {"methods": methods}}
        asks = {"run": ["mctaco"], "model": "far", "experiments": experiments}
        return default() | asks | {"models": {"far": entry | changed}}

    assert asked(planned(of_mctaco()))["mctaco"] == ANSWER["mctaco"]
    said = refused(planned, of_mctaco(["likelihood"]))
    assert "likelihood needs an encoder with a head that fills masks" in said
    assert "far is a model behind an API" in said
    for api in ("https://user:key@models.example/v1", "http://[::1/v1", "https://x.example?sig=a"):
        said = refused(planned, of_mctaco(api=api))
        assert "far.api" in said and "without a key in it" in said
    assert planned(of_mctaco(api="http://[::1]:8000/v1"))
    scored = planned(of_mctaco(logprobs=True, start_token="<s>"))
    assert asked(scored)["mctaco"] == ANSWER["mctaco"] | LIKELIHOOD["mctaco"]
    assert "logprobs" in refused(planned, of_mctaco(start_token="<s>"))


def test_a_model_from_scratch_is_not_asked_what_it_knows():
    plan = probe(["decoder"], trained=False, fine_tune=True)
    assert not {"likelihood", "direct"} & asked(plan)["temporal_nli"]
    assert "train" in asked(plan)["temporal_nli"]
    assert {left.reason for left in plan.left_out if left.method == "likelihood"} == {
        "it asks without training, and this model has no trained weights"
    }


def test_where_nothing_fits_the_others_run():
    plan = probe(
        ENCODER,
        fine_tune=False,
        run=["strided_sop", "other"],
        experiments=PROBE
        | {
            "other": {"study": "mctaco", "data": DATA["mctaco"], "models": ["tiny_bert"]},
            "strided_sop": PROBE["strided_sop"] | {"controls": True},
        },
    )
    assert list(plan.experiments) == ["other"]
    assert {run.study for run in plan.runs.values()} == {"mctaco"}, "nor its controls"
    assert {left.experiment for left in plan.left_out} == {"strided_sop"}
    said = refused(probe, ENCODER, fine_tune=False)
    assert "nothing is left to run" in said
    assert "train, classify of minilm: it trains" in said


def test_an_unknown_model_is_answered_by_the_models_that_are_no_controls():
    for change in ({"model": "xyzzy"}, {"experiments": {"mctaco": {"models": ["xyzzy"]}}}):
        said = refused(probe, ENCODER, **change)
        assert "no model xyzzy; known: " in said and "minilm" in said and "bag_of" not in said


@each_row(
    "change, said",
    [
        *texts_of("""
            model: null | experiments.strided_sop probes a model, but names none; give `--config model=ORG/NAME`
            model: ./nowhere | model ./nowhere is neither an existing folder nor ORG/NAME[@revision] of the hub
            model: [minilm, sentence-transformers/all-MiniLM-L6-v2] | model names minilm twice
            limit: '1.5' | limit is the text '1.5', not a number
            experiments: {mctaco: {methods: all}} | experiments.mctaco.methods is the text all, not a list, and not the word fitting
            experiments: {mctaco: {methods: [likelihood]}} | experiments.mctaco.methods: likelihood needs an encoder with a head that fills masks, an encoder-decoder that writes masked spans (T5), a decoder or a model behind an API that gives log-probabilities (`logprobs: true`), and minilm is an encoder without a head that fills masks; name another method, or write `methods: fitting`
        """),
        (
            {"run": ["sample_mctaco"], "experiments": default()["experiments"]},
            (
                "model names minilm, but no experiment that runs says `models: probed`; give "
                "`--configfile presets/probe.yaml`"
            ),
        ),
    ],
)
def test_a_wrong_probe_is_refused(change, said):
    assert said in refused(probe, ENCODER, **read(change))


def test_a_kind_that_nobody_knows():
    config = default() | {"model": "minilm", "run": ["mctaco"], "experiments": PROBE}
    assert "the kind of the model minilm is not known; name its methods" in refused(planned, config)
    config["experiments"] = {"mctaco": PROBE["mctaco"] | {"methods": ["likelihood"]}}
    assert asked(planned(config))["mctaco"] == {"likelihood"}, "what is named is taken as it is"


def named(asked, here: Path = ROOT, root: Path = ROOT):
    names, models, notes = probed_models(asked, MODELS, root, here)
    return names, {name: models[name] for name in names}, notes


def test_a_model_of_the_hub():
    [name], entries, notes = named("Some-Org/Its_Model.V2")
    assert name == "some-org--its_model.v2" and not notes
    assert entries[name]["hub"] == entries[name]["title"] == "Some-Org/Its_Model.V2"
    [name], entries, _ = named("org/model@refs/pr/1")
    assert name == "org--model--refs-pr-1" and entries[name]["revision"] == "refs/pr/1"
    names, entries, _ = named(["org/model", "org/model@abcdef0123456789"])
    assert names == ["org--model", "org--model--abcdef012345"]
    [long], entries, _ = named(f"org/{'m' * 96}")
    assert len(long) <= 100 and check(entries, schema("models"))


def test_a_known_model_of_the_hub_is_the_known_one():
    names, _, [note] = named("sentence-transformers/all-MiniLM-L6-v2")
    assert names == ["minilm"] and "is minilm of the known models, revision 1110a243" in note
    names, entries, _ = named("sentence-transformers/all-MiniLM-L6-v2@main")
    assert names == ["sentence-transformers--all-minilm-l6-v2"]
    assert entries[names[0]]["revision"] == "main"


def test_a_model_of_a_folder(tmp_path):
    here, root = tmp_path / "here", tmp_path / "project"
    for place in (here / "models/My Model", root / "models/theirs", root / "minilm"):
        place.mkdir(parents=True)
    mine = str(here / "models/My Model")
    for asked, name, place in (
        ("models/My Model", "my-model", mine),
        (mine, "my-model", mine),
        ("./models/theirs", "theirs", "./models/theirs"),  # as the project's paths are written
    ):
        assert named(asked, here=here, root=root)[1][name]["folder"] == place
    [name], entries, _ = named("./minilm", here=here, root=root)
    assert name.startswith("minilm-") and "folder" in entries[name], "the name is another model's"
    check(entries, schema("models"))
    (here / "latest").symlink_to(here / "models/My Model")
    [name], entries, _ = named("./latest", here=here, root=root)
    assert (name, entries[name]["title"]) == ("latest", "latest"), "a link keeps its name"
    for file in ("./model.gguf", "TheBloke/model.Q4_K_M.GGUF"):
        said = refused(named, file, here=here, root=root)
        assert "GGUF file" in said and "docs/ask.md" in said and "docs/harness.md" in said
    assert named("minilm", here=here, root=root)[0] == ["minilm"], "a name is a name"


OWN = {"mine": {"hub": "me/mine", "revision": "main", "licence": "MIT"}}


def test_own_models_and_sources_are_laid_over_the_tracked_ones(tmp_path):
    own = OWN | {"minilm": {"folder": "there", "licence": "MIT"}}
    models, [note] = merge_entries("models", own, MODELS, ROOT, tmp_path)
    assert models["mine"] == OWN["mine"] and models["bert_base"] == MODELS["bert_base"]
    assert models["minilm"] == own["minilm"], "as a whole, not key by key"
    said = "minilm of the configuration stands in place of the one of resources/models.yaml"
    assert note == f"models: {said}"
    words = yaml.safe_load("""
        {title: Words, kind: dialogs, cleaner: dialogs, local: words.jsonl, train: train, evaluate: [],
         splits: [train, validation], measured_on: sample_challenge, licence: MIT, citation: none}
    """)
    (tmp_path / "words.jsonl").touch()
    for here, place in ((tmp_path, str(tmp_path / "words.jsonl")), (ROOT, "words.jsonl")):
        sources, notes = merge_entries("sources", {"words": words}, SOURCES, ROOT, here)
        assert sources["words"]["local"] == place and not notes


OF_ONES_OWN = {
    name: entry | {"cleaner": entry.get("cleaner", name)}
    for name, entry in SOURCES.items()
    if entry["kind"] not in ("judgements", "choices")  # one of choices names its splits itself
} | {
    name: SOURCES["hirest"] | {"cleaner": name, "train": "train", "evaluate": []}
    for name in ("captions_table", "dialogs")
}


@each_row("name", OF_ONES_OWN)
def test_a_split_that_a_cleaner_does_not_write_is_refused(name):
    """The dry run said nothing, and a job asked for a file that no rule makes."""
    entry = OF_ONES_OWN[name]
    merge_entries("sources", {"mine": entry}, SOURCES, ROOT, ROOT)
    for wrong in ({"evaluate": ["tset"]}, {"train": "tset"}, {"splits": ["tset"]}):
        with pytest.raises(UserError, match=f"the cleaner {entry['cleaner']} writes no split tset"):
            merge_entries("sources", {"mine": entry | wrong}, SOURCES, ROOT, ROOT)
    own = {"mine": entry | {"cleaner": "corpus", "evaluate": ["tset"]}}
    merge_entries("sources", own, SOURCES, ROOT, ROOT)


@each_row(
    "change, said",
    [
        *texts_of("""
            models: {mine: {hub: me/mine, revision: main}} | configuration: models: key licence is missing at mine
            models: {mine: {esim: {hidden_size: 3}, encoder: minilmm, licence: MIT}} | configuration: models.mine.encoder: no model minilmm; did you mean minilm?
            models: {mine: {control: {search: word_vectors}, vectors_of: minilm, licence: MIT}} | models.mine.vectors_of: minilm has no vectors; name esim_glove or esim_glove_50d
        """),
        (
            {"sources": {"mine": SOURCES["sample_mctaco"] | {"cleaner": "mine"}}},
            "configuration: sources: mine needs scripts/clean/mine.py, which is missing",
        ),
    ],
)
def test_a_broken_entry_of_the_configuration_is_refused_though_nothing_uses_it(change, said):
    assert said in refused(planned, overlaid(default(), read(change)))
