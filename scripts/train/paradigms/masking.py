"""How likely an encoder that fills masks finds the scored part of texts:
it masks one scored token at a time, and sees all other tokens.

The score is the pseudo-log-likelihood of Salazar et al. 2020 (Masked Language Model Scoring,
section 2), summed over the scored tokens. A text with n scored tokens takes n readings.

A piece of a word is easy to guess from the pieces after it, so rare words look likely. With `words`
in the batch, the later tokens of the same word are masked, too. This is PLL-word-l2r of Kauf and
Ivanova 2023 (A Better Way to Do Masked Language Model Scoring). It does not change the score of a
word of one token.
"""

import torch

from scripts.train.batches import Batch
from scripts.train.paradigms.log_likelihoods import log_likelihoods, summed

AT_ONCE = 16_384  # tokens, so that memory stays bounded


def scored_likelihoods(
    network: torch.nn.Module, batch: Batch, tokenizer, after: list[int], plain: bool = False
) -> torch.Tensor:
    """(rows,) sums of the log-likelihoods of tokens scored_from to scored_to of each row,
    each masked alone, or with the later tokens of its word.

    plain: by the network's own forward; the batch is one text.
    """
    ids, inside, body = batch["input_ids"], batch["attention_mask"], network.base_model
    places = torch.arange(ids.shape[1], device=ids.device)
    rows, columns = ((places >= batch["scored_from"]) & (places < batch["scored_to"])).nonzero(
        as_tuple=True
    )
    found, step = [], max(1, AT_ONCE // ids.shape[1])
    for start in range(0, len(rows), step):
        row, column = rows[start : start + step], columns[start : start + step]
        is_masked = places == column[:, None]
        if "words" in batch:
            words = batch["words"][row]
            is_masked = (places >= column[:, None]) & (words == words.gather(1, column[:, None]))
        masked = ids[row].masked_fill(is_masked, tokenizer.mask_token_id)
        if plain:
            logits = network(input_ids=masked).logits[torch.arange(len(row)), column]
            each = logits.float().log_softmax(-1)
            found.append(each.gather(1, ids[row, column][:, None])[:, 0])
            continue
        output = body(input_ids=masked, attention_mask=inside[row])
        hidden = output.last_hidden_state[torch.arange(len(row), device=ids.device), column]
        found.append(
            log_likelihoods(
                network, body, output, hidden, ids[row, column], {"input_ids": ids[:1, :1]}
            )
        )
    return summed(torch.cat(found), rows, len(ids))
