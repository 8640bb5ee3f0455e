"""Candidate expansion: the paper's perturbations, retrieval and infill against slow references,
wrong input.
"""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, BertModel, PreTrainedTokenizerFast

from scripts.people.candidates import (
    COLUMNS,
    arguments,
    expanded,
    folded,
    main,
    masked_model,
    most_similar,
)
from scripts.people.candidates_infill import MaskedModel, infilled
from scripts.people.candidates_perturbation import perturbed
from scripts.people.candidates_rules import TERMS, is_event, load_terms, mentions
from scripts.running.program import UserError
from scripts.data.tables import read_table
from tests.rows import each_row, rows_of

LISTS = load_terms(TERMS)


def variations(text: str, attempts: int = 3000) -> set[str]:
    changed = perturbed(
        LISTS, pd.Series([text], dtype=object), [text], [mentions(LISTS, text)], attempts, 0
    )
    return set(changed["answer"])


@each_row(
    "text, wanted",
    """
        2 a.m. | [3 p.m., 2 p.m., 12 a.m.]  # the paper's three examples
        1 day | [10 days, 1 century, 2 hours]
        once a week | [twice a month, three times a week, once an hour]
        5 times a week | [1 time a week, 10 times a week, 5 times a century]
        an hour | [a week, 10 hours, 2 days]
        half an hour | [half a century]
        a few minutes | [several minutes, a couple of centuries, a few hours]
        twenty seconds | [ten seconds, two minutes]
        0.5 years | [5 years, 0.1 years, 0.5 months]
        1 years | [2 years, 1 hour]  # crowd grammar is mended where it changes
        1,500 years | ['15,000 years', '1,499 years', '1,500 days']
        a two-hour meeting | [a two-minute meeting, a four-hour meeting]
        in 1990 | [in 1995, in 1890]
        1990 times | [995 times, 1991 times]
        in the 1880s | [in the 1840s]
        400 ad | [350 ad, 500 ad]
        may 5, 1983 | ['june 5, 1983', 'may 7, 1983', 'may 5, 1984']
        april 5th 670 | [april 6th 670, april 5th 680]
        the 19th century | [the 21st century, the 22nd century]
        '14:00' | ['23:00']
        8:00 PM | [8:00 AM, 11:00 PM]
        'he starts work at 4 : am' | ['he starts work at 5 : pm']
        around 5 o'clock | [around 12 o'clock]
        in the afternoon | [in the morning]
        MONDAYS | [TUESDAYS]
        it never works | [it always works]
        the second friday of each month | [the third friday of each month, the second monday of each week]
        a second | [an hour, 10 seconds]
        after school | [before school]
    """,
)
def test_perturbations(text, wanted):
    answers = variations(text)
    assert set(wanted) <= answers
    assert text not in answers, "one mention changes for certain"


@each_row(
    "text",
    [
        "he may go",
        "I am here",
        "march on",
        "once he left",
        "one of them",
        "a dog",
        "yes",
        "it will last",
        "the 9/11 attack",
        "$5",
        "90%",
    ],
)
def test_what_means_something_else_stays(text):
    assert variations(text) == set()


@each_row(
    "text, event",
    """
        he left the house         | true
        they talk                 | true
        quit the job              | true
        studied                   | true
        put it in a gallery       | true
        it ' s old                | true
        people get used to them   | true
        they didn't               | true
        he got three trucks       | true
        after the new bill passed | true
        the motor hummed          | true
        2 hours                   | false
        in the evening            | false
        'yes'                     | false
        a meeting                 | false
        civil unrest              | false
        back to the united states | false
        all the time              | false
        on them                   | false
        every morning             | false
        '175'                     | false
        it took him 10 minutes    | false
        she left at 5 pm          | false
        he was born in 1950       | false
        it never works            | false
    """,
)
def test_events(text, event):
    assert is_event(LISTS, text, mentions(LISTS, text)) == event


PARTS = [
    *LISTS.variations,
    *LISTS.singular,
    *LISTS.words,
    "a",
    "an",
    "times",
    "or",
    "1",
    "2.5",
    "1990",
    "3rd",
    "am",
]


@given(
    st.text(st.sampled_from("0123456789 .,:/'-ap mstndhrue onyclk"), max_size=30)
    | st.lists(st.sampled_from(PARTS), max_size=6).map(" ".join)
)
@settings(max_examples=150)
def test_any_text_can_be_perturbed(text):
    found = mentions(LISTS, text)
    ends = [0, *(place for mention in found for place in (mention.start, mention.end))]
    assert ends == sorted(ends), "mentions lie apart, in order"
    answers = perturbed(LISTS, pd.Series([text], dtype=object), [text], [found], 5, 1)
    assert len(answers) == 5 * any(len(mention.options) > 1 for mention in found)
    assert is_event(LISTS, text, found) in (True, False)


def test_draws_keep_to_the_chances():
    """Each mention changes in half of the attempts, or for certain in its turn:
    3 of 4 for two mentions.
    """
    text = "2 hours"
    answers = perturbed(
        LISTS, pd.Series([text], dtype=object), [text], [mentions(LISTS, text)], 8000, 0
    )["answer"]
    assert (~answers.str.startswith("2 ")).mean() == pytest.approx(0.75, abs=0.02)
    assert (~answers.str.contains("hour")).mean() == pytest.approx(0.75, abs=0.02)
    units = Counter(answers.str.split().str[1].map(lambda unit: LISTS.singular.get(unit, unit)))
    del units["hour"]
    assert max(units.values()) / min(units.values()) < 1.3, "every variation is as likely"


def test_retrieval_is_by_shared_words_and_the_rarer_ones_count_more(monkeypatch):
    """In chunks or at once; ties in the order of the pool;
    a phrase that shares no word is left out.
    """
    pool = pd.Series(
        ["a dog", "a house", "he left the house", "they met", "a red house"], dtype=object
    )
    answers = pd.Series(["The house", "a met", "nothing shared", "house"], dtype=object)
    found = most_similar(answers, pool, 3)
    assert list(zip(found["row"], found["answer"])) == [
        (0, "he left the house"),
        (0, "a house"),
        (0, "a red house"),
        (1, "they met"),
        (1, "a house"),
        (1, "a dog"),
        (3, "a house"),
        (3, "a red house"),
        (3, "he left the house"),
    ]
    monkeypatch.setattr("scripts.people.candidates.CELLS", 1)
    pd.testing.assert_frame_equal(most_similar(answers, pool, 3), found)


VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"he she they left met the house dog river how long when "
    "did a day walk walked swam home slowly red of ##ed ##s . , ! _ 1 2".split(),
]


@pytest.fixture(scope="module")
def masked_lm(tmp_path_factory):
    """A tiny masked LM with random weights."""
    folder = tmp_path_factory.mktemp("masked_lm")
    tokenizer = Tokenizer(
        models.WordPiece(
            {word: number for number, word in enumerate(VOCABULARY)}, unk_token="[UNK]"
        )
    )
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=40,
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return folder


def test_infill_equals_one_word_at_a_time(masked_lm, monkeypatch):
    monkeypatch.setattr("scripts.people.candidates_infill.TOKENS", 40)  # several batches
    model = MaskedModel(masked_lm)
    answers = pd.DataFrame(
        {
            "context": ["he left home. when did he?", "the dog walked. how long?", "a house."],
            "answer": ["a red River, slowly", "the dog", "?!"],
        }
    )
    found = infilled(model, answers)
    network = BertForMaskedLM.from_pretrained(masked_lm).eval()
    words = [word for word in VOCABULARY if word.isalnum()]
    slow = []
    for row, text in enumerate(answers["answer"]):
        place = 0
        for number, word in enumerate(text.replace(",", " ").replace("?!", "").split()):
            start = text.index(word, place)
            place = start + len(word)
            gap = f"{text[:start]}[MASK]{text[place:]}"
            inputs = model.tokenizer(answers["context"][row], gap, return_tensors="pt")
            with torch.no_grad():
                chances = (
                    network(**inputs)
                    .logits[0, inputs["input_ids"][0].tolist().index(4)]
                    .softmax(-1)
                )
            best = sorted(
                (-float(chances[VOCABULARY.index(filler)]), filler)
                for filler in words
                if filler != word.lower()
            )
            slow += [
                (row, number, nth, text[:start] + filler + text[place:], -chance)
                for nth, (chance, filler) in enumerate(best[:3])
            ]
    rows = found["row word place answer".split()].itertuples(index=False, name=None)
    assert list(rows) == [filler[:4] for filler in slow]
    np.testing.assert_allclose(found["confidence"], [filler[4] for filler in slow], atol=2e-6)
    again = infilled(model, answers.iloc[::-1].reset_index(drop=True))
    assert sorted(again["answer"]) == sorted(found["answer"])


def test_models_that_cannot_fill_in_are_refused(masked_lm, tmp_path):
    with pytest.raises(UserError, match="no config.json"):
        MaskedModel(tmp_path)
    for file in masked_lm.glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(UserError, match="cannot be loaded .*safetensors"):
        MaskedModel(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"12345678{}")
    with pytest.raises(UserError, match="cannot be loaded"):
        MaskedModel(tmp_path)
    BertModel(BertConfig.from_pretrained(masked_lm)).save_pretrained(tmp_path)
    with pytest.raises(UserError, match="weights of the masked LM are missing"):
        MaskedModel(tmp_path)


ANSWERS = [
    "2 hours",
    "2  HOURS",
    "an hour",
    "once a week",
    "monday",
    "yes",
    "he left the house",
    "they met",
    "at 5 pm",
    "never",
    "she walked the dog",
    "in 1990",
    "a red river",
]
ROW = st.tuples(
    st.sampled_from(["s", "t"]),
    st.sampled_from(["How long?", "When?", "What?"]),
    st.sampled_from(ANSWERS),
)
TABLES = st.lists(ROW, min_size=1, max_size=14, unique=True).map(
    lambda rows: pd.DataFrame(rows, columns=COLUMNS, dtype=object)
)


@given(TABLES, st.integers(1, 25), st.integers(0, 3))
@settings(max_examples=settings.default.max_examples // 4)
def test_what_always_holds(questions, limit, seed):
    candidates = expanded(questions, LISTS, limit, seed)
    key = ["sentence", "question"]
    assert (candidates.groupby(key).size() <= limit).all()
    assert not pd.concat([candidates[key], folded(candidates["answer"])], axis=1).duplicated().any()
    assert (candidates.groupby(key).cumcount() + 1 == candidates["rank"]).all()
    seeds = candidates[candidates["origin"] == "seed"]
    given_seeds = questions[
        ~pd.concat([questions[key], folded(questions["answer"])], axis=1).duplicated()
    ]
    expected = given_seeds[given_seeds.groupby(key).cumcount() < limit]
    assert sorted(seeds[COLUMNS].itertuples(index=False)) == sorted(
        expected.itertuples(index=False)
    )
    order = candidates["origin"].map({"seed": 0, "rule": 1, "infill": 2, "retrieval": 3})
    turns = order.groupby([candidates["sentence"], candidates["question"]]).diff().fillna(0)
    assert (turns >= 0).all(), "techniques in the paper's order"
    assert set(candidates[[*key, "seed_answer"]].itertuples(index=False)) <= set(
        questions[COLUMNS].itertuples(index=False)
    )
    changed = candidates[candidates["origin"] == "rule"]["seed_answer"]
    assert not changed.isin(["he left the house", "they met", "she walked the dog"]).any(), (
        "no rules for events"
    )
    pd.testing.assert_frame_equal(candidates, expanded(questions, LISTS, limit, seed))
    # The other way round by question, the seeds of each in their order: the same candidates.
    number = pd.factorize(questions["sentence"] + questions["question"])[0]
    other = expanded(questions.iloc[np.argsort(-number, kind="stable")], LISTS, limit, seed)
    pd.testing.assert_frame_equal(
        candidates.sort_values([*key, "rank"], ignore_index=True),
        other.sort_values([*key, "rank"], ignore_index=True),
    )


def test_the_three_techniques_in_turn(masked_lm):
    rows = [
        ("he left home.", "when did he?", "monday"),
        ("a day.", "what then?", "they left the dog"),
    ]
    questions = pd.DataFrame(rows, columns=COLUMNS, dtype=object)
    events = pd.Series(["they met on monday", "they left the house", "he swam"], dtype=object)
    infill = masked_model(masked_lm)
    candidates = expanded(questions, LISTS, 20, 0, infill, events)
    monday = candidates[candidates["question"] == "when did he?"]
    assert list(monday["origin"]) == ["seed"] + ["rule"] * 6 + ["infill"] * 3 + ["retrieval"]
    assert monday["answer"].iloc[-1] == "they met on monday"
    then = candidates[candidates["question"] == "what then?"]
    assert list(then["origin"]) == ["seed", "retrieval", "retrieval"], (
        "an event is not changed word by word"
    )
    assert list(then["answer"][1:]) == ["they left the house", "they met on monday"]
    fewer = expanded(questions, LISTS, 7, 0, infill, events)
    assert (
        list(fewer.loc[fewer["question"] == "when did he?", "origin"]) == ["seed"] + ["rule"] * 6
    ), "full: no infill"


ROWS = rows_of("""
    He sat. | How long?  | 2 hours
    He sat. | How long?  | a day
    He sat. | What then? | he left the house
    He sat. | What then? | he left the city
""")


def write(file, rows=ROWS):
    table = pd.DataFrame(rows, columns=COLUMNS)
    if file.suffix == ".tsv":
        file.write_text("\t".join(COLUMNS) + "\n" + "".join("\t".join(row) + "\n" for row in rows))
    elif file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in table.to_dict("records")))
    else:
        table.to_parquet(file)
    return file


def here(*given):
    """The program in this process: loading torch again takes longer than all else."""
    main(arguments().parse_args([str(argument) for argument in given]))


@pytest.mark.slow
def test_the_program(program, tmp_path, masked_lm):
    """Three formats, the same table; the same input, the same bytes, in another process too."""
    (tmp_path / "events.txt").write_text("she left the house\n\nthey slept\n")
    more = ["--events", tmp_path / "events.txt", "--model", masked_lm]
    tables = []
    for name in ["a.tsv", "a.jsonl", "a.parquet"]:
        output = tmp_path / f"{name}.parquet"
        here("--questions", write(tmp_path / name), "--output", output, *more)
        tables.append(read_table(output))
    assert tables[0].equals(tables[1]) and tables[0].equals(tables[2])
    assert tables[0].column_names == "sentence question answer origin seed_answer rank".split()
    program(
        f"scripts.people.candidates --questions {tmp_path}/a.tsv",
        "--output",
        tmp_path / "again.parquet",
        *more,
    ).checked()
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "a.tsv.parquet").read_bytes()
    here("--questions", tmp_path / "a.tsv", "--output", tmp_path / "few.parquet", "--candidates", 5)
    assert read_table(tmp_path / "few.parquet").to_pandas().groupby(
        "question"
    ).size().to_dict() == {"How long?": 5, "What then?": 2}


def refused(questions, folder, said, *more):
    """The program, in this process, gives one sentence and writes nothing."""
    with pytest.raises(UserError) as raised:
        here("--questions", questions, "--output", folder / "out" / "made.parquet", *more)
    assert said in str(raised.value) and "\n" not in str(raised.value)
    assert not (folder / "out").exists()


GIVEN = "sentence\tquestion\tanswer\n"


@each_row(
    "name, text, said",
    [
        ("a.tsv", "sentence\tquestion\nHe sat.\tHow long?\n", "no column answer"),
        ("a.tsv", GIVEN, "has no rows"),
        (
            "a.tsv",
            f"{GIVEN}He sat.\tHow long?\t2 hours\nHe sat.\tHow often?\t\n",
            "line 3: answer is ''",
        ),
        ("a.tsv", f"{GIVEN}He sat.\tHow long?\n", "line 2 has 2 columns, not 3"),
        (
            "a.jsonl",
            '{"sentence": "a", "question": "b", "answer": "c"}\n\n{"sentence": \n',
            "line 3: broken JSON",
        ),
        ("a.jsonl", '{"sentence": "a", "question": "b", "answer": 2}\n', "line 1: answer is 2"),
        ("a.jsonl", '["a"]\n', "line 1 is not a JSON object"),
        ("a.csv", "x", "does not end in"),
        ("a.parquet", "x", "not a Parquet file"),
        ("none.tsv", None, "no such file"),
    ],
)
def test_wrong_questions(tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text)
    refused(tmp_path / name, tmp_path, said)


def test_other_wrong_input(tmp_path):
    questions = write(tmp_path / "a.tsv")
    (tmp_path / "blank.txt").write_text("\n ?!\n")
    lists = TERMS.read_text()
    for name, text in [
        ("few", "units: []\n"),
        ("twice", lists.replace("[quickly, slowly]", "[quickly, early]")),
        ("yes", lists.replace('"yes"]', "yes]")),
    ]:
        (tmp_path / f"{name}.yaml").write_text(text)
    for more, said in [
        (["--events", tmp_path / "none.txt"], "none.txt: no such file"),
        (["--events", tmp_path / "blank.txt"], "has no event phrase"),
        (["--terms", tmp_path / "few.yaml"], "is missing"),
        (["--terms", tmp_path / "twice.yaml"], "early stands in adjectives and in adverbs"),
        (["--terms", tmp_path / "yes.yaml"], "must be text, not True"),
    ]:
        refused(questions, tmp_path, said, *more)
