"""The labels of a study's datasets, for shared code that names no study.

Standard library only: the Snakefile may import this.
"""

import importlib

from scripts.running.identity import file_of


def labels_of(study: str, labels: list[str], options: dict) -> list[str]:
    """Return the labels of a dataset with these options, in the order of their numbers. labels: the
    study's own labels. A study whose options change its labels has a module `labels` with
    labels_of(labels, options).
    """
    module = f"scripts.studies.{study}.labels"
    return importlib.import_module(module).labels_of(labels, options) if file_of(module) else labels
