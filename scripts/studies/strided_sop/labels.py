"""The labels of a dataset, where scripts/data/labels.py finds them."""

from scripts.studies.strided_sop.strides import labels_of  # noqa: F401
