"""The split of items by the videos that they come from.

Half of HellaSwag's items continue captions of ActivityNet. The study of sentence order trains and
evaluates on captions of the same videos. So a source with `videos_of` is split by its videos:

  training items     from videos in the captions' training split
  evaluation items   from videos in the captions' evaluation splits

A model trained on the order of captions has therefore seen no video of the evaluation items here. A
model trained here has seen no video of the evaluation captions.

The release of HellaSwag has lost the names of some videos. The captions then identify the video:
the context with its right ending must equal one to four captions in a row, compared by letters and
digits. An item is dropped if no video, or more than one, fits. Items of other categories are split
by article (the first sentence of the context), half and half, by hash.
"""

import numpy as np
import pandas as pd

from scripts.data.builder_arguments import Beside
from scripts.data.keyed import keyed_uniform
from scripts.data.tables import CAPTIONS, read_complete

MOST = 4  # an item consists of at most this many captions in a row
PARTED = 23  # the key of the hashes of articles
LEARNT, MEASURED = "learnt", "measured"  # the use of a video in the study of sentence order
OF_VIDEOS = "activitynet"  # the category of items that continue captions
REASONS = {
    LEARNT: "its video is one that sentence order is learnt from: not measured on here",
    MEASURED: "its video is one that sentence order is measured on: not learnt from here",
}


def plain(texts: pd.Series) -> pd.Series:
    """Return the letters and digits of texts, in lower case: the release changed case, spaces and
    signs.
    """
    return texts.str.lower().str.replace(r"[^a-z0-9]+", " ", regex=True).str.strip()


def runs_of(captions: pd.DataFrame) -> pd.DataFrame:
    """Return every run of one to four captions of a video: key (plain text), video_id, use.

    captions: video_id, use, text, in their order.
    """
    rows = captions[["video_id", "use"]].assign(key=plain(captions["text"]))
    text, parts = rows["key"], [rows]
    for more in range(1, MOST):
        following = rows.assign(key=parts[-1]["key"] + " " + text.shift(-more))
        parts.append(following[rows["video_id"] == rows["video_id"].shift(-more)])
    return pd.concat(parts).drop_duplicates()


def with_videos(items: pd.DataFrame, captions: pd.DataFrame) -> pd.DataFrame:
    """Return items with video_id, use (learnt or measured) and `videos`, the number of videos that
    fit. video_id and use are missing if no video, or more than one, fits.

    items: for each item the row of its right option; video_id, if known, is trusted.
    """
    keyed = items.assign(key=plain(items["context"] + " " + items["option"]))[["item_id", "key"]]
    matched = keyed.merge(runs_of(captions), on="key")[
        ["item_id", "video_id", "use"]
    ].drop_duplicates()
    named = items.loc[items["video_id"].notna(), ["item_id", "video_id"]].merge(
        captions[["video_id", "use"]].drop_duplicates(), on="video_id"
    )
    matched = pd.concat(
        [matched[~matched["item_id"].isin(items.loc[items["video_id"].notna(), "item_id"])], named]
    )
    fits = matched.groupby("item_id").size().reindex(items["item_id"], fill_value=0).to_numpy()
    single = (
        matched.drop_duplicates("item_id", keep=False)
        .set_index("item_id")
        .reindex(items["item_id"])
    )
    return items.assign(
        video_id=single["video_id"].to_numpy(object),
        use=single["use"].to_numpy(object),
        videos=fits,
    )


def read_captions(captions: Beside) -> pd.DataFrame:
    """Return the captions of all videos, with the use of each video in the study of sentence
    order.
    """
    used = {captions.train: LEARNT} | dict.fromkeys(captions.evaluate, MEASURED)
    tables = [
        read_complete(captions.cleaned / f"{split}.parquet", CAPTIONS).to_pandas().assign(use=use)
        for split, use in used.items()
    ]
    return pd.concat(tables, ignore_index=True)


def by_videos(options: pd.DataFrame, captions: Beside, learn: str, measure: str) -> pd.DataFrame:
    """Return for each item: item_id, category, group_id (video or article), the split (empty for a
    dropped item) and the reason. options: rows of the schema choices.
    """
    right = options[options["label"] == 1].rename(columns={"group_id": "video_id"})
    items = with_videos(right, read_captions(captions))
    of_video = items["category"] == OF_VIDEOS
    article = items["context"].str.partition(". ")[0]
    drawn = np.where(keyed_uniform(article, PARTED) < 0.5, MEASURED, LEARNT)
    use = items["use"].where(of_video, drawn)
    why = {0: "no video has its captions", 1: "", 2: "several videos have its captions"}
    dropped = items["videos"].where(of_video, 1).clip(upper=2).map(why)
    kept = use.map(REASONS).where(of_video, "its article, by hash")
    return pd.DataFrame(
        {
            "item_id": items["item_id"],
            "category": items["category"],
            "group_id": items["video_id"].where(of_video, article),
            "split": use.map({LEARNT: learn, MEASURED: measure}).where(dropped == "", ""),
            "reason": kept.where(dropped == "", dropped),
        }
    )
