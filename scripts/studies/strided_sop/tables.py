"""The dataset of strided sentence order prediction. Not a program.

strided pairs  pair_id, video_id, stride, first_position, second_position, text_a, text_b, label (1:
               text_a comes first in the video), overlap (of the two clips: the share of the shorter
               one), same_start (both start at the same second), relative_position (of the middle of
               the pair in the video: 0 its first sentence, 1 its last), sentences (of the video),
               words_a, words_b, seconds_apart (between the starts of both), category (of the video;
               missing where the corpus tells none)
"""

import pyarrow as pa

TEXT, COUNT, NUMBER = pa.string(), pa.int32(), pa.float64()
STRIDED_PAIRS = pa.schema(
    {
        "pair_id": TEXT,
        "video_id": TEXT,
        "stride": COUNT,
        "first_position": COUNT,
        "second_position": COUNT,
        "text_a": TEXT,
        "text_b": TEXT,
        "label": pa.int8(),
        "overlap": NUMBER,
        "same_start": pa.bool_(),
        "relative_position": NUMBER,
        "sentences": COUNT,
        "words_a": COUNT,
        "words_b": COUNT,
        "seconds_apart": NUMBER,
        "category": TEXT,
    }
)
