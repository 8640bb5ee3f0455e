"""The wordings in which a study's examples are put to a language model: resources/prompts/<study>.yaml, checked.

A text holds placeholders, `{text_a}`, and one `|`: what stands after it is scored, given what stands before it. Standard
library only, but for YAML and the check against the schema: asked at start-up.
"""

from pathlib import Path

from scripts.common.fingerprint import ROOT
from scripts.common.placeholders import CANDIDATE, PLACEHOLDER, parts_of
from scripts.common.program import UserError, closest
from scripts.common.schemas import check, schema, shown
from scripts.common.yaml_files import read_yaml

PARADIGM = "likelihood"


def placeholders_of(inputs: list[str]) -> list[str]:
    """What a text may name: the columns that the method is given; of a cloze the two sides of its mask, not the whole."""
    if "context" in inputs:
        return ["left", "right", *(name for name in inputs if name != "context")]
    return list(inputs)


def _check_text(text: str, names: list[str], where: str, scored: bool) -> None:
    """Raises UserError for a text with a placeholder that is none, and for one without, or with too many, `|`."""
    written = "".join(part for part, _ in parts_of(text))
    if set(written) & set("{}"):
        raise UserError(f"{where}: {shown(text)} has a brace alone; write a placeholder as {{{names[0]}}}, and no other brace")
    for _, name in parts_of(text):
        if name and name not in names:
            raise UserError(f"{where}: there is no {{{shown(name)}}}{closest(name, names)}")
    if written.count("|") != (1 if scored else 0):
        remedy = "write one | before what is scored" if scored else "take it out: a domain is scored nowhere"
        raise UserError(f"{where}: {shown(text)} has {written.count('|')} |; {remedy}")
    if scored and not text.split("|")[1]:
        raise UserError(f"{where}: {shown(text)} has nothing after its |; write there what is scored")
    if not any(name for _, name in parts_of(text)) and scored:
        raise UserError(f"{where}: {shown(text)} has no placeholder, so it is the same for every example; write {{{names[0]}}} in it")


def _check_wording(texts: dict[str, str], study: dict, inputs: list[str], threshold: bool, where: str) -> None:
    """Raises UserError for texts that are not those of the study's labels, or of a candidate."""
    names = placeholders_of(inputs)
    wanted = [CANDIDATE] if "choice_id" in study["columns"] else study["labels"]
    for label, text in texts.items():
        if label not in wanted:
            raise UserError(f"{where}: there is no label {shown(label)}{closest(label, wanted)}")
        _check_text(text, names, f"{where}.{label}", scored=True)
    missing = [label for label in wanted if label not in texts]
    if missing and not threshold:
        raise UserError(f"{where}: no text for {missing[0]}; write one for each of {', '.join(wanted)}, or `threshold: train` where "
                        "one text is to decide")
    if wanted == [CANDIDATE] and CANDIDATE not in PLACEHOLDER.findall(texts[CANDIDATE].split("|")[1]):
        raise UserError(f"{where}.{CANDIDATE}: {shown(texts[CANDIDATE])} does not score {{{CANDIDATE}}}; write it after the |")


def _file_of(study_name: str, folder: Path | None) -> Path:
    return (folder or ROOT / "resources/prompts") / f"{study_name}.yaml"


def prompts_of(study_name: str, study: dict, method: str, folder: Path | None = None) -> dict[str, dict]:
    """By wording what a run of a method is given: {score, threshold, domain, texts: {label or candidate: text}}.

    study: its entry of resources/studies.yaml; threshold is "train" or None, domain a text or None. Raises UserError, in one
    sentence that names file, method and wording, for whatever is wrong with the method's entry.
    """
    file = _file_of(study_name, folder)
    place = f"resources/prompts/{file.name}"
    if not file.exists():
        raise UserError(f"{place}: no such file, but the method {method} of {study_name} puts its examples into words; write it (docs/add.md)")
    entries = read_yaml(file)
    if not isinstance(entries, dict) or method not in entries:
        known = entries if isinstance(entries, dict) else []
        raise UserError(f"{place}: has no method {shown(method)}{closest(method, map(str, known))}")
    entry = check({method: entries[method]}, schema("prompts"), place)[method]
    inputs, domain, threshold = study["methods"][method]["inputs"], entry.get("domain"), entry.get("threshold")
    if threshold and (len(study["labels"]) != 2 or "choice_id" in study["columns"]):
        raise UserError(f"{place}: {method}.threshold: a threshold tells two labels apart, which {study_name} has not; take it out")
    domains = domain if isinstance(domain, dict) else dict.fromkeys(entry["wordings"], domain)
    if domain and set(domains) != set(entry["wordings"]):
        odd = sorted(set(domains) ^ set(entry["wordings"]))[0]
        raise UserError(f"{place}: {method}.domain and {method}.wordings differ in {odd}; give each wording its domain")
    prompts = {}
    for wording, texts in entry["wordings"].items():
        _check_wording(texts, study, inputs, bool(threshold), f"{place}: {method}.wordings.{wording}")
        if domains[wording]:
            _check_text(domains[wording], placeholders_of(inputs), f"{place}: {method}.domain ({wording})", scored=False)
        prompts[wording] = {"score": entry["score"], "threshold": threshold, "domain": domains[wording], "texts": texts}
    return prompts


def check_prompts(study_name: str, study: dict, folder: Path | None = None) -> None:
    """Raises UserError for a method of the paradigm likelihood without a sound entry, and for an entry of no such method."""
    methods = [name for name, how in study["methods"].items() if how.get("paradigm") == PARADIGM]
    for method in methods:
        prompts_of(study_name, study, method, folder)
    file = _file_of(study_name, folder)
    for method in read_yaml(file) if file.exists() else []:
        if method not in methods:
            raise UserError(f"resources/prompts/{file.name}: {shown(method)} is no method of {study_name} that asks by likelihood"
                            f"{closest(method, methods)}")
