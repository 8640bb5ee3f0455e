"""A model on this machine that is asked in words gives the same answers as one question at a time
without a cache.
"""

import json
import shutil
from string import ascii_uppercase

import pytest
import torch
import yaml
from tokenizers import AddedToken
from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from scripts.data.manifest import write_manifest
from scripts.data.tables import read_table
from scripts.running.program import UserError
from scripts.train.asking import ask, templates
from scripts.train.asking.shots import shots_of
from scripts.train.splits import read_split
from tests.fetch.fetch_models import mend
from tests.files import read_json, write_json
from tests.models import fetched
from tests.rows import each_row
from tests.train.test_asking import ALL, ONE, arguments
from tests.train.decoders import READ_PADDING, write_decoder
from tests.training import done_here

pytestmark = pytest.mark.models
TOKENS = 8  # as in arguments()
CHATS = ("chat", "ends", "turns", "bytes")
KNOWS_LETTERS = ("gpt2", "bytes", "t5")  # the tokenizers of the others have no capital letters
END = 65  # a token that the chat model writes
# settings of a search that is not greedy, as old models have in config.json
SEARCH = yaml.safe_load("""
{num_beams: 3, repetition_penalty: 9.0, no_repeat_ngram_size: 1, suppress_tokens: [3, 4], min_length: 8, do_sample: true}
""")
TEMPLATE = "{% for turn in messages %}<{{ turn.role }}> {{ turn.content }} {% endfor %}<it> "


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Write tiny models with random weights: four decoders, two more with a chat template, one
    whose end of turn stands in generation_config.json alone, one where only the template writes it,
    one whose tokenizer puts an end of text behind every text, and a T5. Two name another search.
    """
    folder = tmp_path_factory.mktemp("models")
    for name in ("gpt2", "llama", *READ_PADDING):
        write_decoder(name, folder / name)
    fetched("tiny_t5", folder / "t5", AutoModelForSeq2SeqLM)
    for name, base in (("bytes", "gpt2"), ("chat", "llama")):
        shutil.copytree(folder / base, folder / name)
        tokenizer = AutoTokenizer.from_pretrained(folder / name)
        tokenizer.chat_template = TEMPLATE
        tokenizer.save_pretrained(folder / name)
    shutil.copytree(folder / "chat", folder / "ends")
    shutil.copytree(folder / "chat", folder / "turns")
    end = tokenizer.convert_ids_to_tokens(END)
    tokenizer.add_tokens(AddedToken(end))
    said = "{% if turn.role == 'assistant' %}" + end + "{% endif %}{% endfor %}"
    tokenizer.chat_template = TEMPLATE.replace("{% endfor %}", said)
    tokenizer.save_pretrained(folder / "turns")
    shutil.copytree(folder / "llama", folder / "adds_eos")
    tokenizer = AutoTokenizer.from_pretrained(folder / "adds_eos")
    numbers = {token: tokenizer.convert_tokens_to_ids(token) for token in ("<bos>", "<eos>")}
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<bos> $A <eos>", pair="<bos> $A $B <eos>", special_tokens=[*numbers.items()]
    )
    tokenizer.save_pretrained(folder / "adds_eos")
    write_json(folder / "ends/generation_config.json", {"eos_token_id": [END, 7]} | SEARCH)
    mend(folder / "llama/config.json", **SEARCH)
    (folder / "llama/generation_config.json").unlink()  # as in older models
    return folder


def written(model, question: str, shots: list[dict]) -> tuple[str, str]:
    """Return a model's greedy answer; each token comes from a reading of the whole text
    before it. Also return the letters by the log-probability of all their tokens behind "Answer:".
    """
    tokenizer = AutoTokenizer.from_pretrained(model)
    said = [turn["content"] for turn in shots]
    before = "".join(f"{one}\n{two}\n\n" for one, two in zip(said[::2], said[1::2]))
    turns = "".join(f"<{turn['role']}> {turn['content']} " for turn in shots)
    if model.name == "t5":
        network = AutoModelForSeq2SeqLM.from_pretrained(model).eval()
        found = [network.config.decoder_start_token_id]
        question = before + f"{question}\nAnswer:" if shots else question
        read = {"input_ids": torch.tensor([tokenizer(question)["input_ids"]])}
    else:
        network = AutoModelForCausalLM.from_pretrained(model).eval()
        chat = f"{turns}<user> {question} <it> "
        text = chat if model.name in CHATS else f"{before}{question}\nAnswer:"
        found = tokenizer(text, add_special_tokens=False)["input_ids"]
        if model.name not in (*CHATS, "gpt2"):
            found = [tokenizer.bos_token_id, *found]
        read = {}
    file = model / "generation_config.json"
    ends = read_json(file).get("eos_token_id") if file.exists() else None
    ends = [tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])]
    ends += [END] if model.name == "turns" else []
    start = len(found)

    def scored(tokens: list[int]) -> torch.Tensor:
        name = "decoder_input_ids" if read else "input_ids"
        with torch.no_grad():
            logits = network(**read, **{name: torch.tensor([tokens])}).logits[0]
        return logits.log_softmax(-1)

    def likely(letter: str) -> float:
        begun, line = tokenizer(["Answer:", f"Answer: {letter}"], add_special_tokens=False)[
            "input_ids"
        ]
        ends = model.name not in (*CHATS, "t5") or (model.name == "t5" and shots)
        line = line[len(begun) :] if ends else line
        values = scored([*found[:start], *line])[start - 1 : -1]
        return float(values.gather(1, torch.tensor(line)[:, None]).sum())

    ranked = ""
    if model.name in KNOWS_LETTERS:
        ranked = "".join(sorted(ascii_uppercase, key=likely, reverse=True))
    for _ in range(TOKENS):
        found = [*found, int(scored(found)[-1].argmax())]
        if found[-1] in ends:
            break
    found = found[start:-1] if found[-1] in ends else found[start:]
    text = tokenizer.decode(found, skip_special_tokens=True).strip()
    return text if model.name in (*CHATS, "t5") else text.split("\n")[0], ranked


def asked(folder, model, method: dict, **options):
    of_run = {"model": str(model)}
    done_here(ask.ask, arguments(folder, method, of_run=of_run, device="cpu", **options))
    return folder / "run-1"


@each_row(
    "name, method, shots",
    [
        ("gpt2", ONE, 0),
        ("ends", ALL, 0),
        ("bytes", ONE, 0),
        ("llama", ONE, 3),
        ("chat", ALL, 2),
        ("t5", ALL, 1),
        ("turns", ALL, 0),
        ("adds_eos", ONE, 0),
        *((name, ALL, 0) for name in READ_PADDING),
    ],
)
def test_answers_are_those_of_one_question_at_a_time(tmp_path, models, caplog, name, method, shots):
    caplog.clear()
    output = asked(tmp_path, models / name, method, shots=shots)
    table = read_split(tmp_path / "data", "train", method)
    inputs, prompt = method["inputs"], method["prompt"]
    turns = shots_of(table, prompt, method["labels"], inputs, shots, 0) if shots else []
    answers = read_table(output / "answers.parquet", ["question", "answer", "letters"]).to_pylist()
    assert answers
    assert caplog.text.count("so each question is asked alone") == (name in READ_PADDING)
    if name in ("ends", "turns"):
        assert any(
            row["answer"] != written(models / "chat", row["question"], [])[0] for row in answers
        )
    for row in answers:
        text, letters = written(models / name, row["question"], turns)
        assert (row["answer"], row["letters"]) == (text, letters)
    facts = json.loads((output / "run.json").read_text())
    assert facts["chat_template"] == (name in CHATS)
    assert facts["parameters"] > 1000
    is_unread = facts["likeliest" if name in KNOWS_LETTERS else "unread"]["test"]
    assert facts["unread"]["test"] == (0 if name in KNOWS_LETTERS else is_unread)
    assert is_unread == 1, "a model with random weights writes no letter"


PARTS = (
    "{% for turn in messages %}{% for part in turn.content %}{% if part.type == 'text' %}"
    "<{{ turn.role }}> {{ part.text }} {% endif %}{% endfor %}{% endfor %}<it> "
)


DAY = "{{ strftime_now('%d') }} {{ strftime_now(format=\"%b\") }} {# strftime_now(x) #}{{ strftime_now('%Y') }}"


def with_template(models, folder, template: str):
    shutil.copytree(models / "chat", folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return folder


def test_what_an_entry_says_reaches_the_model(tmp_path, models, caplog):
    """A template that walks through parts gets parts; `system` and `chat_template_kwargs` change
    the answers, as in a template that says them itself. Today is the same on every day.
    """
    said = "{% if deep %}<deep> {% endif %}" + TEMPLATE
    known = {"system": "Be brief.", "chat_template_kwargs": {"deep": True}}
    answers = []
    for name, template, settings in (
        ("plain", "<deep> <system> Be brief. " + TEMPLATE, {}),
        ("given", said, known),
        ("parts", "<deep> " + PARTS, {"system": "Be brief."}),
        ("dated", f"{{% if strftime_now is defined %}}{DAY} {{% endif %}}{TEMPLATE}", {}),
        ("a day", "26 Jul 2024 " + TEMPLATE, {}),
        ("idle", TEMPLATE, {"chat_template_kwargs": {"deep": True}}),
    ):
        (folder := tmp_path / name).mkdir()
        model = with_template(models, folder / "model", template)
        output = asked(folder, model, ALL, more=settings)
        table = read_table(output / "answers.parquet", ["answer", "end"]).to_pylist()
        assert {row["end"] for row in table} <= {"whole", "cut"}
        answers.append(table)
        facts = json.loads((output / "run.json").read_text())
        assert facts["training"].items() >= settings.items()
        assert ("change nothing in its chat template" in caplog.text) == (name == "idle")
    assert answers[0] == answers[1] == answers[2] != answers[5] != answers[3] == answers[4]
    with pytest.raises(UserError, match="chat_template_kwargs need a chat template"):
        asked(tmp_path, models / "llama", ONE, more=known)


def test_a_template_that_draws_at_random_draws_the_same_each_time(tmp_path, models):
    draws = "{{ range(10**5) | random }} {{ lipsum(1, false, 2, 4) }} " + TEMPLATE
    model = with_template(models, tmp_path / "model", draws)
    answers = []
    for name in ("one", "two"):
        (folder := tmp_path / name).mkdir()
        table = read_table(asked(folder, model, ALL) / "answers.parquet", ["answer"])
        answers.append(table.to_pylist())
    assert answers[0] == answers[1]


@each_row(
    "template, said",
    [
        ("{{ raise_exception('only one turn') }}", "fails .only one turn"),
        (" ", "leaves out the turn of the user .Question"),
        (
            r"{{ messages[0].content[:20] | tojson | replace('\\n', '\n') }}",
            "leaves out the turn of the user .Question",
        ),
        ("{% set form = '%Y' %}{{ strftime_now(form) }}", "fails .it calls strftime_now"),
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "takes longer than 1 s",
        ),
        ("{{ 'a' * 10**11 }}", "takes more than .* MB"),
        ("{{ messages[0].content }}{{ 'a' * 1000000 }}", "writes more than 100,000 characters"),
    ],
)
def test_a_template_is_bounded_and_holds_the_question(
    tmp_path, models, monkeypatch, template, said
):
    monkeypatch.setattr(templates, "TEMPLATE_SECONDS", 1)
    number = len([*tmp_path.iterdir()])
    model = with_template(models, tmp_path / f"chat-{number}", template)
    with pytest.raises(UserError, match=f"{said}.*chat_template: none"):
        asked(tmp_path, model, ONE)


def test_wrong_models_end_in_one_sentence(tmp_path, models):
    long = ONE | {"prompt": ONE["prompt"] | {"question": "{text_a} " * 200 + "{text_b}{options}"}}
    with pytest.raises(UserError, match="a question has .* tokens, and the model reads 392"):
        asked(tmp_path, models / "llama", long)
    with pytest.raises(UserError, match="run-1: give one of model and api"):
        done_here(ask.ask, arguments(tmp_path, ONE))
    changed = tmp_path / "changed"
    shutil.copytree(models / "llama", changed)
    files = [file.name for file in changed.iterdir()]
    write_manifest(changed, files, changed / "manifest.json")
    with open(changed / "config.json", "a") as opened:
        opened.write("\n")
    with pytest.raises(UserError, match="config.json: has changed since its rule wrote it"):
        asked(tmp_path, changed, ONE)
    assert not (tmp_path / "run-1/predictions.parquet").exists()


def test_a_run_that_was_killed_with_all_answers_kept_asks_nothing(tmp_path, models):
    output = asked(tmp_path, models / "llama", ONE)
    before = (output / "predictions.parquet").read_bytes()
    (output / "work/finished.json").unlink()
    (output / "predictions.parquet").unlink()
    assert asked(tmp_path, models / "llama", ONE) == output
    assert (output / "predictions.parquet").read_bytes() == before
