"""How answers are read: a last line `Answer: B`, or an answer that is nothing but options."""

import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scripts.train.asking.answer import CUT, TOO_LONG, WHOLE, Answer, Reading, reading_of
from scripts.train.asking.questions import Questions, readings_of, scores_of
from tests.rows import each_row

LABELS, TURNED = ["Yes", "No"], ["No", "Yes"]
CANDIDATES = ["two hours", "ten years", "a day", "three weeks"]
NLI = ["Yes, it must be true", "It may be true or false", "No, it must be false"]


def chosen(answer: str, *asked) -> set[int] | None:
    """The options that a whole answer names; None if the answer cannot be read."""
    return reading_of(Answer(answer), *asked).named


def letters_of(read: str | None) -> set[int] | None:
    return None if read is None else set(map("ABCDE".index, read))


@each_row(
    "answer, read",
    r"""
        A                    | A
        '**B**.'             | B
        '[[B]]'              | B
        【B】                 | B
        Ｂ                   | B
        '\boxed{B}'          | B
        <answer>B</answer>   | B
        "B<\x7Cim_end\x7C>"      | B
        B. No                | B
        '**B) "No"**'        | B
        'Answer: B'          | B
        "**Answer:** B"      | B
        "## Final answer\n\n**B**" | B
        '答案'                | null
        'Ａｎｓｗｅｒ：Ｂ'      | B
        'Answer: B. No'      | B
        'The correct answer is $\boxed{\text{B}}$.' | B
        '{"answer": "B"}'    | B
        "It takes a day. A is too long.\n\nAnswer: B" | B
        "Answer: A\nAnswer: B" | null
        "It takes a day. So A is wrong.\n\nB" | null
        "A. Yes\nB. No"      | null
        A. No                | null
        Yes (A)              | null
        A or B               | null
        A > B                | null
        Not A                | null
        A?                   | null
        ~~A~~                | null
        A-levels             | null
        B – it is too long.  | null
        'Answer: A, which is absurd' | null
        I think the answer is B | null
        No, the proposed answer is not plausible. | null
        C                    | null
        none                 | null
        ''                   | null
    """,
)
def test_one_option_is_read(answer, read):
    assert chosen(answer, LABELS, False) == letters_of(read)


@each_row(
    "answer, read",
    r"""
        A, C                      | AC
        A and C                   | AC
        (A), (C)                  | AC
        AC                        | AC
        BAD                       | ABD
        "['A', 'C']"              | AC
        "A\nC"                    | AC
        '\boxed{A, C}'            | AC
        <answer>A</answer> <answer>C</answer> | AC
        A (two hours), C (a day)  | AC
        two hours                 | A
        "two hours, a day"        | AC
        A day.                    | C
        "A fits, and C.\n\n**Answer: A, C**" | AC
        'Answer: none'            | ''
        None.                     | ''
        None of these             | null
        two hours, C              | null
        A, C, E                   | null
        A, B (no), C              | null
        A and C, but not B        | null
        "A: fine.\nC: fine.\n\nB is too long." | null
    """,
)
def test_several_options_are_read(answer, read):
    assert chosen(answer, CANDIDATES, True) == letters_of(read)


@each_row(
    "answer, options, several, read",
    [
        ("A", ["B", "A"], False, None),  # an option is the letter of another
        ("B", ["A", "B"], False, {1}),
        ("none", [*CANDIDATES, "none"], True, None),
        ("E. none", [*CANDIDATES, "none"], True, {4}),
        ("B. two hours", ["two hours", "Two hours."], True, {1}),
        ("A. Yes", TURNED, False, None),
        ("Answer: No, it must be false", NLI, False, {2}),
        ("No", NLI, False, None),
        ("Answer: NONE", CANDIDATES, True, set()),
        ("NO", list("abcdefghijklmnop"), True, None),
        ("5.5", ["5", "6"], False, None),
        ("5.", ["5", "6"], False, {0}),
    ],
)
def test_an_option_is_its_letter_with_its_own_text(answer, options, several, read):
    assert chosen(answer, options, several) == read


AFFIRMED = ["{0}", "**{0}**", "\\boxed{{{0}}}", "({0})", "<b>{0}</b>", "{0}.", "Answer: {0}"]
OTHERS = ["not {0}", "{0}?", "{0} or {1}", "{1}, {0}", "Is it {0}", "{0} is wrong", "all but {0}"]


@given(st.data(), st.permutations("ABCD"))
def test_only_a_letter_alone_is_read(data, letters):
    """Whatever stands before it, the last line decides; another line names no option."""
    before = data.draw(st.sampled_from(["", f"{letters[1]} fits.\n", f"So {letters[1]}\n"]))
    form = data.draw(st.sampled_from(AFFIRMED)).format(*letters)
    line = form if form.startswith("Answer") else f"Answer: {form}"
    assert chosen(before + line, CANDIDATES, False) == {"ABCD".index(letters[0])}
    other = data.draw(st.sampled_from(OTHERS)).format(*letters)
    assert chosen(f"{before}Answer: {other}", CANDIDATES, False) is None


RANKED = "CBA" + "DEFGHIJKLMNOPQRSTUVWXYZ"


@each_row(
    "answer, reading",
    [
        (Answer("A", WHOLE, RANKED), Reading({0}, WHOLE)),
        (Answer("Well.", WHOLE, RANKED), Reading({1}, WHOLE, (1, 0))),
        (Answer("A", CUT, RANKED), Reading({1}, CUT, (1, 0))),
        (Answer("<think>A", WHOLE, RANKED), Reading({1}, CUT, (1, 0))),
        (Answer("Well."), Reading(None, WHOLE)),
        (Answer("A", TOO_LONG), Reading(None, TOO_LONG)),
    ],
)
def test_an_answer_that_cannot_be_read_is_the_likeliest_letter(answer, reading):
    assert reading_of(answer, LABELS, several=False) == reading


def test_candidates_are_ranked_by_their_letters_if_the_answer_cannot_be_read():
    """Ranking, choosing the best and judging each candidate agree on the likeliest one."""
    questions = Questions(
        ["?"] * 2, [CANDIDATES] * 2, [], np.repeat([0, 1], 4), np.tile(range(4), 2)
    )
    answers = [Answer("Well.", WHOLE, RANKED), Answer("Answer: B, D", WHOLE, RANKED)]
    right = scores_of(questions, readings_of(questions, answers), ["wrong", "right"])[:, 1]
    assert right[:4].argsort().tolist() == [3, 0, 1, 2] and (right[:4] > 0.5).sum() == 1
    assert right[4:].tolist() == [0, 1, 0, 1]


@each_row(
    "unit", ["$", "\\boxed{", "} ", "<answer>", "A ", "A, ", "answer is ", "Answer: A\n", "\n", " "]
)
def test_a_long_answer_is_read_in_a_time_that_grows_with_it(unit):
    def seconds(count: int) -> float:
        began = time.process_time()
        chosen(unit * (count // len(unit)) + " A wrong", CANDIDATES, False)
        return time.process_time() - began

    # where the time grows with the square of the length, 0.7 s here are 10 s at 400,000
    assert seconds(100_000) < 20 * seconds(10_000) + 0.7


THOUGHTS = (
    "<think>\n{}\n</think>\n\n",
    "◁think▷{}◁/think▷",
    "<unused94>thought\n{}<unused95>",
    "<think time=3>{}</think >",
    "＜think＞{}＜/think＞",
    "<｜begin▁of▁thinking｜>{}<｜end▁of▁thinking｜>",
    "&lt;think&gt;{}&lt;/think&gt;",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "analysis{}assistantfinal",
    "<|channel>thought\n{}<channel|>",
    "<my:mark>{}<my:end>",
)
WORDED = ["Hmm, option B. The answer is B?", "B. No means it never ends.", "First A, then B."]


@each_row("form", THOUGHTS)
def test_only_what_follows_a_thought_is_the_answer(form):
    marks = "<my:end>" if "my:" in form else None
    for thought in WORDED:
        for answer, read in (("A", {0}), ("B. No", {1}), ("Yes", {0}), ("Who knows?", None)):
            text = form.format(thought) + answer
            assert chosen(text, ["Yes", "No"], False, marks) == read, text
        begun = form.format(f"{thought}\n\0").split("\0")[0]
        if begun[0] in "<[◁&a":
            assert chosen(begun, ["Yes", "No"], False, marks) is None, begun


@each_row("text, read", [("A", {0}), ("B. No", {1}), ("It is late. " * 9 + "\nAnswer: A", None)])
def test_without_its_mark_only_a_short_line_is_no_thought(text, read):
    assert chosen(text, LABELS, False, "<my:end>") == read
    assert chosen(f"B or so.<my:end>{text}", LABELS, False, "<my:end>") is not None
