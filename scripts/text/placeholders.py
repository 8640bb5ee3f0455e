"""The parts of a wording's text (scripts/plan/prompts.py). They are in a separate module, because
the check of wordings changes no number.
"""

import re

CANDIDATE = "candidate"  # the one text of a study that scores candidates for a mask
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def parts_of(text: str) -> list[tuple[str, str]]:
    """A text in parts: (written, "") for written text, ("", name) for a placeholder."""
    cut = PLACEHOLDER.split(text)
    parts = [("", part) if number % 2 else (part, "") for number, part in enumerate(cut)]
    return [part for part in parts if any(part)]
