"""The part of an example that a searched control may see (scripts/controls/search.py). It does not
import scikit-learn, so that builders start quickly.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

Numbers = Callable[[pd.DataFrame], np.ndarray]  # of a table: (n,) or (n, k)


@dataclass(frozen=True)
class View:
    """The part of an example that a control may see, as features of a table. The table has the
    columns first, second (the texts), choice_id and category (where the study has them).

      sees      that part, in words
      words     one text for each example; words, bigrams and word beginnings and ends are learnt
      cues      tokens between spaces: one weight each
      averaged  one text for each example: the mean of the vectors of its words (a control with
                `vectors_of` in resources/models.yaml)
      pairs     two texts for each example, tokens between spaces: one weight for each token of one
                with each token of the other
      by        the values with which the cues and the mean vectors are crossed; in a view of
                numbers alone, each value has a regression of its own
      numbers   (n, k) any numbers
      learnt    functions by name; each learns from the training split, with label and the study's
                `teaches`, and returns a function that gives (n,) numbers
      rules     by name: (n,) scores, higher for the last label, or (n, labels) log-probabilities
      parts     views by name, whose learners are stacked; the view itself then has no features
      penalties C of the logistic regressions on all features
      more      a function of a split of the cleaned corpus and the training split: further examples
                to learn from (a control with `search: corpus`)
      each      true: the features are of the second text, and those of the first are also read
      shared    a function of the scores of a choice's candidates together; it works after learning
      compares  true: it compares the candidates of a choice, so it sees all of them together

    Where exchanging the two texts exchanges the labels, each feature is a difference: that of the
    example less that of the exchanged example.
    """

    sees: str
    words: Callable[[pd.DataFrame], pd.Series] | None = None
    cues: Callable[[pd.DataFrame], pd.Series] | None = None
    averaged: Callable[[pd.DataFrame], pd.Series] | None = None
    pairs: Callable[[pd.DataFrame], tuple[pd.Series, pd.Series]] | None = None
    by: Callable[[pd.DataFrame], pd.Series] | None = None
    numbers: Numbers | None = None
    learnt: dict[str, Callable[[pd.DataFrame], Numbers]] = field(default_factory=dict)
    rules: dict[str, Numbers] = field(default_factory=dict)
    parts: "dict[str, View]" = field(default_factory=dict)
    penalties: tuple[float, ...] = (0.1, 1.0, 10.0)
    more: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame] | None = None
    shared: Callable[[pd.DataFrame, np.ndarray], np.ndarray] | None = None
    each: bool = False
    compares: bool = False

    @property
    def only_rules(self) -> bool:
        """Whether the view learns nothing."""
        learns = (self.words, self.cues, self.averaged, self.pairs, self.numbers, self.learnt)
        return not any(learns) and all(part.only_rules for part in self.parts.values())

    @property
    def apart(self) -> bool:
        """Whether each value of `by` has a regression of its own."""
        return self.by is not None and not (self.words or self.cues or self.averaged or self.pairs)
