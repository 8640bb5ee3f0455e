"""What a GPU could compute at most, and what a network computes."""

import numpy as np
import torch

from scripts.train.batches import Examples

# Dense bf16 teraFLOPs a second without sparsity, by a part of the card's name, from NVIDIA's data sheets of each card (half of a
# figure "with sparsity"). The first that fits counts.
PEAK = {"B200": 2250, "H200": 989, "H100 PCIe": 756, "H100 NVL": 835, "H100": 989, "A100": 312, "A800": 312, "A40": 150, "A30": 165,
        "A10G": 70, "A10": 125, "A6000": 155, "RTX 6000 Ada": 364, "L40S": 362, "L40": 181, "L4": 121, "RTX 4090": 165, "RTX 3090": 71}
EMBEDDINGS = ("embeddings.", "shared", "embed_tokens", "relative_attention_bias")


def reading(module, config, lengths: np.ndarray) -> float:
    """FLOPs of one reading of texts: 2 for each weight and token, 4 · layers · hidden · length² for attention."""
    weights = sum(weight.numel() for name, weight in module.named_parameters()
                  if weight.dim() > 1 and not any(part in name for part in EMBEDDINGS))
    return 2.0 * weights * lengths.sum() + 4.0 * config.num_hidden_layers * config.hidden_size * (lengths.astype(float) ** 2).sum()


def flops_of(network, examples: Examples) -> float:
    """FLOPs of one reading of an example, on average; padding does not count. Learning takes three times as many."""
    config = network.config
    if not config.is_encoder_decoder:
        return reading(network, config, examples.lengths) / len(examples)
    written = examples.fields["decoder_input_ids"].lengths
    head = 2.0 * config.hidden_size * config.vocab_size * written.sum()
    return (reading(network.encoder, config, examples.lengths) + reading(network.decoder, config, written) + head) / len(examples)


def peak_of(device: torch.device, flops: float, rate: float) -> str:
    """`rate` examples a second of so many FLOPs each, as teraFLOPs a second and as a share of the card's peak in bf16."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else ""
    peak = next((peak for part, peak in PEAK.items() if part in name), None)
    share = "" if peak is None else f", {flops * rate / peak / 1e12:.0%} of the bf16 peak ({peak})"
    return f"{flops * rate / 1e12:.3g} teraFLOPs/s{share}"
