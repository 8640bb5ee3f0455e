"""Write a small sample corpus in the format of ActivityNet Captions or of HowTo100M, quirks of the real files included.

The sentences are our own: everyday procedures, told step by step. Steps of a procedure have a usual order, so that a
model can learn which of two comes first; their order wavers a little and some sentences have no place in it, so that
neighbours are harder to tell apart than distant ones. The same arguments give the same bytes on every machine.

--format activitynet   writes train.json, val_1.json, val_2.json, train_ids.json, val_ids.json: --videos videos in
                       train, a fifth of that in val_1, and the same again (a few fewer) in other words in val_2
--format howto100m     writes raw_caption.zip (raw_caption.json inside; with --unzipped that file itself) and
                       HowTo100M_v1.csv: speech as a recogniser would write it, about --captions-per-video lines each

    python -m scripts.fetch.sample --format activitynet --videos 900 --seed 1 --output /tmp/sample
    python -m scripts.fetch.sample --format howto100m --videos 240000 --captions-per-video 112 --unzipped \\
        --seed 1 --output /tmp/two_gigabytes
"""

import argparse
import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import BinaryIO

from tqdm import tqdm

from scripts.common.files import whole
from scripts.common.program import UserError, log, parser, run

# Each procedure: its two categories (as in HowTo100M_v1.csv), its place, and its steps in their usual order, each in
# two wordings. The first word of a step is its verb.
PROCEDURES = {
    "pancakes": ("Food and Entertaining", "Breakfast", "kitchen", """
        crack two eggs into a bowl | break some eggs into a dish
        pour milk over the eggs | add a splash of milk to the eggs
        whisk flour into the mixture | stir the flour in until it is smooth
        heat butter in a pan | melt a piece of butter in the pan
        pour batter into the hot pan | ladle the batter onto the hot surface
        flip the pancake over | turn the pancake with a spatula
        stack the pancakes on a plate | pile the golden pancakes up
        drizzle syrup on top | cover the stack in sweet syrup"""),
    "bicycle": ("Cars and Other Vehicles", "Bicycles", "garage", """
        turn the bicycle upside down | set the bike on its saddle
        loosen the wheel nuts with a wrench | undo the nuts of the wheel
        lift the wheel out of the frame | take the flat wheel off
        pry the tire off with levers | work the tire off the rim
        pull the old tube out | remove the punctured tube
        push a new tube under the tire | fit the fresh tube inside
        pump air into the tube | inflate the tube with a pump
        ride the bicycle around the yard | pedal the bike down the street"""),
    "painting": ("Home and Garden", "Home Improvements", "living room", """
        cover the floor with a sheet | spread plastic over the floor
        tape the edges of the window | stick tape along the frame
        open a can of paint | pry the lid off the paint can
        stir the paint with a stick | mix the paint until it is even
        dip a roller in the tray | load the roller with paint
        roll paint over the wall | coat the wall with the roller
        peel the tape off the frame | pull the tape away from the window
        hang a picture on the dry wall | move the sofa back against the painted wall"""),
    "dog": ("Pets and Animals", "Dogs", "bathroom", """
        lead the dog into the tub | carry the muddy dog to the tub
        rinse the dog with warm water | spray water over the fur
        squeeze shampoo onto the fur | put some shampoo on the back of the dog
        rub the soap into a thick foam | massage the foam into the coat
        wash the soap off | rinse all the foam away
        dry the dog with a towel | wrap the wet dog in a towel
        brush the clean fur | comb the fluffy coat
        give the dog a treat | reward the pet with a biscuit"""),
    "tree": ("Home and Garden", "Gardening", "garden", """
        mark a spot on the lawn | choose a spot in the grass
        dig a deep hole with a shovel | shovel soil out of the ground
        loosen the roots of the tree | untangle the roots by hand
        lower the tree into the hole | set the young tree in the ground
        fill the hole with soil | push earth back around the roots
        stamp the soil down firmly | press the earth flat with a boot
        water the tree with a hose | soak the ground around the trunk
        tie the trunk to a stake | spread mulch around the planted tree"""),
    "hair": ("Personal Care and Style", "Hair", "salon", """
        drape a cape around the customer | fasten a cape at the neck
        wet the hair with a bottle | spray the hair until it is damp
        comb the hair straight down | part the hair with a comb
        snip the ends with scissors | cut the length with sharp scissors
        trim the sides with clippers | shave the neck with the clippers
        dry the hair with a blower | blow warm air through the hair
        style the hair with wax | shape the new haircut with gel
        hold a mirror behind the head | sweep the cut hair off the cape"""),
    "tea": ("Food and Entertaining", "Drinks", "kitchen", """
        fill the kettle with water | run cold water into the kettle
        boil the water on the stove | bring the kettle to a boil
        warm the pot with a little water | swirl hot water around the pot
        spoon tea leaves into the pot | drop the leaves in the pot
        pour boiling water on the leaves | fill the pot to the brim
        wait for the tea to steep | let the tea brew for minutes
        strain the tea into a cup | pour the brown tea through a strainer
        sip the hot tea | drink the tea from the cup"""),
    "shoes": ("Personal Care and Style", "Fashion", "hallway", """
        pull the laces out of the shoes | take the laces off
        brush dirt off the leather | knock the dried mud away
        wipe the shoes with a damp cloth | clean the leather with soap
        scoop polish onto a rag | dab wax on the cloth
        rub polish into the leather | work the wax in with small circles
        buff the shoes until they shine | polish the toes to a bright shine
        thread the laces back in | put clean laces in the shoes
        wear the shiny shoes | stand up in the polished shoes"""),
    "tent": ("Sports and Fitness", "Outdoor Recreation", "forest", """
        clear stones from the ground | kick branches off the campsite
        unroll the tent on the grass | spread the tent out flat
        connect the poles together | snap the tent poles into one piece
        slide the poles through the sleeves | push a pole across the roof
        raise the tent into shape | lift the frame until it stands
        hammer pegs into the ground | pin the corners down with pegs
        throw the rain cover over the tent | clip the cover to the roof
        crawl into the tent with a sleeping bag | lie down inside the finished tent"""),
    "shelf": ("Hobbies and Crafts", "Woodworking", "workshop", """
        measure the boards with a ruler | draw a line across the board
        saw the wood along the line | cut the boards to size
        sand the rough edges | smooth the wood with sandpaper
        drill holes in the corners | bore small holes with a drill
        glue the joints | squeeze glue between the boards
        drive screws into the wood | screw the pieces together
        varnish the finished shelf | brush a clear varnish on the shelf
        put books on the shelf | mount the shelf on the wall"""),
    "car": ("Cars and Other Vehicles", "Cars", "driveway", """
        park the car in the shade | drive the dirty car up to the hose
        hose the dust off the car | spray the whole car with water
        fill a bucket with suds | mix soap into the bucket
        scrub the doors with a sponge | wash the hood with a soapy sponge
        rinse the suds away | spray the soap off the roof
        dry the windows with a cloth | wipe the drops off the paint
        spread wax over the hood | buff the wax to a gloss
        drive the sparkling car away | admire the glossy car"""),
    "violin": ("Arts and Entertainment", "Music", "studio", """
        unlock the violin case | open the case of the instrument
        tighten the bow | rub rosin along the bow
        tune the strings by ear | turn the pegs until the strings agree
        raise the violin to the chin | rest the instrument on the shoulder
        play a slow scale | draw long notes from the strings
        play the fast part of the song | move the bow rapidly through the melody
        hold the last note | let the final note fade
        bow to the audience | lay the violin back in its case"""),
    "salad": ("Food and Entertaining", "Vegetables", "kitchen", """
        wash the lettuce under the tap | rinse the green leaves in the sink
        spin the leaves dry | shake the water off the lettuce
        peel a cucumber | slice the skin off the cucumber
        chop the tomatoes into cubes | dice the red tomatoes on a board
        toss the vegetables together | mix the chopped vegetables in a bowl
        squeeze lemon over the salad | pour oil and lemon on top
        sprinkle cheese over the bowl | crumble cheese over the dressed salad
        taste a forkful of salad | serve the salad in small plates"""),
    "climbing": ("Sports and Fitness", "Individual Sports", "gym", """
        step into a harness | buckle the harness at the waist
        tie the rope in a knot | check the knot of the rope
        dust the hands with chalk | rub chalk between the fingers
        grab the lowest hold | place a foot on the first hold
        climb halfway up the wall | reach for a higher hold
        swing under the overhang | hang from the steep part by one arm
        touch the top of the wall | clip the rope at the very top
        lower down to the mat | land softly on the mat"""),
    "letter": ("Hobbies and Crafts", "Crafts", "office", """
        take a sheet of paper from the drawer | pick out a clean sheet of paper
        fill the pen with ink | dip the pen in dark ink
        write the date at the head of the page | begin the page with a greeting
        write several lines of text | cover the page in neat handwriting
        sign the letter | put a signature under the text
        fold the page in three | crease the paper along the middle
        slip the letter into an envelope | seal the envelope with a lick
        drop the envelope in a mailbox | glue a stamp on the sealed envelope"""),
    "window": ("Home and Garden", "Housekeeping", "balcony", """
        take the curtains down | move the plants off the sill
        brush cobwebs from the frame | vacuum dust from the corners of the frame
        fill a pail with warm water | stir vinegar into a pail of water
        soak the glass with a wet sponge | scrub stains off the glass
        drag a squeegee down the pane | scrape the water off with a blade
        wipe the edges with a dry rag | catch the drips with a rag
        polish the pane with newspaper | shine the clear glass with paper
        look out through the clear window | hang the curtains up again"""),
}

# Steps that many procedures share, with the place in time (0 to 1) around which they happen.
SHARED = {
    -0.10: """
        walk into the {place} | enter the {place}
        greet the viewers | say hello to everyone
        introduce the plan for today | explain what the plan is
        point at the tools on the table | name all the things that are needed
        roll up both sleeves | tie an apron on
        lay everything out in the {place} | gather the supplies in the {place}""",
    0.50: """
        check how it is going so far | inspect the work up close
        show the middle stage to the camera | hold it half done to the camera
        repeat the same move on the other side | do the same on the second side""",
    1.10: """
        show the finished result proudly | present the final result
        put the tools away | pack everything up again
        clean the {place} | tidy up the {place}
        wave goodbye | thank everyone for watching
        smile at the outcome | celebrate the success
        walk out of the {place} | leave the {place} at last""",
}

# Steps that can happen at any time and so say nothing about order.
ANYTIME = """
    talk about the weather | chat with someone nearby
    laugh at a joke | joke with a friend
    look at the camera | glance at the camera
    scratch an ear | push back a lock of hair
    listen to a question | answer a question from behind the camera
    move a little to the left | step to one side
    drink a sip of juice | take a short break
    nod at a neighbor | wink at a friend
    look around | turn to the left
    hum a tune | whistle a tune"""

# Whole sentences without a person: at the beginning, at the end, at any time.
CARDS = {
    -0.15: ["A title screen is seen.", "An intro leads into the scene."],
    1.15: ["The credits of the clip are shown.", "The screen fades to black."],
    None: ["Text appears on the screen.", "The camera pans around.", "People watch from the side."],
}

PERSONS = ["a man", "the man", "a woman", "the woman", "he", "she", "a young girl", "the girl", "a boy", "the boy",
           "an old man", "a lady", "the lady", "a person", "the person", "the instructor", "a teacher", "someone"]
MANNERS = ["slowly", "carefully", "quickly", "with both hands", "with great care", "again", "in a hurry", "calmly",
           "without looking", "for a while", "as music plays", "while someone watches"]
# Words before a step that say roughly when it happens (before that share of the whole), or nearly nothing.
LINKS = {0.3: ["first", "to begin with", "at the start", "to get ready"],
         0.7: ["then", "next", "now", "after that", "meanwhile"],
         9.9: ["finally", "in the end", "to finish", "when all is done"]}

# How a speaker leads into a step, and what is said beside the matter.
LEADS = ["so now we're going to", "go ahead and", "what i like to do is", "you want to", "and then i just",
         "okay let's", "now you can", "all you have to do is", "i'm gonna", "the next thing is to", "we",
         "and", "just", "so you", "then"]
TAILS = ["like this", "right here", "okay", "you know", "just like that", "all right", "as you can see", "and so on",
         "um", "pretty simple"]
FILLERS = ["um so yeah", "and that is really it", "you know what i mean", "[music]", "okay", "it's not that hard",
           "let me know in the comments", "don't worry about that", "i really like this one", "(see below)",
           "like i said", "that's \"the way\" i do it", "so anyway"]

WAVER = 0.09  # how far a step strays from its usual place in time, of a whole video's length
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
POOL = 2000  # videos that are told anew; a larger HowTo100M repeats them under other ids


def wordings(block: str) -> list[list[str]]:
    """Each line of a block as its two wordings."""
    return [[side.strip() for side in line.split("|")] for line in block.strip().splitlines()]


def third_person(step: str) -> str:
    """A step with its verb, the first word, in the third person."""
    verb, _, rest = step.partition(" ")
    if re.search(r"(s|sh|ch|x|z|o)$", verb):
        verb += "es"
    elif re.search(r"[^aeiou]y$", verb):
        verb = verb[:-1] + "ies"
    else:
        verb += "s"
    return f"{verb} {rest}".strip()


def vocabulary() -> list[str]:
    """Every lower-cased word that a text of a sample corpus can hold, sorted."""
    steps = [wording for *_, block in PROCEDURES.values() for step in wordings(block) for wording in step]
    steps += [wording for block in [*SHARED.values(), ANYTIME] for step in wordings(block) for wording in step]
    texts = [*steps, *map(third_person, steps), *(place for _, _, place, _ in PROCEDURES.values()),
             *(card for cards in CARDS.values() for card in cards),
             *(link for links in LINKS.values() for link in links), *PERSONS, *MANNERS, *LEADS, *TAILS, *FILLERS]
    return sorted(set(re.findall(r"[a-z]+", " ".join(texts).lower().replace("{place}", " "))))


def any_procedure(chance: Random) -> str:
    """The name of a procedure; those that stand first in PROCEDURES are drawn more often."""
    names = list(PROCEDURES)
    return chance.choice(names[: chance.randint(1, len(names))])


def outline(chance: Random, procedure: str, fewest: int, most: int) -> list[tuple[float, list[str]]]:
    """The steps of one telling of a procedure, as (time, two wordings), in the order in which they happen."""
    *_, place, block = PROCEDURES[procedure]
    own = wordings(block)
    drawn = [((number + 0.5) / len(own), step) for number, step in enumerate(own)]
    drawn = chance.sample(drawn, chance.randint(min(3, fewest), len(own)))
    for time, shared in SHARED.items():
        drawn += [(time, step) for step in chance.sample(wordings(shared), chance.randint(0, 2))]
    drawn += [(chance.random(), step) for step in chance.sample(wordings(ANYTIME), chance.randint(0, 2))]
    drawn = chance.sample(drawn, min(len(drawn), chance.randint(fewest, most)))
    # The sum of two even draws: a step mostly stays near its place. (No logarithm or cosine: their last bits vary.)
    happened = [(time + WAVER * (chance.random() + chance.random() - 1) * 2, step) for time, step in drawn]
    return sorted([(time, [side.format(place=place) for side in step]) for time, step in happened])


def linked(chance: Random, time: float) -> str:
    """A word or a few before a step that happens at that time."""
    return chance.choice(next(links for before, links in LINKS.items() if time < before))


def sentences(chance: Random, steps: list[tuple[float, list[str]]]) -> list[str]:
    """The steps as written sentences, with a card or two among them."""
    told = []
    for time, step in steps:
        words = third_person(chance.choice(step))
        if chance.random() < 0.5:
            words = f"{words} {chance.choice(MANNERS)}"
        text = f"{chance.choice(PERSONS)} {words}"
        if chance.random() < 0.35:
            text = f"{linked(chance, time)} {text}"
        told.append((time, f"{text[0].upper()}{text[1:]}."))
    for usual, cards in CARDS.items():
        if chance.random() < 0.12:
            time = chance.random() if usual is None else usual
            told.append((time, chance.choice(cards)))
    return [text for _, text in sorted(told)]


def captioned(chance: Random, steps: list[tuple[float, list[str]]], duration: float) -> dict:
    """One video as ActivityNet has it: duration, timestamps, sentences."""
    texts = sentences(chance, steps)
    borders = [duration * (number + 0.3 * chance.random()) / len(texts) for number in range(len(texts) + 1)]
    spans = [[round(begin, 2), round(min(end + 3 * chance.random(), duration), 2)]
             for begin, end in zip(borders, borders[1:])]
    spans[0][0] = chance.choice([0, 0, spans[0][0]])
    texts = [texts[0], *(f" {text}" if chance.random() < 0.7 else text for text in texts[1:])]
    return {"duration": duration, "timestamps": spans, "sentences": texts}


def disturb(chance: Random, videos: dict[str, dict]) -> None:
    """Put the quirks of the real files into a split, in place: each occurs, whatever the seed."""
    long = [video for video in videos.values() if len(video["sentences"]) >= 5]

    def some(share: float) -> list[dict]:
        return chance.sample(long, min(len(long), 1 + int(share * len(long))))

    for video in some(0.03):
        pieces = list(zip(video["timestamps"], video["sentences"]))
        pieces[1], pieces[2] = pieces[2], pieces[1]
        video["timestamps"], video["sentences"] = map(list, zip(*pieces))
    for video in some(0.03):
        video["sentences"][3] = video["sentences"][3].replace(" ", "  ")
    for video in some(0.01):
        video["sentences"][4] = video["sentences"][4].lstrip().replace(" ", "\n", 1)
    for video in some(0.02):
        video["timestamps"][-1][1] = round(video["duration"] + 0.01 + 0.98 * chance.random(), 2)
    for video in some(0.05):
        video["timestamps"][1] = [int(second) for second in video["timestamps"][1]]
    for video in some(0)[:1]:
        begin, end = video["timestamps"][3]
        video["timestamps"][3] = [end, begin]
    for video in some(0)[:1]:
        video["timestamps"][0] = [video["timestamps"][0][0]] * 2


def identifiers(chance: Random, count: int) -> list[str]:
    """So many different ids of eleven characters, as YouTube's."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(ALPHABET, k=11))] = None
    return list(found)


def activitynet(videos: int, seed: int) -> dict[str, dict | list]:
    """The five files of captions.zip, by name."""
    chance = Random(seed)
    evaluated = max(2, videos // 5)
    names = [f"v_{name}" for name in identifiers(chance, videos + evaluated + 5)]
    unlisted = [names.pop() for _ in range(5)]
    corpus: dict[str, dict] = {"train.json": {}, "val_1.json": {}, "val_2.json": {}}
    for number, name in enumerate(names):
        procedure = any_procedure(chance)
        # A quarter of the videos is short, as many of the real ones are.
        steps = outline(chance, procedure, *((3, 4) if chance.random() < 0.25 else (5, 12)))
        duration = round(20 + 180 * chance.random(), 2)
        if number < videos:
            corpus["train.json"][name] = captioned(chance, steps, duration)
            continue
        corpus["val_1.json"][name] = captioned(chance, steps, duration)
        if number % 25 != 7:
            steps = sorted(chance.sample(steps, max(min(3, len(steps)), int(0.85 * len(steps)))))
            corpus["val_2.json"][name] = captioned(chance, steps, duration)
    for split in corpus.values():
        disturb(chance, split)
    # Some sentences of val_1 occur in train as they are.
    shared = chance.sample(list(corpus["val_1.json"].values()), 1 + evaluated // 50)
    train = list(corpus["train.json"].values())
    for video in shared:
        video["sentences"][-1] = train[chance.randrange(len(train))]["sentences"][-1]
    listed = {"train_ids.json": [*corpus["train.json"], *unlisted[:3]],
              "val_ids.json": [*corpus["val_1.json"], *unlisted[3:]]}
    for ids in listed.values():
        chance.shuffle(ids)
    return corpus | listed


def uttered(chance: Random, time: float, step: list[str], count: int) -> list[str]:
    """One step in so many lines: said, perhaps in two pieces, said again in other words, then beside the matter."""
    lines = []
    for wording in chance.sample(step, len(step)):
        lead = linked(chance, time) if chance.random() < 0.3 else chance.choice(LEADS)
        parts = f"{lead} {wording}".split()
        if chance.random() < 0.2:
            parts += chance.choice(TAILS).split()
        cut = chance.randint(2, len(parts)) if count > 1 and chance.random() < 0.4 else len(parts)
        lines += [" ".join(piece) for piece in (parts[:cut], parts[cut:]) if piece]
    while len(lines) < count:
        lines.append(chance.choice(FILLERS))
    return lines[:count]


def spoken(chance: Random, count: int) -> list[str]:
    """So many lines of speech: a procedure in up to 45 lines, and one after another if there are more."""
    procedures = -(-count // 45)
    lines: list[str] = []
    for number in range(procedures):
        share = count * (number + 1) // procedures - len(lines)
        steps = outline(chance, any_procedure(chance), 8, 16)
        steps = sorted(chance.sample(steps, min(share, len(steps))))
        begun = [share * place // len(steps) for place in range(len(steps) + 1)]
        for (time, step), first, last in zip(steps, begun, begun[1:]):
            lines += uttered(chance, time, step, last - first)
    return lines


def narrated(chance: Random, count: int) -> dict:
    """One video as HowTo100M has it: start, end, text, with what a speech recogniser leaves behind."""
    lines = spoken(chance, count)
    for number in range(1, count):
        draw = chance.random()
        if draw < 0.03:
            lines[number] = lines[number - 1]
        elif draw < 0.07:
            lines[number] = f"{lines[number - 1]} {lines[number]}"
    starts, now = [], 2 * chance.random()
    for _ in lines:
        starts.append(round(now, 2))
        now += 1 + 3 * chance.random()
    ends = [round(start + 2 + 3 * chance.random(), 2) for start in starts]
    texts: list = list(lines)
    for number in range(count):
        draw = chance.random()
        if draw < 0.01:
            texts[number] = texts[number].replace(" ", "\n", 1)
        elif draw < 0.013:
            texts[number] = chance.choice(["", " "])
        elif draw < 0.014:
            texts[number] = float("nan")
        elif draw < 0.015:
            texts[number] = f"{{so}} {texts[number]} \\ }}"
        elif draw < 0.016:
            texts[number] = chance.choice([None, 100, 2.5])
    if chance.random() < 0.02:
        starts[1], starts[2] = starts[2], starts[1]
    if chance.random() < 0.01:
        texts.pop()
    elif chance.random() < 0.01:
        ends.pop()
    return {"start": starts, "end": ends, "text": texts}


def lengths(chance: Random, average: int, count: int) -> list[int]:
    """So many numbers of captions, evenly between 0.4 and 1.6 of the average."""
    return [chance.randint(max(3, average * 2 // 5), max(3, average * 8 // 5)) for _ in range(count)]


def howto100m(names: list[str], captions_per_video: int, chance: Random) -> Iterator[bytes]:
    """raw_caption.json, video by video. Past POOL videos the same bodies come again, in another order."""
    pool = [json.dumps(narrated(chance, length)).encode()
            for length in lengths(chance, captions_per_video, min(len(names), POOL))]
    order = list(range(len(pool)))
    yield b"{"
    for number, name in enumerate(tqdm(names, unit="video", disable=None)):
        if number and number % len(pool) == 0:
            chance.shuffle(order)
        yield (b", " if number else b"") + f'"{name}": '.encode() + pool[order[number % len(pool)]]
    yield b"}"


def listing(names: list[str], chance: Random) -> str:
    """HowTo100M_v1.csv for these videos, less a few and with a few that have no captions."""
    kinds = sorted({(first, second) for first, second, *_ in PROCEDURES.values()})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["video_id", "task_id", "rank", "category_1", "category_2"])
    rows = [name for name in names if chance.random() >= 0.01] + identifiers(chance, 3)
    for name in rows:
        task = chance.randrange(len(kinds))
        writer.writerow([name, task, chance.randint(1, 200), *kinds[task]])
    return text.getvalue()


@contextmanager
def opened_zip(place: Path, member: str) -> Iterator[BinaryIO]:
    """A member of a new zip to write to. It is stored, not compressed: versions of zlib compress differently."""
    with zipfile.ZipFile(place, "w") as archive:
        entry = zipfile.ZipInfo(member, date_time=(2019, 6, 6, 0, 0, 0))
        entry.external_attr = 0o644 << 16
        entry.create_system = 3
        with archive.open(entry, "w", force_zip64=True) as opened:
            yield opened


def write_activitynet(given: argparse.Namespace) -> int:
    """Write the five files; returns the bytes written."""
    written = 0
    for name, value in activitynet(given.videos, given.seed).items():
        with whole(given.output / name) as place:
            written += place.write_bytes(json.dumps(value).encode())
    return written


def write_howto100m(given: argparse.Namespace) -> int:
    """Write the captions as a stream, and the listing; returns the bytes of the captions."""
    chance = Random(given.seed)
    names = identifiers(chance, given.videos)
    with whole(given.output / "HowTo100M_v1.csv") as place:
        place.write_text(listing(names, chance), encoding="utf-8", newline="")
    written = 0
    with whole(given.output / f"raw_caption.{'json' if given.unzipped else 'zip'}") as place:
        with open(place, "wb") if given.unzipped else opened_zip(place, "raw_caption.json") as opened:
            for piece in howto100m(names, given.captions_per_video, chance):
                written += opened.write(piece)
    return written


def main(given: argparse.Namespace) -> None:
    if given.videos < 10:
        raise UserError(f"--videos {given.videos} is too few to hold every quirk; ask for at least 10")
    written = (write_activitynet if given.format == "activitynet" else write_howto100m)(given)
    log.info("%s: sample corpus in the format of %s, %d videos, seed %d, %.1f MB",
             given.output, given.format, given.videos, given.seed, written / 1e6)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__)
    made.add_argument("--format", choices=["activitynet", "howto100m"], required=True)
    made.add_argument("--videos", type=int, required=True, help="how many; of activitynet, in train (at least 10)")
    made.add_argument("--seed", type=int, required=True)
    made.add_argument("--output", type=Path, required=True, help="the folder to write to")
    made.add_argument("--captions-per-video", type=int, default=25,
                      help="of howto100m, on average; 25 unless told, the real file has 112")
    made.add_argument("--unzipped", action="store_true", help="of howto100m: write raw_caption.json itself")
    return made


if __name__ == "__main__":
    run(main, arguments().parse_args())
