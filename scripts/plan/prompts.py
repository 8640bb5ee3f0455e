"""The wordings that put a study's examples to a language model:
scripts/studies/<study>/prompts.yaml, checked (docs/add_experiment.md).

`prompts:` of the configuration is laid over this file, by method. Wordings are merged by name, all
other keys are replaced. The start of the workflow imports this module, so it uses only the standard
library, YAML and the schema.
"""

from scripts.running.project_version import ROOT
from scripts.text.placeholders import CANDIDATE, PLACEHOLDER, parts_of
from scripts.data.declared import BLIND
from scripts.plan.probe import ANSWER, WORDED
from scripts.running.program import UserError, closest
from scripts.plan.schemas import check, schema, shown
from scripts.data.yaml_files import read_yaml

OPTIONS = "options"  # the placeholder of a question for its lettered options


def placeholders_of(inputs: list[str]) -> list[str]:
    """Return the placeholders that a text may name: the columns of the method; for a cloze, the two
    sides of its mask.
    """
    if "context" in inputs:
        return ["left", "right", *(name for name in inputs if name != "context")]
    return list(inputs)


def _check_text(text: str, names: list[str], where: str, scored: bool) -> None:
    """Raise UserError for an unknown placeholder, and for a text with too few or too many `|`."""
    written = "".join(part for part, _ in parts_of(text))
    if set(written) & set("{}"):
        raise UserError(
            f"{where}: {shown(text)} has a single brace; write a placeholder as {{{names[0]}}}, "
            "and no other brace"
        )
    for _, name in parts_of(text):
        if name and name not in names:
            raise UserError(f"{where}: there is no {{{shown(name)}}}{closest(name, names)}")
    if written.count("|") != (1 if scored else 0):
        remedy = (
            "write one | before the scored part"
            if scored
            else "take it out: this text has no scored part"
        )
        raise UserError(f"{where}: {shown(text)} has {written.count('|')} |; {remedy}")
    if scored and not text.split("|")[1]:
        raise UserError(
            f"{where}: {shown(text)} has nothing after its |; write the scored part there"
        )
    if not any(name for _, name in parts_of(text)) and scored:
        raise UserError(
            f"{where}: {shown(text)} has no placeholder, so it is the same for every example; "
            f"write {{{names[0]}}} in it"
        )


def _check_wording(
    texts: dict[str, str], study: dict, inputs: list[str], threshold: bool, where: str
) -> None:
    """Raise UserError if the texts do not match the study's labels, or its candidate."""
    names = placeholders_of(inputs)
    wanted = [CANDIDATE] if "choice_id" in study["columns"] else study["labels"]
    for label, text in texts.items():
        if label not in wanted:
            raise UserError(f"{where}: there is no label {shown(label)}{closest(label, wanted)}")
        if not isinstance(text, str):
            raise UserError(f"{where}.{label}: write one text, with a | before the scored part")
        _check_text(text, names, f"{where}.{label}", scored=True)
    missing = [label for label in wanted if label not in texts]
    if missing and not threshold:
        raise UserError(
            f"{where}: no text for {missing[0]}; write one for each of {', '.join(wanted)}, or "
            "`threshold: train` if one text decides"
        )
    if wanted == [CANDIDATE] and CANDIDATE not in PLACEHOLDER.findall(
        texts[CANDIDATE].split("|")[1]
    ):
        raise UserError(
            f"{where}.{CANDIDATE}: {shown(texts[CANDIDATE])} does not score {{{CANDIDATE}}}; write "
            "it after the |"
        )


def _check_question(wording: dict, study: dict, inputs: list[str], where: str) -> None:
    """Raise UserError for a question without options, or answers that do not match the labels."""
    question, answers = wording.get("question"), wording.get("answers")
    if not isinstance(question, str) or set(wording) - {"question", "answers"}:
        raise UserError(
            f"{where}: a wording has question, and answers with a text for each label; correct it"
        )
    names = [*placeholders_of(inputs), OPTIONS]
    _check_text(question, names, f"{where}.question", scored=False)
    if PLACEHOLDER.findall(question).count(OPTIONS) != 1:
        raise UserError(f"{where}.question: write {{{OPTIONS}}} once, at the place of the options")
    if answers is None:
        if inputs[-1] in PLACEHOLDER.findall(question):
            raise UserError(
                f"{where}.question: {{{inputs[-1]}}} is one of the options of a question without "
                "answers; take it out, or give answers by label"
            )
    elif not isinstance(answers, dict) or set(answers) != set(study["labels"]):
        raise UserError(f"{where}.answers: give one text for each of {', '.join(study['labels'])}")
    elif len(set(answers.values())) < len(answers):
        raise UserError(f"{where}.answers: two answers are the same text; give each its own")


def _merged(entry: dict, configured: dict) -> dict:
    """Return a method's entry with the configuration's entry laid over it. Wordings and their
    domains are merged by name.
    """
    merged = entry | configured
    for key in ("wordings", "domain"):
        if isinstance(entry.get(key), dict) and isinstance(configured.get(key), dict):
            merged[key] = entry[key] | configured[key]
    return merged


def _entries(study_name: str, configured: dict) -> tuple[dict, str]:
    """Return the entries by method, with the configuration's entries laid over them, and the name
    of the file. Raises UserError if neither exists.
    """
    place = f"scripts/studies/{study_name}/prompts.yaml"
    file = ROOT / place
    tracked = read_yaml(file) if file.exists() else {}
    if not file.exists() and not configured:
        raise UserError(
            f"{place}: no such file, but a method of {study_name} needs prompts; write it "
            "(docs/add_experiment.md)"
        )
    tracked = tracked if isinstance(tracked, dict) else {}
    return tracked | {
        method: _merged(tracked.get(method) or {}, entry) for method, entry in configured.items()
    }, place


def _check_blind(method: str, entry: dict, entries: dict, study: dict, place: str) -> None:
    """Raise UserError if the method of a blind control is missing, or if the control differs from
    this method in paradigm, scoring or wordings.
    """
    other = method.removesuffix(BLIND)
    paradigm = study["methods"][method]["paradigm"]
    if study["methods"].get(other, {}).get("paradigm") != paradigm or not isinstance(
        entries.get(other), dict
    ):
        raise UserError(
            f"{place}: {method} is the control of {other}, but {other} is not a method of the "
            f"paradigm {paradigm}; give {method} another name"
        )
    for key in ("score", "threshold", "masks"):
        if entry.get(key) != entries[other].get(key):
            raise UserError(
                f"{place}: {method}.{key} differs from {other}.{key}, but {method} is the control "
                f"of {other}; give both the same"
            )
    if odd := sorted(set(entry["wordings"]) - set(entries[other].get("wordings", {}))):
        raise UserError(
            f"{place}: {method}.wordings has {odd[0]}, but {other}, whose control it is, has no "
            "such wording; take it out"
        )


def prompts_of(
    study_name: str, study: dict, method: str, configured: dict | None = None
) -> dict[str, dict]:
    """Return what a run of a method gets for each wording. For a scored text this is {score,
    threshold, domain, texts: {label or candidate: text}}, and masks. For a question it is
    {question, answers: {label: text} or None}.

    study: its entry of study.yaml; configured: `prompts:` of the configuration. threshold is
    "train" or None. Raises UserError that names the place, method and wording of the error.
    """
    configured = (configured or {}).get(study_name, {})
    entries, place = _entries(study_name, configured)
    if method not in entries:
        raise UserError(
            f"{place}: has no method {shown(method)}{closest(method, map(str, entries))}"
        )
    place = f"configuration: prompts.{study_name}" if method in configured else place
    entry = check({method: entries[method]}, schema("prompts"), place)[method]
    if method.endswith(BLIND):
        _check_blind(method, entry, entries, study, place)
    if study["methods"][method]["paradigm"] == ANSWER:
        return _questions(study, method, entry, place)
    if "score" not in entry:
        raise UserError(f"{place}: {method}: key score is missing; write sum, token or byte")
    inputs = study["methods"][method]["inputs"]
    domain, threshold = entry.get("domain"), entry.get("threshold")
    if threshold and (len(study["labels"]) != 2 or "choice_id" in study["columns"]):
        raise UserError(
            f"{place}: {method}.threshold: a threshold separates two labels of one text, and "
            f"{study_name} does not have these; take it out"
        )
    domains = domain if isinstance(domain, dict) else dict.fromkeys(entry["wordings"], domain)
    if domain and set(domains) != set(entry["wordings"]):
        odd = sorted(set(domains) ^ set(entry["wordings"]))[0]
        raise UserError(
            f"{place}: {method}.domain and {method}.wordings differ in {odd}; give each wording "
            "its domain"
        )
    prompts = {}
    for wording, texts in entry["wordings"].items():
        _check_wording(
            texts, study, inputs, bool(threshold), f"{place}: {method}.wordings.{wording}"
        )
        if domains[wording]:
            _check_text(
                domains[wording],
                placeholders_of(inputs),
                f"{place}: {method}.domain ({wording})",
                scored=False,
            )
        prompts[wording] = {
            "score": entry["score"],
            "threshold": threshold,
            "domain": domains[wording],
            "texts": texts,
            **({"masks": entry["masks"]} if "masks" in entry else {}),
        }
    return prompts


def _questions(study: dict, method: str, entry: dict, place: str) -> dict[str, dict]:
    if odd := sorted({"score", "threshold", "domain", "masks"} & set(entry)):
        raise UserError(
            f"{place}: {method}.{odd[0]}: a method that asks in words has no such key; take it out"
        )
    found = {}
    for wording, given in entry["wordings"].items():
        where = f"{place}: {method}.wordings.{wording}"
        _check_question(given, study, study["methods"][method]["inputs"], where)
        found[wording] = {"question": given["question"], "answers": given.get("answers")}
    return found


def worded_methods(study: dict) -> list[str]:
    return [name for name, how in study["methods"].items() if how.get("paradigm") in WORDED]


def check_configured_prompts(configured: dict, studies: dict) -> None:
    """Raise UserError if an entry of `prompts:` is broken, or if its study or worded method is
    unknown.
    """
    for name, methods in configured.items():
        if name not in studies:
            raise UserError(
                f"configuration: prompts: no study {shown(name)}{closest(name, studies)}"
            )
        known = worded_methods(studies[name])
        for method in methods:
            if method not in known:
                raise UserError(
                    f"configuration: prompts.{name}: {shown(method)} is no method of {name} that "
                    f"asks in words{closest(method, known)}"
                )
            prompts_of(name, studies[name], method, configured=configured)
