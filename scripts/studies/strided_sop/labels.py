"""The names of a dataset's labels, for scripts/data/labels.py.

Standard library only.
"""

from scripts.studies.strided_sop.strides import strides_of


def labels_of(labels: list[str], options: dict) -> list[str]:
    """Return the labels of a dataset, in the order of their numbers. labels: the labels of the
    order, which is predicted by default.

    The label of a stride is its own number. The label of order and stride is 2 · stride + order.
    options: those of the dataset; other studies predict nothing else.
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
