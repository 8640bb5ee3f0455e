"""How likely an encoder that fills masks finds the scored part of texts:
each scored token masked alone, all else visible.

The sum is the pseudo-log-likelihood of Salazar et al. 2020 (Masked Language Model Scoring, section
2), over the scored tokens. A text with n of them takes n readings.
"""

import torch

from scripts.train.batches import Batch
from scripts.train.paradigms.log_likelihoods import log_likelihoods, summed

AT_ONCE = 16_384  # tokens, so that memory stays bounded


def scored_likelihoods(
    network: torch.nn.Module, batch: Batch, tokenizer, after: list[int]
) -> torch.Tensor:
    """(rows,) sums of the log-likelihoods of tokens scored_from to scored_to of each row,
    each masked alone.
    """
    ids, inside, body = batch["input_ids"], batch["attention_mask"], network.base_model
    places = torch.arange(ids.shape[1], device=ids.device)
    rows, columns = ((places >= batch["scored_from"]) & (places < batch["scored_to"])).nonzero(
        as_tuple=True
    )
    found, step = [], max(1, AT_ONCE // ids.shape[1])
    for start in range(0, len(rows), step):
        row, column = rows[start : start + step], columns[start : start + step]
        masked = ids[row].scatter(1, column[:, None], tokenizer.mask_token_id)
        output = body(input_ids=masked, attention_mask=inside[row])
        hidden = output.last_hidden_state[torch.arange(len(row), device=ids.device), column]
        found.append(
            log_likelihoods(
                network, body, output, hidden, ids[row, column], {"input_ids": ids[:1, :1]}
            )
        )
    return summed(torch.cat(found), rows, len(ids))
