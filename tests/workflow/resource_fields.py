"""What runs again after one field of an entry in resources/ has changed, study by study: (entry, field, value, rules).

`downloads.0.urls` leads into lists and mappings. Each study is made of the experiments and models below, on sources that
differ in kind: written here, downloaded, of this repository. `USED` names the entries of which every field must be told.
"""

import copy

NOTHING: set[str] = set()
REFUSED = None
PAGE = {"publish_page", "publish_index"}
FIGURE, TABLE, SHOWN = PAGE | {"publish_figure"}, PAGE | {"publish_table"}, PAGE | {"publish_figure", "publish_table"}
MEASURED = SHOWN | {"evaluate_experiment", "evaluate_metrics", "publish_leaderboard"}
TRAINED = MEASURED | {"train_run"}
FETCHED = TRAINED | {"fetch_model"}
CONTROLLED = MEASURED | {"train_controls"}
OF_DATA = TRAINED | {"train_controls"}
CARD = {"build_card"}
BUILT = OF_DATA | CARD | {"build_dataset"}
CLEANED = BUILT | {"clean_corpus"}
# Of TimeDial: a model of an MLM stage is a run, and expressions of time are looked for in what was cleaned.
ALL_RUNS = TRAINED | {"train_model"}
DIALOGS = CLEANED | {"build_temporal_spans", "train_model"}

NO_HASH = "0" * 64
DOWNLOAD = {"urls": ["https://else.where/file"], "file": "file", "sha256": NO_HASH, "bytes": 10}
SOURCE = {"title": "A corpus", "train": "train", "evaluate": ["test"], "licence": "MIT", "citation": "none",
          "homepage": "https://some.where", "downloads": [DOWNLOAD]}
MODEL = {"licence": "MIT", "title": "A model"}
HUB = MODEL | {"hub": "someone/model", "revision": "0123", "files": {
    name: NO_HASH for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")}}
VECTORS = MODEL | {"esim": {"hidden_size": 8}, "vectors": DOWNLOAD}
SAMPLED = {"sampler": "questions", "sample": {"questions": 40, "seed": 1}, "files": ["dev_3783.tsv", "test_9442.tsv"]}
OF_HERE = {key: value for key, value in SOURCE.items() if key != "downloads"}
CHALLENGE = OF_HERE | {"kind": "challenge", "cleaner": "timedial", "train": "test", "evaluate": ["test", "extras"],
                       "splits": ["test", "extras"], "local": "resources/templates.csv"}
DIALOG = SOURCE | {"kind": "dialogs", "cleaner": "dailydialog", "evaluate": [], "splits": ["train", "validation", "test"],
                   "measured_on": "challenge", "domain": "in"}
LEARNT = {"seeds": [1], "training": {"epochs": 1}}

# By study: entries that join resources/, and the experiments that run.
SOURCES = {
    "strided_sop": {
        "mini": SOURCE | {"kind": "captions", "cleaner": "activitynet", "evaluate": ["val_1"], "downloads": [
            {"urls": ["https://else.where/captions.zip"], "members": {"train.json": {"sha256": NO_HASH, "bytes": 10}}}]}},
    "temporal_nli": {"of_others": SOURCE | {"kind": "nli", "cleaner": "temporal_nli_release"}},
    "mctaco": {"questions": OF_HERE | SAMPLED | {"kind": "questions", "cleaner": "mctaco"}},
    "timedial": {"dialogs": DIALOG, "challenge": CHALLENGE},
}
MODELS = {
    "temporal_nli": {"of_hub": HUB, "of_folder": MODEL | {"folder": "models/mine", "files": HUB["files"]}},
    "mctaco": {"below": HUB, "of_vectors": VECTORS, "of_encoder": MODEL | {"esim": {"hidden_size": 8}, "encoder": "below"}},
    "timedial": {"base": HUB, "of_stage": MODEL | {"mlm": {"model": "base", "experiment": "stage"}}},
}
OF_DIALOGS = LEARNT | {"study": "timedial", "data": {"source": "dialogs", "context_scope": "target"}}
EXPERIMENTS = {
    "strided_sop": {"one": LEARNT | {"study": "strided_sop", "models": ["tiny_bert"], "data": {
        "source": ["mini", "sample_howto100m"], "stride": [0, 1]}}},
    "temporal_nli": {"one": LEARNT | {
        "study": "temporal_nli", "models": ["of_hub", "of_folder"], "methods": ["direct", "train", "hypothesis_only"],
        "data": {"source": ["event_templates", "of_others"], "challenge_set": ["temp_order", "temp_duration", "cross_unit"]}}},
    "mctaco": {"one": LEARNT | {"study": "mctaco", "models": ["of_vectors", "of_encoder"], "data": {
        "source": "questions", "unit_normalization": [False, True], "train_questions": [None, 20]}}},
    "timedial": {
        "one": OF_DIALOGS | {"models": ["of_stage"], "methods": ["classify", "fill", "fill_zero_shot", "pseudo_log_likelihood"]},
        "written": OF_DIALOGS | {"models": ["small_t5_scratch"], "methods": ["generate", "generate_zero_shot"]},
        "stage": OF_DIALOGS | {"models": ["base"], "methods": ["mlm"]}, "other_stage": OF_DIALOGS | {"models": ["base"], "methods": ["mlm"]}},
}
RUN = {"timedial": ["one", "written"]}


def words(study: str, several: bool = True) -> list[tuple]:
    """What follows where a study is named or described otherwise; the same in every study. several: it has several models, so that
    there is a scorecard."""
    return [(study, "title", "Order", CARD | (SHOWN if several else PAGE)), (study, "paper", "Us 2026", PAGE | CARD),
            (study, "short", "In short", PAGE), (study, "counted", "things that are right", PAGE),
            (study, "headline_methods", ["control"], SHOWN if several else NOTHING),
            (study, "headline", "n", {"publish_leaderboard"} | (SHOWN if several else PAGE)),
            (study, "controls", ["length_and_overlap" if study != "timedial" else "random"], CONTROLLED)]


FIELDS = {
    "strided_sop": {
        "sources": [
            ("mini", "title", "Minute captions", SHOWN), ("mini", "kind", "questions", REFUSED), ("mini", "cleaner", "hirest", CLEANED),
            ("mini", "train", "val_1", CLEANED), ("mini", "evaluate", ["val_1", "val_2"], CLEANED), ("mini", "licence", "CC0", CLEANED),
            ("mini", "citation", "Me 2026", CLEANED), ("mini", "homepage", "https://else.where", PAGE),
            ("mini", "downloads.0.urls", ["https://else.where/captions.zip", "https://some.where/captions.zip"], NOTHING),
            ("mini", "downloads.0.members.train.json", {"sha256": "1" * 64, "bytes": 10}, CLEANED | {"fetch_source"}),
            ("sample_howto100m", "sampler", "questions", CLEANED | {"fetch_sample"}),
            ("sample_howto100m", "sample.seed", 2, CLEANED | {"fetch_sample"}), ("sample_howto100m", "sharded", False, CLEANED), ("sample_howto100m", "short", "in short", PAGE),
            ("sample_howto100m", "files", ["raw_caption.zip", "HowTo100M_v1.csv", "more.csv"], CLEANED | {"fetch_sample"}),
        ],
        "models": [
            ("tiny_bert", "title", "a tiny BERT", SHOWN), ("tiny_bert", "licence", "CC0", PAGE),
            ("tiny_bert", "init.num_hidden_layers", 1, FETCHED), ("tiny_bert", "vocabulary", "resources/templates.csv", FETCHED),
            ("bag_of_words", "title", "counted", SHOWN), ("bag_of_words", "licence", "CC0", PAGE),
            ("bag_of_words", "control.features", ["lengths"], CONTROLLED),
        ],
        "figures": [
            ("accuracy_by_stride", "title", "Stride", PAGE), ("accuracy_by_stride", "caption", "report/workflow.rst", PAGE),
            ("accuracy_by_stride", "program", "site", FIGURE), ("accuracy_by_stride", "reads", ["metrics", "runs"], FIGURE),
            ("accuracy_by_stride", "kind", "table", TABLE), ("accuracy_by_stride", "name", "by_stride", FIGURE),
            ("accuracy_by_stride", "study", "mctaco", PAGE), ("accuracy_by_stride", "needs", {"stride": 9}, PAGE),
            ("strided_sop_table", "heads", ["Corpus"], PAGE), ("strided_sop_examples", "show", "table", PAGE),
            ("strided_sop_examples", "needs_model", False, PAGE),
        ],
        "studies": [
            *words("strided_sop", several=False), ("strided_sop", "reads", ["captions", "dialogs"], NOTHING),
            ("strided_sop", "data.stride.description", "how far", NOTHING), ("strided_sop", "labels", ["in_order", "swapped"], OF_DATA | CARD),
            ("strided_sop", "peak", False, TRAINED), ("strided_sop", "columns.group_id", "pair_id", OF_DATA),
            ("strided_sop", "methods.train.inputs", ["text_a"], TRAINED), ("strided_sop", "methods.train.fits", ["decoder"], NOTHING),
            ("strided_sop", "methods.train.probe", ["decoder"], NOTHING), ("strided_sop", "methods.train.objectives", ["order", "mlm"], NOTHING), ("strided_sop", "held_out", "dev", BUILT),
            ("strided_sop", "evaluation_reads", [], MEASURED), ("strided_sop", "exchangeable", False, CONTROLLED),
        ],
    },
    "temporal_nli": {
        "sources": [
            ("event_templates", "title", "templates", SHOWN), ("event_templates", "short", "in short", PAGE), ("event_templates", "kind", "nli", NOTHING),
            ("event_templates", "train", "learn", CLEANED), ("event_templates", "evaluate", ["test", "more"], CLEANED),
            ("event_templates", "licence", "CC0", CLEANED), ("event_templates", "citation", "Me 2026", CLEANED),
            ("event_templates", "local", "resources/published.csv", CLEANED), ("event_templates", "expect.train.templates", 52, CLEANED),
            ("of_others", "cleaner", "hirest", CLEANED), ("of_others", "homepage", "https://else.where", PAGE),
            ("of_others", "downloads.0.sha256", "1" * 64, CLEANED | {"fetch_source"}),
            ("of_others", "downloads.0.bytes", 11, NOTHING), ("of_others", "downloads.0.urls", ["https://some.where/file"], NOTHING),
        ],
        "models": [
            ("of_hub", "title", "of the hub", SHOWN), ("of_hub", "licence", "CC0", PAGE), ("of_hub", "hub", "someone/other", FETCHED),
            ("of_hub", "revision", "4567", FETCHED), ("of_hub", "files.config.json", None, FETCHED),
            ("of_folder", "title", "of a folder", SHOWN), ("of_folder", "licence", "CC0", PAGE),
            ("of_folder", "folder", "models/other", FETCHED), ("of_folder", "files.config.json", "1" * 64, FETCHED),
        ],
        "figures": [
            ("temporal_nli_temp_order", "needs", {"challenge_set": "cross_unit"}, PAGE),
            ("temporal_nli_temp_order", "needs", {"challenge_set": "none"}, PAGE), ("temporal_nli_temp_order", "title", "Set one", PAGE),
            ("temporal_nli_errors", "needs_model", False, PAGE), ("temporal_nli_errors", "show", "table", PAGE),
            ("temporal_nli_confusion", "program", "temporal_nli.accuracy", FIGURE), ("temporal_nli_confusion", "caption", "report/workflow.rst", PAGE),
            ("temporal_nli_confusion", "name", "taken", FIGURE), ("temporal_nli_confusion", "kind", "table", TABLE),
            ("temporal_nli_confusion", "study", "mctaco", PAGE), ("temporal_nli_confusion", "reads", ["metrics", "datasets"], FIGURE),
            ("temporal_nli_table", "heads", ["Source"], PAGE), ("temporal_nli_errors", "reads", ["metrics"], TABLE),
            ("scorecard", "reads", ["metrics"], FIGURE), ("scorecard", "study", "mctaco", PAGE), ("scorecard_table", "heads", ["Model"], PAGE),
            ("wordings", "needs_wordings", False, FIGURE),
        ],
        "studies": [
            *words("temporal_nli"), ("temporal_nli", "reads", ["event_templates", "nli", "dialogs"], NOTHING),
            ("temporal_nli", "source_names", {}, NOTHING), ("temporal_nli", "columns.group_id", "example_id", OF_DATA),
            ("temporal_nli", "labels", ["neutral", "entailment", "contradiction"], OF_DATA | CARD),
            ("temporal_nli", "merged_labels.entailment", ["entailment", "neutral"], TRAINED),
            ("temporal_nli", "held_out", "validation", BUILT), ("temporal_nli", "methods.direct.inputs", ["text_a"], TRAINED),
            ("temporal_nli", "evaluation_reads", [], MEASURED), ("temporal_nli", "data.iterations.default", 4, BUILT),
            ("temporal_nli", "data.iterations.description", "draws", NOTHING), ("temporal_nli", "data.iterations.maximum", 50, NOTHING),
        ],
    },
    "mctaco": {
        "sources": [
            ("questions", "title", "asked", SHOWN), ("questions", "kind", "nli", REFUSED), ("questions", "cleaner", "hirest", CLEANED),
            ("questions", "train", "test", CLEANED), ("questions", "evaluate", ["test", "more"], CLEANED), ("questions", "licence", "CC0", CLEANED),
            ("questions", "citation", "Me 2026", CLEANED), ("questions", "homepage", "https://else.where", PAGE),
            ("questions", "sampler", "dialogs", CLEANED | {"fetch_sample"}), ("questions", "sample.questions", 41, CLEANED | {"fetch_sample"}),
            ("questions", "files", ["dev_3783.tsv", "test_9442.tsv", "more.tsv"], CLEANED | {"fetch_sample"}),
            ("questions", "splits", ["train", "test", "more"], CLEANED),
        ],
        "models": [
            ("of_vectors", "title", "of vectors", SHOWN), ("of_vectors", "licence", "CC0", PAGE),
            ("of_vectors", "esim.hidden_size", 9, FETCHED), ("of_vectors", "esim.lower_case", False, FETCHED),
            ("of_vectors", "vectors.urls", ["https://some.where/file"], NOTHING), ("of_vectors", "vectors.sha256", "1" * 64, FETCHED),
            ("of_vectors", "vectors.bytes", 11, NOTHING), ("of_vectors", "vectors.file", "other", FETCHED),
            ("of_encoder", "title", "above another", SHOWN), ("of_encoder", "esim.hidden_size", 9, FETCHED),
            ("of_encoder", "encoder", "tiny_bert", FETCHED),
            ("below", "title", "an encoder", NOTHING), ("below", "licence", "CC0", NOTHING), ("below", "revision", "4567", FETCHED),
            ("below", "hub", "someone/other", FETCHED), ("below", "files.config.json", None, FETCHED),
        ],
        "figures": [
            ("mctaco_em_against_f1", "title", "EM", PAGE), ("mctaco_em_against_f1", "caption", "report/workflow.rst", PAGE),
            ("mctaco_em_against_f1", "program", "mctaco.by_category", FIGURE), ("mctaco_em_against_f1", "reads", ["metrics", "runs"], FIGURE),
            ("mctaco_em_against_f1", "kind", "table", TABLE), ("mctaco_em_against_f1", "name", "em", FIGURE),
            ("mctaco_em_against_f1", "study", "timedial", PAGE), ("mctaco_training_size", "needs", {"train_questions": 9}, PAGE),
            ("mctaco_table", "heads", ["Model"], PAGE), ("mctaco_errors", "show", "table", PAGE),
            ("mctaco_errors", "needs_model", False, PAGE),
        ],
        "studies": [
            *words("mctaco"), ("mctaco", "reads", ["questions", "nli"], NOTHING), ("mctaco", "columns.group_id", "example_id", OF_DATA),
            ("mctaco", "labels", ["likely", "unlikely"], OF_DATA | CARD), ("mctaco", "methods.train.inputs", ["text_b"], TRAINED),
            ("mctaco", "evaluation_reads", [], MEASURED), ("mctaco", "data.draw.default", 1, BUILT),
            ("mctaco", "data.draw.description", "which", NOTHING),
        ],
    },
    "timedial": {
        "sources": [
            ("dialogs", "title", "talk", SHOWN), ("dialogs", "kind", "nli", REFUSED), ("dialogs", "cleaner", "hirest", DIALOGS),
            ("dialogs", "train", "test", BUILT | ALL_RUNS), ("dialogs", "evaluate", ["test"], MEASURED), ("dialogs", "licence", "CC0", DIALOGS),
            ("dialogs", "splits", ["train", "validation"], DIALOGS), ("dialogs", "measured_on", "sample_challenge", DIALOGS | {"fetch_sample"}),
            ("dialogs", "domain", "out", MEASURED), ("dialogs", "citation", "Me 2026", DIALOGS),
            ("dialogs", "homepage", "https://else.where", PAGE), ("dialogs", "downloads.0.sha256", "1" * 64, DIALOGS | {"fetch_source"}),
            ("challenge", "title", "asked", SHOWN), ("challenge", "kind", "dialogs", NOTHING), ("challenge", "cleaner", "hirest", DIALOGS),
            ("challenge", "train", "extras", NOTHING), ("challenge", "evaluate", ["test"], BUILT | ALL_RUNS),
            ("challenge", "splits", ["test", "extras", "more"], DIALOGS), ("challenge", "licence", "CC0", DIALOGS),
            ("challenge", "citation", "Me 2026", DIALOGS), ("challenge", "homepage", "https://else.where", PAGE),
            ("challenge", "local", "resources/published.csv", DIALOGS),
        ],
        "models": [
            ("of_stage", "title", "after a stage", SHOWN), ("of_stage", "licence", "CC0", PAGE), ("of_stage", "mlm.experiment", "other_stage", SHOWN),
            ("of_stage", "mlm.model", "tiny_bert", REFUSED),
            ("base", "title", "before it", SHOWN), ("base", "licence", "CC0", PAGE), ("base", "hub", "someone/other", ALL_RUNS | {"fetch_model"}),
            ("base", "revision", "4567", ALL_RUNS | {"fetch_model"}), ("base", "files.config.json", None, ALL_RUNS | {"fetch_model"}),
            ("small_t5_scratch", "title", "a T5", SHOWN), ("small_t5_scratch", "licence", "CC0", PAGE),
            ("random", "control.predicts", "most_frequent", CONTROLLED), ("small_t5_scratch", "init.num_layers", 3, FETCHED), ("small_t5_scratch", "tokenizer.revision", "4567", FETCHED),
        ],
        "figures": [
            ("timedial_accuracy", "title", "Right", PAGE), ("timedial_accuracy", "caption", "report/workflow.rst", PAGE),
            ("timedial_accuracy", "program", "timedial.context", FIGURE), ("timedial_accuracy", "reads", ["metrics", "spans"], FIGURE),
            ("timedial_accuracy", "kind", "table", TABLE), ("timedial_accuracy", "name", "right", FIGURE),
            ("timedial_accuracy", "study", "mctaco", PAGE), ("timedial_context", "needs", {"context_scope": "full"}, PAGE), ("timedial_context", "needs_model", False, PAGE),
            ("timedial_table", "heads", ["Corpus"], PAGE), ("timedial_examples", "show", "table", PAGE),
            ("timedial_examples", "needs_model", False, PAGE),
            ("timedial_spans", "reads", ["metrics"], TABLE), ("timedial_leakage", "reads", ["metrics"], TABLE),
        ],
        "studies": [
            *words("timedial"), ("timedial", "reads", ["dialogs", "nli"], NOTHING), ("timedial", "columns.choice_id", "dialog_id", OF_DATA | ALL_RUNS),
            ("timedial", "labels", ["right", "wrong"], OF_DATA | CARD | ALL_RUNS), ("timedial", "held_out", "test", BUILT | ALL_RUNS),
            ("timedial", "methods.fill.inputs", ["candidate"], TRAINED), ("timedial", "methods.mlm.inputs", ["context"], ALL_RUNS),
            ("timedial", "evaluation_reads", [], MEASURED), ("timedial", "data.negatives.default", 4, BUILT | ALL_RUNS),
            ("timedial", "data.negatives.description", "wrong ones", NOTHING),
        ],
    },
}
# The entries of which every field is told: one of a kind may stand for all.
USED = {
    "strided_sop": {"sources": ["mini", "sample_howto100m"], "models": ["tiny_bert", "bag_of_words"], "studies": ["strided_sop"],
                    "figures": ["accuracy_by_stride", "strided_sop_table", "strided_sop_training_curves", "strided_sop_examples"]},
    "temporal_nli": {"sources": ["event_templates", "of_others"], "models": ["of_hub", "of_folder"], "studies": ["temporal_nli"],
                     "figures": ["temporal_nli_temp_order", "temporal_nli_confusion", "temporal_nli_table", "temporal_nli_errors",
                                 "scorecard", "scorecard_table", "wordings"]},
    "mctaco": {"sources": ["questions"], "models": ["of_vectors", "of_encoder", "below"], "studies": ["mctaco"],
               "figures": ["mctaco_em_against_f1", "mctaco_training_size", "mctaco_table", "mctaco_errors"]},
    "timedial": {"sources": ["dialogs", "challenge"], "models": ["of_stage", "base", "small_t5_scratch", "random"], "studies": ["timedial"],
                 "figures": ["timedial_accuracy", "timedial_context", "timedial_table", "timedial_examples", "timedial_spans",
                             "timedial_leakage"]},
}


def add_entries(study: str, sources: dict, models: dict, config: dict) -> None:
    """Lay a study's entries over those of resources/, and its experiments over the configuration."""
    sources.update(copy.deepcopy(SOURCES[study]))
    models.update(copy.deepcopy(MODELS.get(study, {})))
    config["experiments"].update(copy.deepcopy(EXPERIMENTS[study]))
    config["run"] = RUN.get(study, ["one"])
