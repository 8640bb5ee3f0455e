"""The answers that a run has got from a model, kept when they come. Not a program."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from scripts.data.plain_json import as_json
from scripts.running.code_lock import identity
from scripts.running.program import log
from scripts.train.asking.answer import TOO_LONG, Answer


class Model(Protocol):
    """A model that answers: the number and the answer of each question, as they come."""

    def answers(self, questions: list[str]) -> Iterator[tuple[int, Any]]: ...


def echoed(prompt: dict) -> bool:
    """Whether a wording holds texts that are scored, and no question."""
    return "texts" in prompt


def checksum(key: str, answer: Any) -> str:
    return hashlib.sha256(as_json([key, answer]).encode()).hexdigest()


class Kept:
    """The answers that a run has got, in a file of JSON lines: {key, answer, sha256}. sha256: of
    the key and the answer.

    An answer's key holds the model, how it is asked, the turns before the question (shots) and the
    question. The rule that reads the answer is not part of it.
    """

    def __init__(self, file: Path, job: dict, shots: Sequence[dict[str, str]] = ()):
        self.file, self.shots, self.echoes = file, shots, echoed(job["prompt"])
        asker = "server" if job["api"] else "local_model"
        asker = "echo" if self.echoes else asker
        asked = [identity(f"train/asking/{asker}"), job["settings"]["training"]]
        before = [shots] if shots else []
        self.base = as_json([job["model_files"], job["api"], asked, *before])
        self.found = dict(self.read())

    def read(self) -> Iterator[tuple[str, Any]]:
        """The keys and answers of the file. A line that a kill has cut off is passed over. So is an
        answer that has changed. A question that was too long is asked again, since the server may
        read more now.
        """
        if not self.file.exists():
            return
        changed = 0
        for line in self.file.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                kept = json.loads(line)
                key, answer, sha256 = kept["key"], kept["answer"], kept["sha256"]
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            if sha256 != checksum(key, answer):
                changed += 1
            elif isinstance(answer, dict) and self.echoes:
                yield key, answer
            elif (
                isinstance(answer, list)
                and [*map(type, answer)] == [str] * len(answer)
                and len(answer) == len(Answer._fields)
                and answer[1] != TOO_LONG
            ):
                yield key, Answer(*answer)
        if changed:
            log.warning(
                "warning: %s: answers that have changed since they were kept: %d; their questions "
                "are asked again",
                self.file,
                changed,
            )

    def key(self, question: str) -> str:
        return hashlib.sha256(f"{self.base}\n{question}".encode()).hexdigest()

    def complete(self, model: Model, questions: list[str]) -> None:
        """Ask what has no answer yet, and keep each answer when it comes."""
        wanted = [one for one in dict.fromkeys(questions) if self.key(one) not in self.found]
        with open(self.file, "a", encoding="utf-8") as opened:
            opened.write("\n")  # after a line that was cut off
            for number, answer in model.answers(wanted):
                key = self.key(wanted[number])
                self.found[key] = answer
                line = {"key": key, "answer": answer, "sha256": checksum(key, answer)}
                opened.write(json.dumps(line) + "\n")
                opened.flush()

    def answers(self, questions: list[str]) -> list:
        return [self.found[self.key(one)] for one in questions]
