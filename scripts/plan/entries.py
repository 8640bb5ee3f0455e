"""The entries of resources/ that a configuration names."""

from collections.abc import Callable

from scripts.plan.grid import Experiment
from scripts.plan.models import UNTRAINED, stage_of
from scripts.plan.probe import Known
from scripts.running.program import UserError, closest
from scripts.plan.schemas import shown


class Entries:
    """facts: gives the facts of a model (resolve() in scripts/plan/configuration.py)."""

    def __init__(
        self,
        sources: dict,
        models: dict,
        studies: dict,
        facts: Callable[[str, dict, bool], dict | None],
    ):
        self.resources = {"sources": sources, "models": models, "studies": studies}
        self.facts = facts

    def entry(self, kind: str, name: str, what: str, names: tuple[str, ...] = ()) -> dict:
        """Return an entry by name. what: the start of the message if it is missing; names: other
        possible names for the message.
        """
        entries = self.resources[kind]
        if name not in entries:
            controls = [one for one in entries if "control" in entries[one]]
            raise UserError(f"{what} {shown(name)}{closest(name, [*names, *entries], controls)}")
        return entries[name]

    def study(self, name: str, where: str) -> dict:
        return self.entry("studies", name, f"{where}.study: no study")

    def source(self, name: str, experiment: Experiment) -> dict:
        """Return a source that the experiment's study can read."""
        study, where = experiment.study, f"{experiment.where}.data"
        names = tuple(study.get("source_names", {}))
        source = self.entry("sources", name, f"{where}: no source", names)
        if source["kind"] not in study["reads"]:
            raise UserError(
                f"{where}: source {name} holds {source['kind']}, but {experiment.entry.study} "
                f"reads {' or '.join(study['reads'])}; name another source"
            )
        return source

    def model(self, name: str, where: str, key: str = "models") -> dict:
        """Return a model. key: the key of the experiment that names it."""
        return self.entry("models", name, f"{where}.{key}: no model")

    def known(self, name: str, where: str, needed: bool) -> Known | None:
        """Return the abilities of a model; None if they are unknown and not needed."""
        entry, stages = self.model(name, where), {}  # the stage that makes each model
        # The search for its run refuses a model that makes itself.
        while (made := stage_of(entry)) and name not in stages:
            stages[name], stage = made
            name = stage["model"]
            entry = self.model(name, where)
        if "esim" in entry:
            # ESIM trains like an encoder and supports no other method
            return Known(frozenset({"encoder"}), trained=False)
        if "api" in entry:
            return Known(frozenset({"api", *(["logprobs"] if entry.get("logprobs") else [])}))
        untrained = UNTRAINED in entry
        if untrained:
            name = entry[UNTRAINED]
            entry = self.model(name, where)
        facts = None if stage_of(entry) else self.facts(name, entry, needed)
        if needed and not facts:
            raise UserError(f"{where}: the kind of the model {name} is not known; name its methods")
        if not facts:
            return None
        masked = "mlm" in stages.values() and facts["kind"] == "encoder"
        learnt = {"mask_filler", "chat"} if untrained else set()
        return Known(
            frozenset({*facts["abilities"]} - learnt | ({"mask_filler"} if masked else set())),
            bool(stages or (facts["weights"] and not untrained)),
            facts.get("quantised"),
        )
