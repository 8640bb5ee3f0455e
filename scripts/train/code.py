"""The identity of the code that decides the numbers of a run. Standard library only: records ask for it, too."""

from scripts.running.identity import identity

CONTROL = ("scripts.train.control.read_examples", "scripts.train.control.predict")
LOOP = "scripts.train.loop.train"


def code_of(paradigm: str) -> str:
    """The identity of the loop with its paradigm, or of what fits the controls ("control"). Raises UserError for no paradigm."""
    return identity(*(CONTROL if paradigm == "control" else (LOOP, f"scripts.train.paradigms.{paradigm}")))
