"""Write sample dialogs in the format of a real corpus, quirks of the real files included.

--format dailydialog   train.zip, validation.zip, test.zip: ten, one and one parts of --dialogs
--format timedial      test.json: instances made from the dialogs that --format dailydialog writes
    with the same --dialogs and --seed, as the real ones are from DailyDialog. An eighth as many
    instances as --dialogs have two right options, a fortieth as many have one.

The texts stand in resources/samples/dialogs.yaml. The same arguments give the same bytes on every
machine.

    python -m scripts.fetch.samples.dialogs --format dailydialog --dialogs 1200 --seed 1 \\
        --output /tmp/sample
"""

import argparse
import json
import re
from random import Random

from scripts.data.files import whole
from scripts.running.program import execute, log, whole_number
from scripts.fetch.samples.dialog_times import TIMES_OF, Time, drawn, spellings
from scripts.fetch.samples.files import opened_zip, sample_arguments, texts_of, write

SPLITS = ("train", "validation", "test")
# Words and signs of a dialog, two for each turn among them: 128 pieces hold a candidate, too.
LONGEST = 112
SEVERAL = ("clock", "habit")  # scenes in which {TIME} may occur several times, each for a new time
MASK = "<MASK>"

Turn = list[str | Time]


# ---- The dialogs


def filled(template: str, words: dict[str, object]) -> Turn:
    """A turn: the template with its braces filled. Times are pieces of their own."""
    pieces: Turn = [""]
    for piece in re.split(r"(\{\w+\})", template):
        value = words[piece[1:-1]] if piece.startswith("{") else piece
        if callable(value):
            value = value()
        if isinstance(value, Time):
            pieces += [value, ""]
        else:
            pieces[-1] += value
    return pieces


def text_of(turn: Turn) -> str:
    return "".join(piece.text if isinstance(piece, Time) else piece for piece in turn)


def preposition(time: Time) -> str:
    """The preposition before a month, a date or a day of the week."""
    if time.text.startswith(("next ", "this ")):
        return ""
    return "in " if time.text in texts_of("dialogs")["months"] else "on "


def scene(
    chance: Random, kind: str, present: tuple[str, str], leads: list[str], asides: list[str]
) -> tuple[Turn, Turn]:
    """A question to the second of those present and its answer. The times follow from the subject.

    May open with the last of the asides, which is then taken from the list.
    """
    texts = texts_of("dialogs")
    name = chance.choice([other for other in texts["names"] if other not in present])
    subject = chance.choice(texts["scenes"][kind]["subjects"])

    def time(usual: str = "usual") -> Time:
        return drawn(chance, TIMES_OF[kind](chance, tuple(subject[usual])))

    words = subject | {"name": name, "TIME": time if kind in SEVERAL else time()}
    if kind == "place":
        words["CLOSE"] = time("closes")
    elif kind in ("season", "day"):
        words["before"] = preposition(words["TIME"])
    question, answer = chance.choice(texts["scenes"][kind]["turns"])
    lead, tail, aside = chance.choice(leads), chance.choice(texts["tails"]), ""
    if chance.random() < 0.5:
        aside = asides.pop().replace("{n}", chance.choice(spellings(chance.randint(2, 12))))
        lead = "" if lead == "And " else re.sub(" , $", " . ", lead)
    if not lead or lead[-2] in ".?":
        question = question[0].upper() + question[1:]
    question = lead.replace("{name}", present[1]) + aside + question
    answer = answer.replace(" ,{tail}", f" ,{tail}" if tail else "")
    return filled(question, words), filled(answer, words)


def dialog(chance: Random) -> list[Turn]:
    """Four to ten turns: perhaps a greeting, scenes about different things, perhaps a farewell."""
    texts = texts_of("dialogs")
    while True:
        first, second = chance.sample(texts["names"], 2)
        asides = chance.sample(texts["asides"], len(texts["asides"]))
        turns: list[Turn] = []
        if chance.random() < 0.3:
            words = {"name": second, "other": first}
            turns += [filled(turn, words) for turn in chance.choice(texts["openings"])]
        # Tasks are more frequent than the rest: most of the real challenge asks for durations.
        kinds = ["task", "task", *texts["scenes"]]
        chance.shuffle(kinds)
        for kind in kinds[: chance.choice([3, 3, 4])]:
            present = (first, second) if len(turns) % 2 == 0 else (second, first)
            leads = texts["leads" if turns else "first_leads"]
            turns += scene(chance, kind, present, leads, asides)
        if chance.random() < 0.3:
            turns.append(filled(chance.choice(texts["closings"]), {"name": second}))
        if sum(2 + len(re.findall(r"\w+|[^\w\s]", text_of(turn))) for turn in turns) <= LONGEST:
            return turns


def corpus(wanted: int, seed: int) -> dict[str, list[list[Turn]]]:
    """`wanted` different dialogs, by split.

    In validation and test one in twelve is a copy of a dialog of an earlier split.
    """
    chance, known, by_split = Random(seed), set(), {}
    sizes = {"train": wanted - 2 * (wanted // 12), "validation": wanted // 12, "test": wanted // 12}
    for split in SPLITS:
        before = [one for dialogs in by_split.values() for one in dialogs]
        by_split[split] = []
        while len(by_split[split]) < sizes[split]:
            if before and len(by_split[split]) % 12 == 5:
                by_split[split].append(chance.choice(before))
                continue
            one = dialog(chance)
            if (text := " ".join(map(text_of, one))) not in known:
                known.add(text)
                by_split[split].append(one)
    return by_split


# ---- In the format of DailyDialog


def line(turns: list[Turn], chance: Random) -> str:
    """A dialog as DailyDialog writes it, in places with odd spacing and signs of the real file."""
    texts = [text_of(turn) for turn in turns]
    if chance.random() < 0.3:
        texts = [text.replace("'", " ’ ") for text in texts]
    elif chance.random() < 0.1:
        texts = [text.replace("'", " ' ") for text in texts]
    for number, text in enumerate(texts):
        if chance.random() < 0.06:
            texts[number] = re.sub(r" \. (?=[A-Z])", ".", text, count=1)
        if chance.random() < 0.01:
            texts[number] = re.sub(r" \.$", " 。", texts[number])
    return "".join(f"{text} __eou__ " for text in texts).rstrip(" ")


def write_dailydialog(given: argparse.Namespace) -> None:
    chance = Random(given.seed + 2_000_003)
    for split, dialogs in corpus(given.dialogs, given.seed).items():
        text = "".join(f"{line(turns, chance)}\n" for turns in dialogs)
        with whole(given.output / f"{split}.zip") as place:
            with opened_zip(place, f"{split}/dialogues_{split}.txt") as opened:
                opened.write(text.encode("utf-8"))


# ---- In the format of TimeDial


def wrong_options(chance: Random, masked: Time, texts: str) -> list[tuple[str, str]]:
    """Two wrong options of different value, with the rule by which each was made.

    The rules are TimeDial's: 1 takes another time of the dialog, 2 a time with a number of the
    dialog, 3 any time. They are drawn in the real proportions. Where rule 1 or 2 finds nothing,
    rule 3 takes its place.
    """
    in_words = texts_of("dialogs")["numbers"].values()
    numbers = {word for word in re.split("[ :]", texts) if word.isdecimal() or word in in_words}
    phrases = [one for one in masked.wrong if f" {one[0]} " in f" {texts} "]
    numerals = [
        one
        for one in masked.wrong
        if numbers & set(re.split("[ :]", one[0])) and one not in phrases
    ]
    pools = {"Rule 1": phrases, "Rule 2": numerals, "Rule 3": masked.wrong}
    options: list[tuple[str, str]] = []
    values, written = [], []
    for weights in ((27, 42, 31), (5, 45, 50)):
        rule = chance.choices(list(pools), weights)[0]
        pool = [one for one in pools[rule] if one[1] not in values and one[0] not in written]
        if not pool:
            rule, pool = "Rule 3", [one for one in masked.wrong if one[1] not in values]
        text, value = chance.choice(pool)
        options.append((text, rule))
        values.append(value)
        written.append(text)
    return options


def instance(chance: Random, turns: list[Turn], extra: bool) -> dict | None:
    """A dialog with one of its times masked, as TimeDial writes it; None where no time is suitable.

    A suitable time stands in the dialog only once and has another right wording, preferably another
    right value.
    """
    dialog_text = " ".join(map(text_of, turns))
    able = [
        (number, place, piece)
        for number, turn in enumerate(turns)
        for place, piece in enumerate(turn)
        if isinstance(piece, Time)
        and len(re.findall(rf"(?<!\w){re.escape(piece.text)}(?!\w)", dialog_text)) == 1
        and any(text != piece.text for text, _ in piece.right)
        and len({value for _, value in piece.wrong}) > 1
    ]
    if not able:
        return None
    number, place, masked = chance.choice(able)
    others = [one for one in masked.right if one[0] != masked.text]
    others = [one for one in others if one[1] != masked.value] or others
    texts = [text_of(turn) for turn in turns]
    texts[number] = text_of([*turns[number][:place], MASK, *turns[number][place + 1 :]])
    conversation = [f"{'AB'[at % 2]}:{' ' if at else ''}{text}" for at, text in enumerate(texts)]
    (wrong1, rule1), (wrong2, rule2) = wrong_options(chance, masked, dialog_text)
    options = [masked.text, "none" if extra else chance.choice(others)[0], wrong1, wrong2]
    # As in the real file: spaces behind options, and an empty turn at the end of most dialogs.
    for at, text in enumerate(options):
        if text != "none" and chance.random() < 0.15:
            options[at] += " " * chance.randint(1, 2)
    if chance.random() < 0.73:
        conversation.append("")
    return {
        "conversation": conversation,
        "correct1": options[0],
        "correct2": options[1],
        "incorrect1": options[2],
        "incorrect1_rule": rule1,
        "incorrect2": options[3],
        "incorrect2_rule": rule2,
    }


def challenge(by_split: dict[str, list[list[Turn]]], wanted: int, seed: int) -> list[dict]:
    """One instance for each of some dialogs: an eighth, and a fortieth of extras, of `wanted`."""
    chance = Random(seed + 1_000_003)  # the dialogs are the same whether a challenge is made or not
    dialogs = {" ".join(map(text_of, one)): one for split in by_split.values() for one in split}
    order = list(dialogs.values())
    chance.shuffle(order)
    found: list[dict] = []
    for one in order:
        if len(found) == wanted // 40 + wanted // 8:
            break
        # Every sixth is an extra: most instances have two right options.
        if (masked := instance(chance, one, len(found) % 6 == 4)) is not None:
            found.append(masked | {"id": len(found) + 1})
    return found


def write_timedial(given: argparse.Namespace) -> None:
    instances = challenge(corpus(given.dialogs, given.seed), given.dialogs, given.seed)
    write(given.output / "test.json", json.dumps(instances, indent=1) + "\n")


FORMATS = {"dailydialog": write_dailydialog, "timedial": write_timedial}


def main(given: argparse.Namespace) -> None:
    FORMATS[given.format](given)
    log.info(
        "%s: sample of %d dialogs in the format of %s, seed %d",
        given.output,
        given.dialogs,
        given.format,
        given.seed,
    )


if __name__ == "__main__":
    execute(
        main, sample_arguments(__doc__, "dialogs", whole_number(48, 20_000), FORMATS).parse_args()
    )
