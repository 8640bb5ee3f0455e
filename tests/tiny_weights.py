"""Weights of a BERT by name and shape, made without torch."""

import numpy as np


def bert_weights(
    rows: int, layers: int, width: int, inner: int, positions: int
) -> dict[str, np.ndarray]:
    """Return zeros for every weight of a BERT without its heads."""
    shapes = {
        f"embeddings.{table}_embeddings.weight": (size, width)
        for table, size in (("word", rows), ("position", positions), ("token_type", 2))
    }
    shapes |= _normed("embeddings", width)
    for layer in range(layers):
        place = f"encoder.layer.{layer}"
        for part, out, into in (
            *((f"attention.self.{role}", width, width) for role in ("query", "key", "value")),
            ("attention.output.dense", width, width),
            ("intermediate.dense", inner, width),
            ("output.dense", width, inner),
        ):
            shapes |= {f"{place}.{part}.weight": (out, into), f"{place}.{part}.bias": (out,)}
        shapes |= _normed(f"{place}.attention.output", width) | _normed(f"{place}.output", width)
    return {f"bert.{name}": np.zeros(shape, "float32") for name, shape in shapes.items()}


def _normed(place: str, width: int) -> dict[str, tuple[int]]:
    return {f"{place}.LayerNorm.weight": (width,), f"{place}.LayerNorm.bias": (width,)}
