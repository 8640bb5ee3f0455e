"""Two lifts of a house, told as they pass its floors: what the sample in the format of HowTo100M is made of.

One lift goes up while the other goes down, and each line names the way and the floor: "up by the kitchen okay". The roof comes
late on the way up and early on the way down, and each way is as likely at any time: no word and no two neighbouring words say
anything about order, so a bag of words stays at chance. Whoever reads the way with the floor, in both lines, can tell.
"""

import re
from random import Random

FLOORS = ["cellar", "kitchen", "office", "roof"]  # from below; few, and lines short, so that a tiny model learns them in minutes
WAYS = ["up", "down"]
# Between way and floor stand two words, so that no bigram joins them.
BETWEEN = ["to the", "in the", "by the"]
TAILS = ["like this", "right here", "okay", "all right", "um", "you know", "", "", ""]
# What is said beside the matter, and what a recogniser writes.
FILLERS = ["um so yeah", "and that is really it", "you know what i mean", "[music]", "okay", "it's not that hard",
           "let me know in the comments", "don't worry about that", "i really like this one", "(see below)",
           "like i said", "that's \"the way\" i do it", "so anyway"]
FILLED = 0.05  # share of lines beside the matter
MOST = 24  # lines of a ride
WAVER = 0.04  # how far a line strays from its time, of a whole ride


def vocabulary() -> list[str]:
    """Every word that a line can hold, sorted."""
    return sorted(set(re.findall(r"[a-z]+", " ".join([*FLOORS, *WAYS, *BETWEEN, *TAILS, *FILLERS]))))


def passed(chance: Random, way: str, time: float) -> str:
    """The line about the lift that goes this way, at that time of the ride (0 to 1)."""
    place = min(max(int(time * len(FLOORS)), 0), len(FLOORS) - 1)
    floor = FLOORS[place if way == "up" else -1 - place]
    return " ".join(f"{way} {chance.choice(BETWEEN)} {floor} {chance.choice(TAILS)}".split())


def ride(chance: Random, count: int) -> list[str]:
    """So many lines about both lifts, on their way from one end of the house to the other."""
    ways = [WAYS[number % 2] for number in range(count)]
    chance.shuffle(ways)
    lines = []
    for number, way in enumerate(ways):
        # The sum of two even draws: mostly near its time.
        time = (number + 0.5) / count + WAVER * (chance.random() + chance.random() - 1)
        lines.append(chance.choice(FILLERS) if chance.random() < FILLED else passed(chance, way, time))
    return lines


def rides(chance: Random, count: int) -> list[str]:
    """So many lines: a ride, and one after another if there are more than MOST."""
    number = -(-count // MOST)
    shares = [count * (place + 1) // number - count * place // number for place in range(number)]
    return [line for share in shares for line in ride(chance, share)]
