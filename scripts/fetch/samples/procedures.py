"""Everyday procedures, told step by step: what the sample in the format of ActivityNet Captions is made of.

The sentences are our own. Steps of a procedure have a usual order, so that a model can learn which of two comes first;
their order wavers a little and some sentences have no place in it, so that neighbours are harder to tell apart than
distant ones.
"""

import re
from random import Random

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

WAVER = 0.09  # how far a step strays from its usual place in time, of a whole video's length


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
    """Every lower-cased word that a sentence of this sample can hold, sorted."""
    steps = [wording for *_, block in PROCEDURES.values() for step in wordings(block) for wording in step]
    steps += [wording for block in [*SHARED.values(), ANYTIME] for step in wordings(block) for wording in step]
    texts = [*map(third_person, steps), *(place for _, _, place, _ in PROCEDURES.values()),
             *(card for cards in CARDS.values() for card in cards),
             *(link for links in LINKS.values() for link in links), *PERSONS, *MANNERS]
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
