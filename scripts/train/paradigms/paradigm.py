"""The interface between the training loop and a paradigm, and code that paradigms share.

A paradigm is a module scripts/train/paradigms/<name>.py with a class Paradigm: classify, symmetric,
esim, fill, generate, pseudo_log_likelihood, likelihood, mlm. It is made from the model's folder,
the job and the tables, after the caller has seeded torch. It holds

  tokenizer, network   the model that is trained or asked
  width                how many scores an example gets
  padding              {field: number that pads it}, for collate()

and it scores batches: fast (scores), and one text by the network's own forward (plain_scores).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
import transformers
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig, AutoTokenizer

from scripts.plan.models import has_weights
from scripts.running.program import UserError, cut, is_of_machine
from scripts.text.special_tokens import give_padding, token_beyond
from scripts.train.batches import Batch, Examples, Ragged, pieces
from scripts.train.labels import read_config as config_of
from scripts.train.paradigms.scored_tokens import of_group

DROPOUTS = """
    hidden_dropout_prob attention_probs_dropout_prob classifier_dropout classifier_dropout_prob
    dropout_rate attention_dropout attn_pdrop embd_pdrop resid_pdrop
""".split()
NO_LIMIT = 10**9  # tokens of a text
LOADED: dict[str, tuple] = {}  # the model that this process has read last
BLANK = " ___"  # in a mask's place where a tokenizer has no mask


@contextmanager
def loading(model: Path, files: str) -> Iterator[None]:
    """Turn every error of transformers, tokenizers and safetensors about broken files into a
    UserError.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # many kinds, which differ between versions of these libraries
        if is_of_machine(error):
            raise
        raise UserError(
            f"{model}: {files} cannot be loaded ({cut(str(error) or type(error).__name__, 200)}); "
            "get the right files, or take another model"
        ) from error


def read_tokenizer(model: Path):
    """The tokenizer of a model's folder. Raises UserError when it cannot be loaded, or cannot pad
    (a decoder's always can, if it has any special token: scripts/text/special_tokens.py).
    """
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with loading(model, "its tokenizer (config.json, tokenizer.json, tokenizer_config.json)"):
        tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        tokenizer("a", "b")
    if tokenizer.pad_token_id is None and not give_padding(
        tokenizer, config_of(model).get("model_type")
    ):
        raise UserError(
            f"{model}: the tokenizer has no padding token (pad_token in tokenizer_config.json); "
            "choose a model that has one"
        )
    return tokenizer


def check_vocabulary(model: Path, tokenizer, config) -> None:
    """Raise UserError for a tokenizer that makes tokens which the model does not have."""
    if beyond := token_beyond(tokenizer, config.vocab_size, config.model_type):
        token, number = beyond
        raise UserError(
            f"{model}: its tokenizer.json makes token {number:,} ({cut(token)}), but the model has "
            f"{config.vocab_size:,} (vocab_size in config.json, counted from 0); get the right "
            "files, or take another model"
        )


def read_config(model: Path, tokenizer, training: dict, **options):
    """The configuration of a model's folder, with the training's dropout. Raises UserError when
    max_length is too long.
    """
    with loading(model, "config.json"):
        config = AutoConfig.from_pretrained(
            model, trust_remote_code=False, pad_token_id=tokenizer.pad_token_id, **options
        )
    check_vocabulary(model, tokenizer, config)
    if training.get("dropout") is not None:
        for name in DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, training["dropout"])
    longest = longest_text(tokenizer, config)
    if training["max_length"] > longest:
        raise UserError(
            f"{model}: takes {longest} tokens at most, but max_length is {training['max_length']}; "
            f"write `training: {{max_length: {longest}}}`"
        )
    return config


def longest_text(tokenizer, config) -> int:
    """How many tokens a model reads at most. XLNet has no limit, and gives -1."""
    positions = getattr(config, "max_position_embeddings", None) or -1
    return min(tokenizer.model_max_length, positions if positions > 0 else NO_LIMIT)


def read_network(
    kind, model: Path, config, dtype: torch.dtype = torch.float32
) -> tuple[torch.nn.Module, list[str]]:
    """The network of an Auto class, its weights in `dtype`, and the names of weights that its file
    lacks, or has in another shape. Without a file the network starts from scratch.

    The names stay with the network, as `lacked` (None if there is no file): these weights learn
    beside an adapter.
    """
    if type(config) not in kind._model_mapping:
        raise UserError(
            f"{model}: transformers has no {kind.__name__} for a {config.model_type} model; leave "
            "the method out, or take another model"
        )
    with loading(model, "config.json and model.safetensors"):
        if not has_weights(model):
            network = kind.from_config(config)
            network.lacked = None
            return network, []
        network, report = kind.from_pretrained(
            model,
            config=config,
            use_safetensors=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            dtype=dtype,
        )
        network.lacked = sorted(
            {*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])}
        )
        return network, network.lacked


def loaded(read: Callable, model: Path, *settings):
    """read(model, *settings). The next call of this process for the same files and settings returns
    the same object. Only for runs that do not change its weights.
    """
    files = [(str(file.resolve()), file.stat().st_mtime_ns) for file in sorted(model.rglob("*"))]
    key = repr((read.__module__, read.__qualname__, files, settings))
    if key not in LOADED:
        LOADED.clear()  # first, since the memory is for one model
        LOADED[key] = read(model, *settings)
    return LOADED[key]


def check_whole(
    model: Path,
    lost: list[str],
    part: str = "the model",
    remedy: str = "fetch the model again or choose another",
) -> None:
    """Raise UserError if a weight is missing that will not be trained from scratch."""
    if lost:
        raise UserError(
            f"{model}/model.safetensors: {len(lost)} weights of {part} are missing or have another "
            f"shape than in config.json, {lost[0]} first; {remedy}"
        )


def check_trained(model: Path, learns: bool) -> None:
    """Raise UserError for a model without weights that does not learn."""
    if not learns and not has_weights(model):
        raise UserError(
            f"{model}: has no trained weights, and a zero-shot method needs them; leave the method "
            "out, or name a trained model"
        )


def fields_of(batch: Batch, *names: str) -> Batch:
    """The input of a transformer from a batch: the named fields that the batch has."""
    return {name: batch[name] for name in names if name in batch}


def measure_labels(scores: torch.Tensor, examples: Examples) -> tuple[float, float, int]:
    """Mean cross-entropy and accuracy of (n, labels) log-probabilities, and n."""
    gold = torch.from_numpy(examples.labels)
    return (
        -scores[torch.arange(len(gold)), gold].mean().item(),
        (scores.argmax(1) == gold).float().mean().item(),
        len(gold),
    )


class Choosing:
    """A paradigm that scores each candidate by a log-likelihood, and learns from the right ones
    alone.
    """

    width = 1
    score_names = ["log_likelihood"]

    def learnable(self, table: pa.Table) -> pa.Table:
        """The rows to learn from: the right candidates."""
        return table.filter(pc.equal(table["label"], 1))

    def measure(self: object, scores: torch.Tensor, examples: Examples) -> tuple[float, float, int]:
        """From (n, 1) scores: minus the mean score of right candidates, the share of places whose
        best candidate is right, and the number of places.
        """
        score, right = scores[:, 0].numpy(), examples.labels == 1
        # in a tie the wrong candidate comes first
        order = np.lexsort((examples.labels, -score, examples.choices))
        first = np.flatnonzero(np.diff(examples.choices[order], prepend=-1))
        return -float(score[right].mean()), float(right[order][first].mean()), len(first)


def contexts_and_candidates(tokenizer, table: pa.Table, model: Path) -> tuple[Ragged, ...]:
    """The parts of a cloze table as tokens without special ones, each distinct text tokenized once.

    Returns for each row the tokens left of <MASK>, right of it, and of the candidate (Ragged).
    Raises UserError for a context without exactly one <MASK>, and for a candidate that the
    tokenizer cannot represent.
    """
    context, candidate = (table[name].to_pandas() for name in ("context", "candidate"))
    codes, distinct = context.factorize()
    marks = distinct.str.count("<MASK>")
    if (marks != 1).any():
        place = int(np.flatnonzero(marks != 1)[0])
        row = int(np.flatnonzero(codes == place)[0])
        raise UserError(
            f"example {table['example_id'][row].as_py()}: its context has {marks[place]} <MASK>, "
            "not one; build the dataset again from mended dialogs"
        )
    halves = distinct.str.split("<MASK>", n=1)
    left = [half[0].rstrip() for half in halves]
    right = [half[1] for half in halves]
    # Read as a word inside a text: byte-level tokenizers write the space before it.
    numbers, words = candidate.factorize()
    cut = {"add_special_tokens": False}
    sides = [pieces(tokenizer, side, **cut)[0]["input_ids"].take(codes) for side in (left, right)]
    fillings = pieces(tokenizer, [f" {word}" for word in words], **cut)[0]["input_ids"]
    lost = fillings.lengths == 0
    if tokenizer.unk_token_id is not None:
        unknown = np.repeat(np.arange(len(words)), fillings.lengths)[
            fillings.flat == tokenizer.unk_token_id
        ]
        lost[unknown] = True
    if lost.any():
        raise UserError(
            f"{model}: its tokenizer cannot represent the candidate "
            f"{words[int(np.flatnonzero(lost)[0])]!r}; take it out of the data, or choose another "
            "model"
        )
    return *sides, fillings.take(numbers)


def window(
    left: Ragged, right: Ragged, room: np.ndarray, table: pa.Table
) -> tuple[Ragged, Ragged, tuple[int, int]]:
    """Both sides of a mask cut to `room` (n,) tokens together; each side may use the room that the
    other one leaves. Also how many were cut: candidates, and the places of these candidates.

    The longest candidate of a place sets the room of all, so all candidates have one context.
    Raises UserError if a candidate leaves no room.
    """
    if len(room) and room.min() < 0:
        raise UserError(
            f"the candidate {table['candidate'][int(room.argmin())].as_py()!r} leaves no room for "
            "its context; raise max_length"
        )
    room = of_group(room, table["choice"].to_numpy(), "min")
    half = room // 2
    keep_left = np.minimum(left.lengths, np.maximum(half, room - right.lengths))
    keep_right = np.minimum(right.lengths, room - keep_left)
    is_cut = keep_left + keep_right < left.lengths + right.lengths
    truncated = int(is_cut.sum()), len(np.unique(table["choice"].to_numpy()[is_cut]))
    return (
        left.cut(left.lengths - keep_left, keep_left),
        right.cut(np.zeros_like(keep_right), keep_right),
        truncated,
    )


def cloze_examples(
    table: pa.Table, fields: dict[str, Ragged], truncated: tuple[int, int]
) -> Examples:
    """The examples of a cloze table with these fields. truncated: from window()."""
    return Examples(
        fields, table["label"].to_numpy().astype(np.int64), table["choice"].to_numpy(), *truncated
    )


def separate_pairs(tokenizer, model: Path) -> None:
    """Let a tokenizer without a separator for pairs write a newline between the two texts:
    `<start> a <newline> b <end>`. GPT-2 and Qwen write nothing there, Llama and Gemma write their
    start token again. Raises UserError for a tokenizer that reads no newline.
    """
    before, after = frame_of(tokenizer, model)
    first, second = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in "ab")
    both = tokenizer("a", "b")["input_ids"][len(before) + len(first) :]
    if both not in [[*start, *second, *after] for start in ([], before)]:
        return  # the tokenizers of BERT, RoBERTa and T5
    newline = tokenizer("\n", add_special_tokens=False)["input_ids"]
    if not newline:
        raise UserError(
            f"{model}: its tokenizer puts nothing between two texts, not even a newline; choose "
            "another model"
        )
    named = {"before": before, "newline": newline, "after": after}
    special = {name: ids for name, ids in named.items() if ids}
    order = ("before", "$A", "newline", "$B", "after")
    template = [name for name in order if name[0] == "$" or name in special]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=[name for name in template if name not in ("newline", "$B")],
        pair=template,
        special_tokens=[
            {"id": name, "ids": ids, "tokens": tokenizer.convert_ids_to_tokens(ids)}
            for name, ids in special.items()
        ],
    )
    tokenizer.model_input_names = [
        name for name in tokenizer.model_input_names if name != "token_type_ids"
    ]  # the tokenizer has no token types


def blank(tokenizer) -> list[int]:
    """The tokens in the place that candidates are for: the mask, or three underscores where a
    tokenizer has no mask.
    """
    if tokenizer.mask_token_id is not None:
        return [tokenizer.mask_token_id]
    return tokenizer(BLANK, add_special_tokens=False)["input_ids"]


def mask_token(tokenizer, model: Path) -> int:
    """The number of the mask. Raises UserError for a model that has none."""
    if tokenizer.mask_token_id is None:
        raise UserError(
            f"{model}: its tokenizer has no mask; choose an encoder that was trained with one"
        )
    return tokenizer.mask_token_id


def frame_of(tokenizer, model: Path) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text. Raises UserError for a tokenizer that changes the
    text itself.
    """
    inside = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    for place in range(len(whole) - len(inside) + 1):
        if whole[place : place + len(inside)] == inside:
            return whole[:place], whole[place + len(inside) :]
    raise UserError(
        f"{model}: the tokenizer encodes a text between its special tokens otherwise than alone; "
        "choose another model"
    )
