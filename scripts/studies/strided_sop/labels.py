"""What the labels of a dataset are called, where scripts/data/labels.py finds it.

Standard library only.
"""

from scripts.studies.strided_sop.strides import strides_of


def labels_of(labels: list[str], options: dict) -> list[str]:
    """The labels of a dataset, in the order of their numbers; labels: those of the order, which are
    told where nothing else is.

    The stride: its own number. Order and stride: 2 · stride + order. options: those of the dataset;
    other studies predict nothing else.
    """
    predict = options.get("predict")
    if not predict:
        return labels
    strides = strides_of(options["stride"])
    return (
        [f"stride_{stride}" for stride in strides]
        if predict == "stride"
        else [f"{label}_{stride}" for stride in strides for label in labels]
    )
