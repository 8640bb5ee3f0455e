"""Windows of captions as the units to put in order equal a slow reference."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from scripts.studies.strided_sop.windows import windows
from tests.studies.strided_sop.conftest import captions_of


def spoken(videos: list[list[float]]) -> pa.Table:
    """Make captions that start at these seconds; each is three seconds long."""
    said = {
        f"v{video}": [
            (f"{video} {at}", start, start + 3) for at, start in enumerate(sorted(starts))
        ]
        for video, starts in enumerate(videos)
    }
    return captions_of(said)


def windows_by_a_loop(table: pa.Table, context: dict) -> list[dict]:
    found: dict[tuple, dict] = {}
    for caption in table.to_pylist():
        number = (
            caption["position"] // context["sentences"]
            if "sentences" in context
            else caption["start_s"] // context["seconds"]
        )
        window = found.setdefault(
            (caption["video_id"], number), caption | {"text": "", "end_s": 0.0}
        )
        window["text"] = f"{window['text']} {caption['text']}".strip()
        window["end_s"] = max(window["end_s"], caption["end_s"])
    position: dict[str, int] = {}
    for window in found.values():
        window["position"] = position[window["video_id"]] = position.get(window["video_id"], -1) + 1
    return list(found.values())


STARTS = st.lists(st.floats(0, 90).map(lambda start: round(start, 1)), min_size=1, max_size=9)
CONTEXTS = [
    ("seconds", 10.0),
    ("seconds", 0.5),
    ("seconds", 200.0),
    ("sentences", 2),
    ("sentences", 3),
]


@given(
    st.lists(STARTS, min_size=1, max_size=4),
    st.sampled_from(CONTEXTS).map(lambda context: dict([context])),
)
def test_windows_equal_a_slow_reference(videos, context):
    assert windows(spoken(videos), context).to_pylist() == windows_by_a_loop(
        spoken(videos), context
    )
