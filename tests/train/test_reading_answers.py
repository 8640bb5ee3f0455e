"""How answers are read: an option counts only where the answer affirms it."""

import time

import numpy as np
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scripts.train.asking.answer import CUT, Answer, reading_of
from scripts.train.asking.questions import Questions, chosen, readings_of
from tests.rows import each_row

OPTIONS = yaml.safe_load("""
labels: ['Yes', 'No']
turned: ['No', 'Yes']
several: [two hours, ten years, a day, three weeks]
several and no: [two hours, ten years, a day, three weeks, 'no']
several and none: [none, ten years, a day, three weeks]
letters: [A, B]
letters turned: [B, A]
first: [The first moment, The second moment]
moments: [The moment of sentence 1, The moment of sentence 2]
nli: ['Yes, it must be true', It may be true or false, 'No, it must be false']
endings: [walks out of the house., waits for a while.]
sentences: [He walks out of the house., He waits.]
""")
LABELS, CANDIDATES, NLI = OPTIONS["labels"], OPTIONS["several"], OPTIONS["nli"]


def letters_of(read: str | None) -> set[int] | None:
    return None if read is None else set(map("ABCDE".index, read))


@each_row(
    "answer, read",
    r"""
        A                    | A
        B. No                | B
        ' (b) '              | B
        'answer: b'          | B
        no.                  | B
        '**B**'              | B
        The answer is B      | B
        The best answer is clearly B for this question. | B
        I would say option A | A
        I'd go with A.       | A
        B is right, A is not | B
        'Both A. and B. are possible, but the answer is: B' | B
        A. Yes               | A
        Yes (A)              | A
        A (Yes)              | A
        '\boxed{B}'          | B
        'So $\boxed{\text{B}}$.' | B
        'It is \(\mathbf{B}\)' | B
        <answer>B</answer>   | B
        '{"answer": "B"}'    | B
        '{"reason": "A is too long", "answer": "B"}' | B
        "**Answer:** B"      | B
        "## Answer\n\n**A**" | A
        '[[B]]'              | B
        B - No               | B
        B – it is too long.  | B
        Ｂ                   | B
        B</s>                | B
        B<end_of_turn>       | B
        "It takes a day. So A is wrong.\n\nB" | B
        No, the proposed answer is not plausible. | B
        "It takes a day.\n\nNo." | B
        B. No, the proposed answer is yes. | B
        The correct answer is B, the wrong answer is A. | B
        "B\n\nExplanation: the other answers are: A and so on" | B
        "B. No\n\nIf he slept all day, the answer would be A." | B
        '\boxed{B}. \boxed{A} is wrong' | B
        The answer is A. Wait, no, it's B. | B
        "[ ] A\n[x] B"       | B
        A) is wrong. B) is right. | B
        The answer is A. I changed my mind, B. | null
        "Answer: A\nVerdict: B" | null
        "Answer: A\nRevised: B" | null
        The answer is A. I was wrong, it is B. | B
        No, it is plausible. | null
        B. No, because it is plausible. | null
        B. No. It is plausible.         | null
        "That is not plausible.\nAnswer: A" | null
        B. No, because it is not plausible. | B
        A. Yes, that is plausible.      | A
        'Answer: A seems far-fetched'   | null
        'Answer: A is refuted by the text' | null
        The answer is A in the text's story of a cook | null
        The answer is B based on the text | B
        The answer is B as it takes years. | B
        According to some the answer is A | null
        According to some, the answer is A. | null
        In the previous question the answer is A | null
        In the last question, the answer is A.   | null
        In this context, the answer is A. | A
        According to the text, the answer is B. | B
        Based on how long meals last, the answer is A. | A
        Many people would say A      | null
        A. That was a mistake.       | null
        A. Just kidding.             | null
        A. I take that back.         | null
        A must go.                   | null
        A is out.                    | null
        'Answer: A, which is absurd'  | null
        'Answer: A (absurd)'          | null
        'Answer: A: absurd'           | null
        'A: absurd'                   | null
        Which option is wrong? A     | null
        'Answer: A ≠'                | null
        A /                          | null
        A and                        | null
        A,                           | null
        A?                           | null
        Yes?                         | null
        '!A'                         | null
        ≠ A                          | null
        A 👎                         | null
        A ≈                          | null
        Correct answer is A, not B   | A
        B is more plausible than A   | B
        A is no more plausible than B | null
        Wrong – A            | null
        Not A; the correct choice is B. | B
        It's A, not B.       | A
        La bonne réponse n'est pas A mais B. | B
        Die richtige Antwort ist B, weil es dauert. | B
        'Réponse : B'        | B
        正确答案：A            | A
        我认为不是A，而是B。     | B
        <answer>B</answer> not <answer>A</answer> | null
        The answer isn't A   | null
        All except A         | null
        Everything but A     | null
        'A: too short'       | null
        I would not choose A | null
        A. Yes, the proposed answer is not plausible. | null
        A week is too long   | null
        It starts at 5 A.M.  | null
        A or B               | null
        It could be A.       | null
        The answer is A. Or maybe B. | null
        If he slept, A would be right. | null
        Some say the answer is A. | null
        "The answer is A.\nThe answer is B." | null
        C                    | null
        ''                   | null
        "A\n\nB"             | null
        A. No                | null
        A. No, since         | null
        "A. Yes\nB. No"      | null
        Yes or No            | null
        Is A right? No.      | null
        B? No.               | null
        No, I can't answer that. | null
        The answer is often given as A. | null
        The answer is A, which is wrong. | null
        'Answer: A. On reflection, B is the better answer.' | B
        'Answer: A. Yet B is also a correct answer.' | null
        The student's answer is A | null
        B. No. A nap of a week is not plausible. | B
        B, because if it is late, it must end. | B
        A is not wrong.      | null
        A is wrong.          | null
        The least likely option is A. | null
        A-levels are long    | null
        Vitamin B            | null
        '"No" is a plausible answer.'   | A
        The answer "no" is plausible.   | A
        '"No" makes sense here.'        | A
        No is plausible, so A.          | A
        '"No" is not plausible.'        | null
        No is the most plausible answer. | null
        No is correct.                  | B
        The answer is A, said the student, but it is not. | null
        The answer is A, according to the naive reading.  | null
        The answer is A, according to the text.           | A
        Of A and B, B is better.        | B
        A is possible. B is best.       | B
        While A and B are both possible, the best is B. | B
        A and B are plausible, but A is more likely.    | A
        A is possible, B is possible.   | null
        The most likely continuation is A. | A
        It goes on with B                | B
        The next step would be A.        | A
        A follows most naturally.        | A
        The most natural way to continue is with option A. | A
        "B\n\nThe text describes baking. A is unrelated." | B
        A is less plausible than B.      | B
        Since it is after 4 pm, the correct answer is A. | A
        It takes a day because it is far, so B. | B
        If I had to choose one, it would be A. | A
        The second most likely option is A. | null
        The student thought the correct answer is A. | null
        The least likely continuation is A. | null
        The story does not continue with A. | null
        The text might continue with A.     | null
        It would be strange to go on with A. | null
        You might think the best answer is A. | null
        The plausible distractor is A.       | null
        The proposed answer is plausible.    | A
        It does not fit.                     | B
        Implausible. Nobody naps for years.  | B
        '"ten years" does not fit.'          | B
        Sure, it fits.                       | A
        Nope                                 | B
        Naturally, nobody naps for years.    | null
        Right, let me think about it.        | null
        Not sure.                            | null
        It may be plausible.                 | null
        Not impossible.                      | null
        The text says no.                    | null
        Good question! Naps take two hours.  | null
        A plausible answer would be two hours. | null
        It seems unlikely. A. Yes            | null
        Yes. There is no reason to doubt it. | A
        A. It's not unusual.                 | A
        "B\n\nTwo sentences.\n\n1: A man stands" | B
        "A\n\nNo, it is not plausible that he would do it." | null
        If I had to choose, B.               | B
        Without the text, I guess B          | B
        → B                                  | B
        A. Obviously not.               | null
        A. Then again, nobody sleeps so long. | null
    """,
)
def test_one_option_is_read(answer, read):
    assert chosen(answer, LABELS, several=False) == letters_of(read)


@each_row(
    "answer, read",
    r"""
        A, C                      | AC
        A and C                   | AC
        (a) (c)                   | AC
        (A), (C)                  | AC
        AC                        | AC
        BAD                       | ABD
        A et C                    | AC
        A und C                   | AC
        A y C                     | AC
        A和C                       | AC
        Ａ、Ｃ                     | AC
        "['A', 'C']"              | AC
        A (two hours), C (a day)  | AC
        two hours                 | A
        "two hours\na day"        | AC
        "Two hours and a day make sense.\n\nA, C" | AC
        "- A: Yes, two hours fits.\n- B: No.\n- C: Yes." | AC
        The plausible answers are two hours and a day. | AC
        "A. two hours\nC. a day"  | AC
        'Option A: two hours'     | A
        "The answers are:\nA. two hours\nC. a day" | AC
        None of these.            | ''
        None of these answers are plausible. | ''
        none                      | ''
        'A: no, B: no, C: no, D: no' | ''
        '\boxed{A, C}'            | AC
        '\boxed{A} and \boxed{C}' | AC
        '<answer>A</answer> <answer>C</answer>' | AC
        '{"A": true, "B": false, "C": true}' | AC
        '{"plausible": ["A"], "implausible": ["B", "C"]}' | A
        A + C                     | AC
        "A: fine.\nC: fine.\n\nB is too long." | AC
        "A: fine.\nB: too long for a nap.\nC: fine." | AC
        "- A ✓\n- B ✗\n- C ✓"     | AC
        "✅ A. two hours\n❌ B. ten years" | A
        "A - yes\nB - no\nC - yes" | AC
        "Plausible:\n- A\n- C\n\nImplausible:\n- B" | AC
        A and C are plausible, B and D are not. | AC
        A and C (B and D are too long) | AC
        "A, B. Wait, also C."          | null
        "A and C.\n\nActually, D is possible too." | null
        A, C. I would add D.           | null
        "**Not plausible**\n\nB. two years\nD. a week" | null
        "Ruled out\nB, D"             | null
        B and D are out.               | null
        None. I pick C anyway.         | null
        None of these, or A            | null
        "☒ A\n☐ B\n☒ C"              | null
        C (A and B are wrong)          | C
        "Both A and C work, B does not.\n\nA, C" | AC
        "A, C\n\nB would be right if he slept." | AC
        "A. two hours\nB. ten years\nC. a day\nD. three weeks\n\nThe best options are A and C." | AC
        "A. two hours\nB. ten years\nC. a day\nD. three weeks" | null
        "**A. two hours**: quick.\n**B. ten years**: nobody lives there so long." | null
        A - yes, B - no, C - yes | AC
        A, B (no), C              | null
        A to D                    | null
        'A: plausible. B: same as A. C: no.' | null
        A, Z                      | null
        A. a day                  | null
        They are all fine         | null
        A or C                    | null
        Only A fits; C might also fit. | null
        None, except A            | null
        B fits at first, but it is late, so A and D. | null
        B is acceptable, but A and D are better. | null
        B fits grammatically. So A and D. | null
        A fits, D fits, so A and D. | AD
        All except A              | BCD
        A, C. Or maybe B.         | null
        A is the best. C is the second best. | null
        B is too long.            | null
        No answer is plausible.   | ''
        There is no plausible answer. | ''
        No, none of them.         | ''
        A, and no other option.   | A
        "A, C\n\nThough C is far too short." | null
        The options are A, B, C and D. Only A is plausible. | A
        A, B, C, and D are the options. Only A is plausible. | A
        Of A, B, C and D, A is plausible. | A
        Of A, B, C and D, only A and B make sense. | AB
        Out of A, B, C, and D, A is the most plausible. | A
        None of A, B, C and D is plausible. | ''
        The plausible options are A, B, C and D. | ABCD
        the two options that fit the gap are B and D | BD
        The gap can be filled with A and C.  | AC
        "- two hours\n- a day"              | AC
        All of them but D.                   | ABC
        Everything but B and D               | AC
        All options except B and D fit.      | AC
        A flight of ten years is impossible. So A and C fit. | AC
        The two options that do not fit are B and D. | null
        All except perhaps D.                | null
        All of them except D are wrong.      | null
        Not all except D.                    | null
        All of them are plausible.           | ABCD
        It is anything but A.                | null
        A. C.                                | AC
        a, c                                 | AC
        A and C, but not B or D.             | AC
        Not B and not D, so A and C.         | AC
        Neither A nor B nor C nor D fits.    | ''
        A and D. Wait, D is too late. A and C. | AC
        A, B. Wait, C and D.                 | null
        A and C fit. B is a year, which does not fit. | AC
        The options A, B, C and D are plausible. | ABCD
    """,
)
def test_several_options_are_read(answer, read):
    assert chosen(answer, CANDIDATES, several=True) == letters_of(read)


@each_row(
    "options, answer, read",
    r"""
        first | A is after | null
        first | After A | null
        first | A comes first | A
        letters turned | A | null
        letters turned | The answer is B | null
        letters | The answer is B | B
        several and no | No answer is plausible. | ''
        several and no | No plausible answer. | ''
        several and no | no plausible options | ''
        several and no | No option | ''
        several and no | no, not any | ''
        several and no | No, none of them. | ''
        several and no | No, there is no plausible answer. | ''
        several and no | none of the above | ''
        several and none | No answer is plausible. | ''
        several and none | No plausible answer. | ''
        several and none | no plausible options | ''
        several and none | No option | ''
        several and none | no, not any | ''
        several and none | No, none of them. | ''
        several and none | No, there is no plausible answer. | ''
        several and none | none of the above | ''
        several and no | 'no' | E
        several and no | E. no | E
        several and no | no (E) | E
        several and no | Only "no" fits. | E
        several and no | "A. two hours\nE. no" | AE
        several and no | "A: no\nB: no\nC: no\nD: no\nE: no" | null
        moments | 'A: Sentence 2' | null
        moments | A. Sentence 2 comes first. | null
        moments | A (sentence 2) | null
        moments | 'B: first sentence' | null
        moments | 'B: sentence 2' | B
        moments | Sentence 1 comes first. | A
        moments | "A\n\nSentence 2 happens later." | A
        sentences | "B\n\nThis is plausible." | B
        nli | Yes. | A
        nli | The hypothesis must be true. | A
        nli | So it may be true or false. | B
        nli | Maybe. | B
        nli | 'No' | C
        nli | 'False' | C
        nli | No, the hypothesis is false. | C
        nli | No, it need not be true. | null
        nli | Yes, it may be true or false. | null
        nli | 'A: it must be false.' | null
        nli | B. No | null
        nli | It may be false. | null
        moments | Sentence 2 | B
        moments | Sentence 1 happens before sentence 2. | A
        moments | Sentence 1 comes after the moment of sentence 2. | B
        moments | A. Sentence 1 comes after sentence 2. | null
        labels | Yes, I understand. Please provide the sentence. | null
        labels | No, I don't have enough information to answer. | null
        labels | A. Yes, of course, it fits. | A
        moments | Sentence 1 comes first, followed by sentence 2. | A
        moments | 'Sentence 2 comes first. Answer: A' | null
        endings | The man walks out of the house. | A
        endings | A. The man waits for a while. | null
        endings | Nobody walks out of the house. | null
        endings | The man never walks out of the house. | null
        turned | A. It is plausible. | null
        turned | A. It is not plausible. | A
        several | 'Answer: a day and a half' | null
        several | 'Answer: a day later' | null
        several | 4–a day | null
        several | A > C | null
        several | A?, C | null
        several | "The odd ones out:\n- B\n- D" | null
    """,
)
def test_what_an_answer_says_depends_on_the_options(options, answer, read):
    assert chosen(answer, OPTIONS[options], options.startswith("several")) == letters_of(read)


def test_a_table_of_verdicts_is_read():
    rows = zip("ABCD", CANDIDATES, ("✓", "No", "Plausible", "too long"))
    table = "".join(f"| {letter} | {text} | {said} |\n" for letter, text, said in rows)
    assert chosen(f"| Option | Text | Fits? |\n|---|---|---|\n{table}", CANDIDATES, True) == {0, 2}


@each_row(
    "asks, read",
    [
        ("Which of these fit? Reply with their letters.", [{0, 1}, None]),
        ("How does it go on? Reply with one letter.", [None, {1}]),
    ],
)
def test_a_question_that_asks_for_one_letter_gets_one(asks, read):
    said = [Answer("A and B"), Answer("A fits. B is the best of these.\n\nB is best.")]
    questions = Questions([asks] * 2, [CANDIDATES] * 2, [], np.arange(2), np.zeros(2, int))
    assert [one.named for one in readings_of(questions, said)] == read


@each_row(
    "text, read",
    [
        ("A", None),
        ("A.", None),
        ("A. Y", None),
        ("A. Yes", {0}),
        ("**B. No**", {1}),
        ("A. No", None),
    ],
)
def test_a_cut_answer_is_a_letter_with_the_text_of_its_option(text, read):
    assert reading_of(Answer(text, CUT), LABELS, several=False).named == read
    assert reading_of(Answer(text, CUT), LABELS, several=True).named is None


@each_row(
    "text, read",
    [
        ("B. It may be", {1}),
        ("**B. It may be true or false**\n\nThe premise says", {1}),
        ("A. Yes, it must be true\n\nB. It may", None),
        ("A. Yes\n\nThe premise says", None),
        ("A. Yes, it must be true\n\nWait", None),
    ],
)
def test_a_cut_answer_may_restate_a_long_label(text, read):
    assert reading_of(Answer(text, CUT), NLI, several=False).named == read


def parts_of(letter: str, other: str) -> list[list[str]]:
    """Sentences before an answer, answers, and sentences behind it; the answers name a letter."""
    before = [
        "",
        f"{other} is not plausible. ",
        f"It cannot be {other}. ",
        f"Is it {other}? ",
        f"The wrong answer is {other}. ",
        f"I first thought of {other}, which is too long. ",
        f"The answer is {other}. Wait, no. ",
        f"{other} would be right if he slept. ",
        f"The student's answer is {other}. ",
        f"The other answers are: {other}\n",
    ]
    answers = [
        f"The answer is {letter}",
        f"**Answer: {letter}**",
        f"The correct answer is ({letter})",
        f"\\boxed{{{letter}}}",
        f"<answer>{letter}</answer>",
        f"{letter} is correct",
        f"I choose {letter}",
        f"So {letter}",
    ]
    after = [
        "",
        ".",
        f", not {other}.",
        f", because {other} is too long.",
        f". {other} is wrong.",
        f". \\boxed{{{other}}} is wrong.",
        f".\n\nThe other answers are: {other} and so on.",
        f". If it were night, {other} would be right.",
        f". Everything except {other}.",
        f" rather than {other}.",
    ]
    return [before, answers, after]


@given(st.data(), st.permutations("ABCD"))
def test_no_other_letter_than_the_affirmed_one_is_read(data, letters):
    said = "".join(data.draw(st.sampled_from(part)) for part in parts_of(*letters[:2]))
    assert chosen(said, CANDIDATES, False) in (None, {"ABCD".index(letters[0])}), said


def test_every_affirming_sentence_is_read():
    _, answers, _ = parts_of("B", "A")
    assert [chosen(one, CANDIDATES, False) for one in answers] == [{1}] * len(answers)


@each_row(
    "unit", ["$", "\\boxed{", "} ", "<answer>", "A ", "A, ", "answer is ", "wait, ", "? ", " "]
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
    "{}\n</think>\n\n",
    "[THINK]{}[/THINK]",
    "◁think▷{}◁/think▷",
    "<unused94>thought\n{}<unused95>",
    "<think time=3>{}</think >",
    "< think >{}< /think >",
    "＜think＞{}＜/think＞",
    "<|reasoning|>{}<|/reasoning|>",
    "<｜begin▁of▁thinking｜>{}<｜end▁of▁thinking｜>",
    "&lt;think&gt;{}&lt;/think&gt;",
    "<seed:think>{}</seed:think>",
    "<|begin_of_thought|>{}<|end_of_thought|>",
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


@each_row(
    "text, read",
    [("A", {0}), ("B. No", {1}), ("It is late.\nA", None), ("He said so. " * 9 + "So A.", None)],
)
def test_without_its_mark_only_a_short_line_is_no_thought(text, read):
    assert chosen(text, LABELS, False, "<my:end>") == read
    assert chosen(f"B or so.<my:end>{text}", LABELS, False, "<my:end>") is not None
