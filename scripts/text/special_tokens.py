"""Special tokens of a tokenizer: the padding token, and tokens that the model's table lacks.

Padding is masked and never scored, so the choice of a decoder's padding token changes no number. An
encoder may count places by its padding token (RoBERTa does), so it never gets another token.
"""

from scripts.plan.kinds import is_decoder
from scripts.running.program import log

USED = (
    "bos_token_id eos_token_id unk_token_id sep_token_id pad_token_id cls_token_id mask_token_id"
).split()


def give_padding(tokenizer, model_type: str | None) -> bool:
    """Give a decoder's tokenizer a padding token: its end of text, else its unknown token, else its
    first special token. Return whether it can pad: False for a tokenizer without such tokens, and
    for another kind of model.
    """
    if not is_decoder(model_type or ""):
        return False
    reserved = [
        str(token) for _, token in sorted(tokenizer.added_tokens_decoder.items()) if token.special
    ]
    tokens = (tokenizer.eos_token, tokenizer.unk_token, *reserved)
    spare = next((token for token in tokens if token is not None), None)
    if spare is None:
        return False
    tokenizer.pad_token = spare
    log.info("the tokenizer has no padding token: %s is used for padding, and masked", spare)
    return True


def token_beyond(tokenizer, vocab_size: int, model_type: str | None) -> tuple[str, int] | None:
    """Return the last token that the tokenizer makes but a model of vocab_size tokens lacks, with
    its number; None if the model has all tokens.

    A decoder's tokenizer may have special tokens that are not in the model's table and in no text
    here (Gemma's for images). These do not count.
    """
    spared = set()
    if is_decoder(model_type or ""):
        added = tokenizer.added_tokens_decoder.items()
        spared = {number for number, token in added if token.special}
        spared -= {getattr(tokenizer, name) for name in USED}
    tokens = (one for one in tokenizer.get_vocab().items() if one[1] not in spared)
    token, number = max(tokens, key=lambda pair: pair[1], default=("", -1))
    return (token, number) if number >= vocab_size else None
