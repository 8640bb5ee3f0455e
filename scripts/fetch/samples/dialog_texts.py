"""What the people of the sample dialogs talk about, and how they say it.

The dialogs are our own: two people talk about how long things take, when they happen, how often, and how old somebody is.
"""

import re

MINUTES = {"second": 1 / 60, "minute": 1, "hour": 60, "day": 1440, "week": 10080, "month": 43200, "year": 525600}
# What is usually counted in each unit, beside one of it.
COUNTS = {"second": (10, 20, 30, 40), "minute": (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 45), "hour": range(2, 13),
          "day": (2, 3, 4, 5, 6, 8, 10, 12), "week": (2, 3, 4, 5, 6, 8, 10), "month": (2, 3, 4, 5, 6, 7, 8, 9, 10),
          "year": (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30)}
NUMBERS = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())) | {
    15: "fifteen", 20: "twenty", 25: "twenty-five", 30: "thirty", 40: "forty", 45: "forty-five", 50: "fifty", 60: "sixty",
    70: "seventy", 75: "seventy-five", 80: "eighty", 85: "eighty-five", 90: "ninety"}
MONTHS = "January February March April May June July August September October November December".split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
WORKDAYS, WEEKEND = range(5), (5, 6)

# What people do and how many minutes it takes, least and most.
TASKS = {
    "boil an egg": (3, 10), "feed the cat": (2, 10), "make a cup of coffee": (3, 10), "iron a shirt": (5, 15),
    "take a shower": (5, 15), "walk to the bus stop": (4, 15), "wash the dishes": (10, 30), "change a tyre": (15, 45),
    "watch the new film": (120, 180), "fly to London": (180, 720), "drive to the coast": (120, 360),
    "roast a turkey": (180, 300), "paint the kitchen": (240, 600), "play a round of golf": (180, 300),
    "clean the whole house": (180, 480),
    "get over a bad cold": (5760, 14400), "get a parcel from China": (7200, 17280), "drive across the country": (4320, 11520),
    "get a visa": (7200, 17280), "read that thick novel": (20160, 40320), "travel around Europe": (20160, 60480),
    "train for a long race": (40320, 100800), "build a garage": (86400, 216000), "plan a big wedding": (216000, 432000),
    "learn to drive a car": (86400, 259200), "write a cookbook": (216000, 432000), "get a degree": (3 * 525600, 5 * 525600),
    "become a doctor": (6 * 525600, 10 * 525600), "learn to play the violin well": (4 * 525600, 10 * 525600),
    "pay for the whole house": (15 * 525600, 30 * 525600),
}
# Who is how old, in years, least and most; he, she or it.
PEOPLE = {
    "baby": (0.2, 0.9, "she"), "new puppy": (0.2, 0.6, "it"), "little son at school": (6, 11, "he"),
    "little niece at school": (6, 11, "she"), "daughter at university": (19, 23, "she"), "cousin at college": (18, 23, "he"),
    "boss": (40, 60, "she"), "mother": (45, 65, "she"), "grandmother": (70, 90, "she"), "grandfather": (70, 90, "he"),
}
# What happens at which hours of the day.
HOURS = {
    "have breakfast": (6, 7, 8), "get up": (5, 6, 7), "walk the dog before work": (6, 7), "have lunch": (12, 13),
    "meet for lunch": (12, 13), "have dinner": (18, 19, 20), "watch the evening news": (19, 20, 21), "go to bed": (22, 23),
    "turn off all the lights": (22, 23), "pick the kids up from school": (14, 15, 16), "start work": (8, 9),
}
PLACES = {
    "bank": ((8, 9), (16, 17)), "bakery": ((5, 6), (15, 16, 17)), "museum": ((9, 10), (17, 18)),
    "night club": ((21, 22), (3, 4)),
    "library": ((9, 10), (18, 19)), "post office": ((8, 9), (16, 17)),
}
# What is done how many times a year, least and most.
HABITS = {
    "feed the dog": (365, 1100), "water the flowers": (180, 400), "take that medicine": (365, 1500),
    "check the mail": (300, 800),
    "go to the gym": (52, 210), "change the sheets": (26, 60), "cut the grass": (26, 60), "call the old aunt": (26, 110),
    "pay the rent": (12, 12), "get a haircut": (6, 12), "go to the dentist": (1, 2), "celebrate the birthday": (1, 1),
    "vote for a president": (0.2, 0.25), "buy a new car": (0.1, 0.25), "move to another city": (0.1, 0.25),
}
RUNS = {"city bus": (5256, 60000), "night train": (365, 365), "airport shuttle": (8760, 35040)}
# What is done in which months (from 0), on which days of the week (from 0), and what began in which years.
SEASONS = {
    "go skiing": (0, 1), "pick the apples": (8, 9), "plant the tulips": (2, 3), "swim in the lake": (5, 6, 7),
    "go to the beach": (5, 6, 7), "shovel the snow": (0, 1), "cut the roses": (4, 5), "pick the grapes": (8, 9),
}
DAYS = {
    "go to church": (6,), "have a picnic with the kids": WEEKEND, "sleep late": WEEKEND, "see the office manager": WORKDAYS,
    "write the school test": WORKDAYS, "watch the football game": WEEKEND, "go to the bank": WORKDAYS,
}
BORN = {
    "my grandfather was born": range(1930, 1946), "my grandmother was born": range(1932, 1948),
    "our baby was born": range(2019, 2025), "the new airport opened": range(2008, 2022),
    "the old castle was built": range(1520, 1680, 10), "my twin sisters were born": range(1990, 2004),
}

NAMES = ("Alice Ben Carla David Emma Frank Grace Henry Irene Jack Karen Leo Maria Nick Olivia Peter Rose Sam Tina Victor "
         "Wendy Paul Linda Tom").split()
OPENINGS = [
    ("Hello , {name} ! How are you doing ?", "I'm fine , {other} , thank you . And you ?"),
    ("Good to see you , {name} . You look tired .", "I know , {other} . I've worked too much ."),
    ("Hi , {name} . Do you have a moment ?", "Sure , {other} . What can I do for you ?"),
    ("Excuse me , are you {name} ?", "Yes , I am . You must be {other} ."),
    ("{name} , can I ask you something ?", "Of course you can , {other} . Go ahead ."),
    ("Oh , {name} ! I didn't expect to see you here .", "What a nice surprise , {other} !"),
]
LEADS = ["", "", "By the way , {name} , ", "Tell me , {name} , ", "I see . ", "Really ? ", "That's good to know . ",
         "Well , {name} , ", "One more question , {name} . ", "I'm curious . ", "Oh , that's right . ",
         "Something else , {name} . ", "And "]
FIRST_LEADS = ["", "Tell me , {name} , ", "Listen , {name} . ", "Excuse me , {name} . ", "I'm curious , {name} . ",
               "Hi , {name} . "]
TAILS = ["", "", "", "", "", " I think", " as far as I know", " to be honest", " so {name} told me", " as you can guess",
         " if I'm right", " just as my friend {name} said", " at least at our place", " believe it or not"]
CLOSINGS = [
    "Thanks , {name} . See you tomorrow .", "All right . I have to go , {name} .",
    "Great . Let's talk about it next week , {name} .",
    "Thank you so much for your help , {name} .", "I must hurry . {name} is waiting for me .",
    "OK , {name} . I'll call you tonight .",
]
# Times that nothing else in the dialog tells: {n} is a number from two to twelve.
ASIDES = ["I only have {n} minutes left . ", "I've known you for {n} years . ", "I was away for {n} days . ",
          "I waited here for {n} hours . ", "We last met {n} weeks ago . ", "I moved here {n} months ago . "]
# Two turns each, a question and its answer. What stands in braces is drawn: times in capital letters.
SCENES = {
    "task": [
        ("how long does it take to {do} ?", "It usually takes {TIME} ,{tail} ."),
        ("how long do you need to {do} ?", "I need {TIME} to {do} ,{tail} ."),
        ("are you going to {do} ?", "Yes , and I'll be done in {TIME} ,{tail} ."),
        ("do you want to {do} ?", "I do , but it takes {TIME} ,{tail} ."),
        ("I'm going to {do} .", "You know that you can't {do} faster than in {TIME} ,{tail} ."),
        ("what did {name} do ?", "{name} had to {do} . It took {TIME} ,{tail} ."),
        ("is it hard to {do} ?", "No , {name} managed to {do} in {TIME} ,{tail} ."),
    ],
    "age": [
        ("how old is your {who} ?", "My {who} is {TIME} ,{tail} ."),
        ("is that a picture of your {who} ?", "Yes , {he} is {TIME} ,{tail} ."),
        ("I met your {who} and {name} at the party .", "Did you know that {he} is only {TIME} ?"),
    ],
    "clock": [
        ("when do you {do} ?", "I always {do} at {TIME} ,{tail} ."),
        ("shall we {do} together ?", "Gladly . We can do that at {TIME} ,{tail} ."),
        ("does {name} {do} at {TIME} ?", "Yes , but I {do} at {TIME} ,{tail} ."),
    ],
    "place": [
        ("is the {place} still open ?", "I think so . The {place} opens at {OPEN} and closes at {CLOSE} ,{tail} ."),
        ("when does the {place} open ?", "It opens at {OPEN} ,{tail} , and {name} closes it at {CLOSE} ."),
    ],
    "habit": [
        ("how often do you {do} ?", "I {do} {TIME} ,{tail} ."),
        ("do you really {do} {TIME} ?", "No , but {name} has to {do} {TIME} ,{tail} ."),
        ("who is going to {do} ?", "{name} will do it {TIME} ,{tail} ."),
    ],
    "run": [
        ("how often does the {bus} run ?", "The {bus} leaves {TIME} ,{tail} ."),
        ("did {name} miss the {bus} ?", "Don't worry , there is one {TIME} ,{tail} ."),
    ],
    "season": [
        ("when do you {do} ?", "We {do} {in} {IN} ,{tail} ."),
        ("would you like to {do} with {name} ?", "Yes , let's do that {in} {IN} ,{tail} ."),
    ],
    "day": [
        ("when will you {do} ?", "I want to {do} {on}{DAY} ,{tail} ."),
        ("are you free to {do} with {name} ?", "Yes , we could do that {on}{DAY} ,{tail} ."),
    ],
    "born": [
        ("do you know when {born} ?", "I believe it was in {YEAR} ,{tail} ."),
        ("{name} says that {born} in {YEAR} .", "That must be true ,{tail} ."),
    ],
}


def texts() -> list[str]:
    """Every piece of text of which the corpus is made."""
    pieces = [*TASKS, *PEOPLE, *HOURS, *PLACES, *HABITS, *RUNS, *SEASONS, *DAYS, *BORN, *NAMES, *LEADS, *FIRST_LEADS, *TAILS,
              *CLOSINGS, *ASIDES, *(turn for pair in OPENINGS for turn in pair),
              *(turn for pairs in SCENES.values() for pair in pairs for turn in pair)]
    units = [word for unit in MINUTES for word in (unit, f"{unit}s")]
    numbers = [str(number) for number in range(91)]
    born = [str(year) for years in BORN.values() for year in years]
    return [*(re.sub(r"\{\w+\}", " ", piece) for piece in pieces), *units, *numbers, *born, *NUMBERS.values(), *MONTHS,
            *WEEKDAYS, "am pm o'clock old once twice three four times every next this in on he she it"]
