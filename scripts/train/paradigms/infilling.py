"""How likely a T5 finds the scored part of texts. The encoder reads the context and a sentinel. The
decoder writes the text that the sentinel stands for.

As in pretraining, the decoder begins with the sentinel. A context that several texts share is read
once.
"""

import torch

from scripts.train.batches import Batch
from scripts.train.paradigms.log_likelihoods import log_likelihoods, summed

SENTINEL = "<extra_id_0>"


def first_of_groups(choices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The first row of each group, and the group of each row, as a place among these rows."""
    _, group = torch.unique(choices, return_inverse=True)
    first = torch.full((int(group.max()) + 1,), len(group), device=group.device)
    return first.scatter_reduce(
        0, group, torch.arange(len(group), device=group.device), "amin"
    ), group


def contexts(
    ids: torch.Tensor, length: torch.Tensor, after: list[int], pad: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The first `length` tokens of each row and then those of `after`, padded on the right;
    and where there is text.
    """
    columns = torch.arange(int(length.max()) + len(after), device=ids.device)
    beyond = columns - length  # ≥ 0: after the context
    ends = torch.tensor(after, device=ids.device)[beyond.clamp(0, len(after) - 1)]
    tokens = ids.gather(1, columns.expand(len(ids), -1).clamp(max=ids.shape[1] - 1))
    inside = beyond < len(after)
    return torch.where(inside, torch.where(beyond < 0, tokens, ends), pad), inside


def scored_likelihoods(
    network: torch.nn.Module, batch: Batch, tokenizer, after: list[int], plain: bool = False
) -> torch.Tensor:
    """(rows,) sums of the log-likelihoods of tokens scored_from to scored_to of each row,
    written by the decoder.

    after: the special tokens at the end of the encoder's text; the rows already have those at its
    beginning. plain: by the network's own forward; the batch is one text.
    """
    ids, start, end = batch["input_ids"], batch["scored_from"], batch["scored_to"]
    pad, sentinel = network.config.pad_token_id, tokenizer.convert_tokens_to_ids(SENTINEL)
    first, group = first_of_groups(batch["choices"])
    tokens, seen = contexts(ids[first], start[first], [sentinel, *after], pad)
    if plain:
        written = torch.cat([tokens.new_tensor([[sentinel]]), ids[:, int(start) : int(end)]], 1)
        logits = network(input_ids=tokens, labels=written).logits[0, 1:].float()
        return logits.log_softmax(-1).gather(1, written[0, 1:, None]).sum()[None]
    read = network.get_encoder()(input_ids=tokens, attention_mask=seen.long())
    encoded = read.last_hidden_state
    columns = torch.arange(int((end - start).max()), device=ids.device)
    inside = columns < end - start
    targets = ids.gather(1, (start + columns).clamp(max=ids.shape[1] - 1))
    begin = torch.tensor(
        [[network.config.decoder_start_token_id, sentinel]], device=ids.device
    ).expand(len(ids), -1)
    body = network.get_decoder()
    output = body(
        input_ids=torch.cat([begin, torch.where(inside, targets, pad)[:, :-1]], 1),
        encoder_hidden_states=encoded[group],
        encoder_attention_mask=seen[group].long(),
        use_cache=False,
    )
    rows, places = inside.nonzero(as_tuple=True)
    read["last_hidden_state"] = encoded[:1, :1]
    given = {"encoder_outputs": read, "decoder_input_ids": begin[:1, :1], "use_cache": False}
    found = log_likelihoods(
        network,
        body,
        output,
        output.last_hidden_state[rows, places + 1],
        targets[rows, places],
        given,
    )
    return summed(found, rows, len(ids))
