"""Build the endings of HellaSwag to choose from (Zellers et al. 2019), split by the videos that
the items come from.

Half of its items continue captions of ActivityNet. The study of sentence order trains and evaluates
on captions of the same videos. So the videos decide the split:

  training items     from videos in the captions' training split
  evaluation items   from videos in the captions' evaluation splits

A model trained on the order of captions has therefore seen no video of the evaluation items here. A
model trained here has seen no video of the evaluation captions.

The release has lost the names of some videos. The captions then identify the video: the context
with its right ending must equal one to four captions in a row, compared by letters and digits. An
item is dropped if no video, or more than one, fits. Items of wikihow are split by article, half and
half, by hash.

Reads  <cleaned>/*.parquet (schema endings), of --beside `captions` every split (schema captions)
Writes <output>/<split>.parquet (schema choices), and <output>/leakage.csv: how many items went to
       each split, or were dropped, and why

    python -m scripts.studies.hellaswag.build --cleaned results/clean/hellaswag \\
        --splits train test --options '{"domain": "activitynet"}' --output /tmp/hellaswag \\
        --beside '{"captions": {"cleaned": "results/clean/activitynet", "spans": "",
                   "train": "train", "evaluate": ["val_1", "val_2"]}}'
"""

import argparse

import numpy as np
import pandas as pd

from scripts.data.limit import limited, of_lowest
from scripts.data.builder_arguments import builder_arguments, source_beside
from scripts.data.csv_files import write_csv
from scripts.studies.hellaswag.options import Options
from scripts.data.files import whole_set
from scripts.data.keyed import keyed_uniform
from scripts.running.program import UserError, execute, log
from scripts.data.tables import CAPTIONS, ENDINGS, read_complete, write_rows
from scripts.studies.hellaswag.tables import CHOICES

MOST = 4  # an item consists of at most this many captions in a row
PARTED, DRAWN = 23, 24  # keys of the hashes of articles and of training items
LEARNT, MEASURED = "learnt", "measured"  # the use of a video in the study of sentence order


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
    """Return items with video_id, use (learnt or measured) and `found`, the number of videos that
    fit. video_id and use are missing if no video, or more than one, fits.

    items: for each item the row of its right ending. A video name in the release is trusted.
    """
    keyed = items.assign(key=plain(items["context"] + " " + items["ending"]))[["item_id", "key"]]
    matched = keyed.merge(runs_of(captions), on="key")[
        ["item_id", "video_id", "use"]
    ].drop_duplicates()
    named = items.loc[items["video_id"].notna(), ["item_id", "video_id"]].merge(
        captions[["video_id", "use"]].drop_duplicates(), on="video_id"
    )
    matched = pd.concat(
        [matched[~matched["item_id"].isin(items.loc[items["video_id"].notna(), "item_id"])], named]
    )
    found = matched.groupby("item_id").size().reindex(items["item_id"], fill_value=0).to_numpy()
    one = (
        matched.drop_duplicates("item_id", keep=False)
        .set_index("item_id")
        .reindex(items["item_id"])
    )
    return items.assign(
        video_id=one["video_id"].to_numpy(object), use=one["use"].to_numpy(object), found=found
    )


def parted(endings: pd.DataFrame, captions: pd.DataFrame) -> pd.DataFrame:
    """Return for each item: item_id, domain, group_id (video or article), use, and the reason why
    it is dropped (empty for a kept item).
    """
    items = with_videos(endings[endings["label"] == 1], captions)
    of_video = items["domain"] == "activitynet"
    article = items["context"].str.partition(". ")[0]
    drawn = np.where(keyed_uniform(article, PARTED) < 0.5, MEASURED, LEARNT)
    videos = items["found"].where(of_video, 1).clip(upper=2)
    why = {0: "no video has its captions", 1: "", 2: "several videos have its captions"}
    return pd.DataFrame(
        {
            "item_id": items["item_id"],
            "domain": items["domain"],
            "group_id": items["video_id"].where(of_video, article),
            "use": np.where(of_video, items["use"].to_numpy(object), drawn),
            "dropped": videos.map(why),
        }
    )


def leakage_of(items: pd.DataFrame, splits: dict[str, str]) -> pd.DataFrame:
    """Count the items of each split and the dropped items, with the reason. splits: the split of
    each use.
    """
    why = {
        LEARNT: "its video is one that sentence order is learnt from: not measured on here",
        MEASURED: "its video is one that sentence order is measured on: not learnt from here",
    }
    is_kept = items["dropped"] == ""
    reason = items["use"].map(why).where(items["domain"] == "activitynet", "its article, by hash")
    rows = items.assign(
        split=items["use"].map(splits).where(is_kept, "dropped"),
        reason=reason.where(is_kept, items["dropped"]),
        order=(~is_kept).astype(int),
        place=items["use"].where(is_kept, items["dropped"]),
    )
    counts = rows.groupby(["order", "domain", "place", "split", "reason"], as_index=False).agg(
        items=("item_id", "size"), groups=("group_id", "nunique")
    )
    return counts[["split", "domain", "reason", "items", "groups"]]


def to_choose(endings: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the endings of items as rows of the schema choices."""
    rows = endings.merge(items[["item_id", "group_id"]], on="item_id")
    return rows.rename(columns={"item_id": "instance_id", "ending": "candidate"}).assign(
        example_id=rows["item_id"] + ":" + rows["place"].astype(str),
        context=rows["context"] + " <MASK>",
    )[CHOICES.names]


def read_captions(given: argparse.Namespace) -> pd.DataFrame:
    """Return the captions of all videos, with the use of each video in the study of
    sentence order.
    """
    captions = source_beside(given, "captions")
    used = {captions.train: LEARNT} | dict.fromkeys(captions.evaluate, MEASURED)
    return pd.concat(
        [
            read_complete(captions.cleaned / f"{split}.parquet", CAPTIONS)
            .to_pandas()
            .assign(use=use)
            for split, use in used.items()
        ],
        ignore_index=True,
    )


def main(given: argparse.Namespace) -> None:
    options, files = Options.of(given.options), sorted(given.cleaned.glob("*.parquet"))
    if not files:
        raise UserError(f"{given.cleaned}: no endings; clean the source again")
    tables = [read_complete(file, ENDINGS, ["video_id"]).to_pandas() for file in files]
    endings = pd.concat(tables, ignore_index=True)
    items = parted(endings, read_captions(given))
    splits = dict(zip((LEARNT, MEASURED), given.splits))
    leakage, kept = leakage_of(items, splits), items[items["dropped"] == ""]
    if options.domain != "all":
        kept = kept[kept["domain"] == options.domain]
    with whole_set(given.output) as folder:
        write_csv(leakage, folder / "leakage.csv")
        for use, split in splits.items():
            rows, where = to_choose(endings, kept[kept["use"] == use]), f"{given.output} {split}"
            limit: dict = {}
            if use == LEARNT:
                what = f"{given.cleaned}: train_items"
                rows = rows[of_lowest(rows["instance_id"], options.train_items, what, DRAWN)]
            else:
                rows, limit = limited(rows, "instance_id", options.limit, "items", where)
            facts = {"split": split, "options": options.written()} | limit
            write_rows(rows, folder / f"{split}.parquet", CHOICES, files[0], facts)
            counts = rows["instance_id"].nunique(), rows["group_id"].nunique()
            log.info("%s: %d items of %d videos and articles", where, *counts)
    for row in leakage.itertuples():
        log.info(
            "%s: %s, %s: %d items (%s)", given.output, row.split, row.domain, row.items, row.reason
        )


if __name__ == "__main__":
    execute(
        main,
        builder_arguments(
            __doc__, Options, "the names of the training and the evaluation split", 2
        ).parse_args(),
    )
