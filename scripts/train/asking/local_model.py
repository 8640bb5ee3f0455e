"""Ask a model on this machine: it writes its answer, greedily, and ranks the letters by their
log-probability behind the question and "Answer:". Not a program.

Where its tokenizer has a chat template, and `chat_template` is auto, a question is the user's turn.
Otherwise a decoder reads the question and "Answer:", and its answer is the first line that it
writes. An encoder-decoder reads the question alone; with examples before it, it reads them as a
decoder does.
"""

from collections.abc import Iterator, Sequence
from os.path import commonprefix
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, GenerationConfig

from scripts.plan.kinds import kind_of
from scripts.running.program import UserError, cut, log
from scripts.train.asking.answer import CUT, WHOLE, Answer
from scripts.train.asking.letters import BEGIN, LETTERS
from scripts.train.asking.shots import answer_line, as_text, turn
from scripts.train.asking.templates import templated, turn_end
from scripts.train.asking.thoughts import BEGIN as THOUGHT, END
from scripts.train.plain import alike
from scripts.train.paradigms.paradigm import (
    check_trained,
    check_whole,
    longest_text,
    read_config,
    read_network,
    read_tokenizer,
)

NETWORKS = {"decoder": AutoModelForCausalLM, "encoder_decoder": AutoModelForSeq2SeqLM}
ALONE = 9  # questions that are asked alone and in a batch
AT_ONCE = {"cpu": 4096, "cuda": 65_536}  # tokens of a batch of questions, padding included
COMPARED = 16  # tokens of an answer that a model gives alone and in a batch


def greedy(
    network: torch.nn.Module, tokenizer, tokens: int, more_ends: set[int]
) -> GenerationConfig:
    """A greedy search that ends at the tokens which the model or its tokenizer names, and at
    more_ends. The network forgets its own search: generate() takes from it what another search
    leaves open.
    """
    own, network.generation_config = network.generation_config, GenerationConfig()
    named = own.eos_token_id if isinstance(own.eos_token_id, list) else [own.eos_token_id]
    ends = {*named, tokenizer.eos_token_id, *more_ends} - {None}
    return GenerationConfig(
        do_sample=False,
        max_new_tokens=tokens,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=own.bos_token_id,
        eos_token_id=sorted(ends) or None,
        decoder_start_token_id=getattr(network.config, "decoder_start_token_id", None),
    )


def letter_tokens(tokenizer, stands: bool) -> tuple[list[int], list[int]]:
    """The tokens between a prompt and the letter of its answer, and the 26 tokens of the letters,
    empty if the tokenizer lacks one. stands: whether a prompt ends with "Answer:".
    """
    lines = [BEGIN, *map(answer_line, LETTERS)]
    begin, *ids = tokenizer(lines, add_special_tokens=False)["input_ids"]
    before = commonprefix(ids)
    letters = [one[len(before)] for one in ids if len(one) > len(before)]
    is_known = len({*letters} - {tokenizer.unk_token_id}) == len(LETTERS)
    return before[len(begin) if stands else 0 :], letters if is_known else []


def beside(alone: torch.Tensor, together: torch.Tensor) -> torch.Tensor:
    """(2, tokens) the log-probabilities, in a batch and alone, of the tokens of an answer that a
    model gives alone, up to the first that is another in the batch. Each (tokens, vocabulary).
    """
    tokens = alone.argmax(1)
    others = (together[: len(tokens)].argmax(1) != tokens).nonzero()
    tokens = tokens[: int(others[0]) + 1] if len(others) else tokens
    return torch.stack(
        [one[: len(tokens)].gather(1, tokens[:, None])[:, 0] for one in (together, alone)]
    )


class LocalModel:
    """A model on this machine. training: chat_template, answer_tokens, precision, and
    chat_template_kwargs (the template's own variables). shots: turns before each question; several
    runs of one model may each set their own.
    """

    shots: Sequence[dict[str, str]] = ()

    def __init__(self, model: Path, training: dict, threads: int):
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("highest")
        self.model, self.tokens = model, training["answer_tokens"]
        self.tokenizer = read_tokenizer(model)
        config = read_config(model, self.tokenizer, {"max_length": 0})
        self.kind = kind_of(config)
        if self.kind not in NETWORKS:
            raise UserError(
                f"{model}: a {config.model_type} model writes no text; the method answer needs a "
                "decoder or an encoder-decoder"
            )
        check_trained(model, learns=False)
        self.precision = "bf16" if training["precision"] == "bf16" else "fp32"
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        self.network, lost = read_network(NETWORKS[self.kind], model, config, dtype)
        check_whole(model, lost)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.network.to(self.device).eval()
        self.chats = bool(training["chat_template"] == "auto" and self.tokenizer.chat_template)
        self.given = training.get("chat_template_kwargs", {})
        ends = turn_end(self.tokenizer, model, self.given) if self.chats else set()
        self.greedy = greedy(self.network, self.tokenizer, self.tokens, ends)
        self.thought_end = training.get("thought_end")
        self.check_given()
        self.tokenizer.padding_side = "left" if self.kind == "decoder" else "right"
        self.longest = longest_text(self.tokenizer, config)

    def check_given(self) -> None:
        """Raise UserError, or warn, where chat_template_kwargs have no effect."""
        chat = [turn("user", "What comes first?")]
        if self.given and not self.chats:
            raise UserError(
                f"{self.model}: chat_template_kwargs need a chat template, and this model is asked "
                "without one; take them out of the model's entry"
            )
        if self.given and templated(self.tokenizer, chat, self.model) == templated(
            self.tokenizer, chat, self.model, self.given
        ):
            log.warning(
                "warning: %s: chat_template_kwargs %s change nothing in its chat template",
                self.model,
                sorted(self.given),
            )

    def ends_with_begin(self) -> bool:
        """Whether a prompt ends with "Answer:"."""
        return not self.chats and bool(self.kind == "decoder" or self.shots)

    def prompts(self, questions: list[str]) -> list[str]:
        """The questions as the model reads them."""
        if self.chats:
            chats = [[*self.shots, turn("user", one)] for one in questions]
            return [templated(self.tokenizer, one, self.model, self.given) for one in chats]
        if self.ends_with_begin():
            return [f"{as_text(self.shots)}{one}\n{BEGIN}" for one in questions]
        return questions

    def read(self, questions: list[str]) -> list[list[int]]:
        """The tokens that the model reads. Nothing follows a decoder's question, also where its
        tokenizer puts an end of text behind every text.
        """
        made = self.tokenizer(
            self.prompts(questions),
            add_special_tokens=not self.chats,
            return_special_tokens_mask=True,
        )
        ids = made["input_ids"]
        if self.kind != "decoder" or self.chats:
            return ids
        kept = [np.trim_zeros(1 - np.array(one), "b") for one in made["special_tokens_mask"]]
        return [one[: len(most)] for one, most in zip(ids, kept)]

    def answers(self, questions: list[str]) -> Iterator[tuple[int, Answer]]:
        """The number and the answer of each question, the longest first."""
        if not questions:
            return
        ids = self.read(questions)
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        before, _ = letter_tokens(self.tokenizer, self.ends_with_begin())
        room = self.longest - (max(self.tokens, len(before) + 1) if self.kind == "decoder" else 0)
        if lengths.max() > room:
            at = int(lengths.argmax())
            raise UserError(
                f"{self.model}: a question has {lengths[at]:,} tokens, and the model reads "
                f"{room:,} ({cut(questions[at], 100)}); choose a model that reads more, fewer "
                "`shots`, or less of the context"
            )
        order, start = np.argsort(-lengths, kind="stable"), 0
        at_once = 1 if self.reads_neighbours(ids, order) else AT_ONCE[self.device.type]
        with tqdm(total=len(questions), unit="answer", leave=False, disable=None) as bar:
            while start < len(order):
                size = max(1, at_once // int(lengths[order[start]]))
                rows = order[start : start + size]
                yield from zip(rows.tolist(), self.written([ids[row] for row in rows]))
                start += size
                bar.update(len(rows))

    def reads_neighbours(self, ids: list[list[int]], order: np.ndarray) -> bool:
        """Whether some questions have other answers alone than in a batch. Compared is how likely
        the tokens are, since rounding may choose between two equally likely ones. order: the
        questions, the longest first.
        """
        shared = [row for row in order if 2 * len(ids[row]) <= AT_ONCE[self.device.type]]
        if len(shared) < 2:
            return False
        most = min(ALONE, AT_ONCE[self.device.type] // len(ids[shared[0]]))
        places = np.unique(np.linspace(0, len(shared) - 1, most).astype(int))
        rows = [ids[shared[place]] for place in places]
        try:
            pairs = zip(rows, self.first_tokens(rows, COMPARED).transpose(0, 1))
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            log.warning(
                "warning: %s: %d questions do not fit into the GPU's memory together, so each is "
                "asked alone",
                self.model,
                len(rows),
            )
            return True
        together, alone = torch.cat(
            [beside(self.first_tokens([row], COMPARED)[:, 0], found) for row, found in pairs], 1
        )
        if alike(together, alone, self.network.dtype):
            return False
        log.warning(
            "warning: %s: an answer depends on the questions beside it in a batch (a token's "
            "log-probability by %.2g), so each question is asked alone",
            self.model,
            (together - alone).abs().max(),
        )
        return True

    def first_tokens(self, ids: list[list[int]], most: int, **options) -> torch.Tensor:
        """(tokens, prompts, vocabulary) the log-probabilities of the first tokens of answers."""
        found = self.generate(
            ids,
            max_new_tokens=min(self.tokens, most),
            output_logits=True,
            return_dict_in_generate=True,
            **options,
        )
        return torch.stack(found.logits).float().log_softmax(-1)

    def ranked_letters(self, ids: list[list[int]]) -> list[str]:
        """The letters A to Z behind each prompt and "Answer:", the likeliest first."""
        before, letters = letter_tokens(self.tokenizer, self.ends_with_begin())
        if not letters:
            return [""] * len(ids)
        options = {}
        if self.kind == "decoder":
            ids = [[*one, *before] for one in ids]
        else:
            begun = [self.greedy.decoder_start_token_id, *before]
            options["decoder_input_ids"] = torch.tensor([begun] * len(ids), device=self.device)
        likely = self.first_tokens(ids, 1, **options)[0][:, letters]
        return [
            "".join(LETTERS[place] for place in order)
            for order in likely.argsort(descending=True, stable=True).tolist()
        ]

    def written(self, ids: list[list[int]]) -> list[Answer]:
        """The model's answer to each prompt; in halves where the memory is too small."""
        try:
            return self.generated(ids)
        except torch.OutOfMemoryError:
            if len(ids) == 1:
                raise UserError(
                    f"{self.model}: a question of {len(ids[0])} tokens does not fit into the GPU's "
                    "memory; write `training: {precision: bf16}`, or take a GPU with more"
                ) from None
        torch.cuda.empty_cache()
        middle = len(ids) // 2
        return self.written(ids[:middle]) + self.written(ids[middle:])

    def generate(self, ids: list[list[int]], **options):
        """What the network writes to each prompt. options: of generate()."""
        batch = self.tokenizer.pad({"input_ids": ids}, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            return self.network.generate(**batch, generation_config=self.greedy, **options)

    def generated(self, ids: list[list[int]]) -> list[Answer]:
        """The model's answer to each prompt."""
        found = self.generate(ids)
        start = max(map(len, ids)) if self.kind == "decoder" else 1
        stops = {*(self.greedy.eos_token_id or ())}
        answers = [self.answer_of(row, stops) for row in found[:, start:].tolist()]
        letters = self.ranked_letters(ids)
        return [answer._replace(letters=one) for answer, one in zip(answers, letters)]

    def answer_of(self, tokens: list[int], stops: set[int]) -> Answer:
        """The answer of the tokens that the model wrote, up to the one that stops it. The marks of
        a thought may be special tokens, which are left out otherwise.
        """
        ends = [place for place, token in enumerate(tokens, 1) if token in stops]
        tokens = tokens[: ends[0] - 1] if ends else tokens
        text, raw = (
            self.tokenizer.decode(tokens, skip_special_tokens=skips) for skips in (True, False)
        )
        thinks = THOUGHT.search(raw) or END.search(raw) or (self.thought_end or "\0") in raw
        text = (raw if thinks else text).strip()
        if self.kind == "decoder" and not self.chats:
            line, *more = text.split("\n")
            return Answer(line, WHOLE if ends or more else CUT)
        return Answer(text, WHOLE if ends else CUT)

    def facts(self) -> dict:
        """For run.json."""
        cuda = self.device.type == "cuda"
        return {
            "kind": self.kind,
            "parameters": sum(one.numel() for one in self.network.parameters()),
            "chat_template": self.chats,
            "precision": self.precision,
            **({"device": torch.cuda.get_device_name()} if cuda else {}),
        }
