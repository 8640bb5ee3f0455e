"""The kind of time that an expression names."""

from scripts.text.sizes import kind_of_time, shared_kind
from tests.rows import each_row


@each_row(
    "kind, texts",
    """
        duration  | [three hours, 2 weeks, a fortnight, half an hour, 1200 years]
        clock     | [5 PM, "17:00", half past four, "9 o'clock", in the morning]
        date      | [Monday, May 5th, March 1950, "1995", the eighties, tomorrow, two weeks ago]
        age       | [five years old]
        frequency | [every day, twice a week, daily]
        other     | [five, "12", soon, because he was late, ""]
    """,
)
def test_each_expression_has_one_kind(kind, texts):
    assert {text: kind_of_time(text) for text in texts} == dict.fromkeys(texts, kind)
    assert shared_kind(texts) == kind


def test_expressions_of_several_kinds_share_none():
    assert shared_kind(["three hours", "Monday"]) == "other"
