"""One dialog as others write it: a list of turns under a known key, each a text or an object."""

import re
from typing import NamedTuple

import msgspec

from scripts.running.program import UserError

EXAMPLE = '{"dialog": ["first turn", "second turn"]}'
LISTS = "dialog dialogue turns utterances messages conversations conversation log".split()
IDS = "dialog_id dialogue_id conversation_id id".split()
END_OF_TURN = "__eou__"  # of DailyDialog's own files
PARLAI = re.compile(r"(?:^|\t)(text|labels|episode_done):([^\t]*)")


class Turn(msgspec.Struct):
    """A turn with its speaker, under the names of chats (role and content, from and value), of
    MultiWOZ (text) and of others.
    """

    text: str | None = None
    content: str | None = None
    value: str | None = None
    utterance: str | None = None
    speaker: str | int | None = None
    role: str | None = None
    source: str | None = msgspec.field(name="from", default=None)

    @property
    def words(self) -> str | None:
        known = (self.text, self.content, self.value, self.utterance)
        return next((text for text in known if text is not None), None)

    @property
    def who(self) -> str | None:
        known = (self.speaker, self.role, self.source)
        return next((str(name) for name in known if name is not None), None)


Turns = list[str | Turn] | None


class Line(msgspec.Struct):
    """A dialog: one list of turns, and one id or none. Other keys are not looked at."""

    dialog: Turns = None
    dialogue: Turns = None
    turns: Turns = None
    utterances: Turns = None
    messages: Turns = None
    conversations: Turns = None
    conversation: Turns = None
    log: Turns = None
    dialog_id: str | int | None = None
    dialogue_id: str | int | None = None
    conversation_id: str | int | None = None
    id: str | int | None = None


class Dialog(NamedTuple):
    """A dialog: its id (None: it has none), the text of each turn, and who says it (None: nobody is
    named).
    """

    name: str | None
    texts: list[str]
    speakers: list[str | None]


def dialog_of(line: Line, where: str) -> Dialog:
    """Return the dialog of a line. Raises UserError for a line without turns, and for a turn
    without a text.
    """
    turns = next((found for name in LISTS if (found := getattr(line, name)) is not None), None)
    if not turns:
        raise UserError(
            f"{where}: its dialog has no turn; write one, as {EXAMPLE}, or remove the line"
        )
    texts = [turn if isinstance(turn, str) else turn.words for turn in turns]
    if None in texts:
        raise UserError(
            f"{where}: turn {texts.index(None) + 1} has no text (text, content, value or "
            "utterance); fill it in"
        )
    speakers = [None if isinstance(turn, str) else turn.who for turn in turns]
    name = next((str(found) for key in IDS if (found := getattr(line, key)) is not None), None)
    return Dialog(name, [text for text in texts if text is not None], speakers)


def dialogs_of_text(lines: list[str], where: str) -> list[tuple[int, Dialog]]:
    """Return the dialogs of a text, each with its line, from 1: a dialog a line, each turn before
    END_OF_TURN; or ParlAI's lines, `text:…` and `labels:…`, up to `episode_done:True`. Raises
    UserError for a line of another form.
    """
    dialogs: list[tuple[int, Dialog]] = []
    episode: list[str] = []
    for number, line in enumerate(lines, 1):
        fields = dict(PARLAI.findall(line))
        if not line.strip():
            continue
        if END_OF_TURN in line:
            *texts, rest = line.split(END_OF_TURN)
            texts += [rest] if rest.strip() else []
            dialogs.append((number, Dialog(None, texts, [None] * len(texts))))
        elif "text" in fields:
            episode += [fields[name] for name in ("text", "labels") if fields.get(name)]
            if fields.get("episode_done") == "True":
                dialogs.append((number, Dialog(None, episode, [None] * len(episode))))
                episode = []
        else:
            raise UserError(
                f"{where}: line {number} is no dialog; end each turn with {END_OF_TURN}, or write "
                f"a dialog a line as {EXAMPLE} (.jsonl)"
            )
    if episode:
        dialogs.append((len(lines), Dialog(None, episode, [None] * len(episode))))
    return dialogs
