"""A user's own captions: every accepted form gives the same tables, and what cannot be read is
refused with the file, the place and the remedy.
"""

import json
from time import sleep

import pandas as pd
import pytest
import yaml

from scripts.data.tables import CAPTIONS, read_table
from tests.clean.cleaned_dialogs import call, counted
from tests.conftest import ROOT
from tests.files import write_json, write_yaml
from tests.rows import each_row, texts_of

ROWS = [(f"vid{video:03}", start) for video in range(60) for start in (4.0, 0.25, 62.5)]


def named(name: str) -> str:
    return json.dumps({"sha256": {name: None}})


def rows_of_videos(text='Step  {start}, "then"\nvideo {video}') -> pd.DataFrame:
    """Sentences that are not in order of time."""
    return pd.DataFrame(
        {
            "note": "",
            "video_id": video,
            "start": start,
            "end": start + 1.5,
            "text": text.format(start=int(start), video=video),
        }
        for video, start in ROWS
    )


def clean(program, folder, name, output, *more, ok=True):
    """Clean the captions `name` of a folder; returns the tables by split, or the error."""
    found = call(program, "captions_table", folder, output, named(name), *more, ok=ok)
    if not ok:
        return found
    return {
        split: read_table(output / f"{split}.parquet", schema=CAPTIONS).to_pandas()
        for split in ("train", "test")
    }


FORMS = r"""
plain.csv | | utf-8 | ,video_id,start,end,text\n0,v11,62.5,64,"b, caf\xe9"\n1,v11,.25,1.75,"a, caf\xe9"\n2,v0,4,5.5,"c, caf\xe9"\n
excel.csv | | utf-8-sig | sep=;\r\nvideo_id;start;end;Text \r\nv11;62,5;64,0;b, caf\xe9\r\nv11;0,25;1,75;a, caf\xe9\r\nv0;4,0;5,5;c, caf\xe9\r\n
windows.csv | --encoding cp1252 | cp1252 | video_id;start;end;text\nv11;62.5;64;b, caf\xe9\nv11;.25;1.75;a, caf\xe9\nv0;4;5.5;c, caf\xe9\n
unicode.txt | --encoding utf-16 | utf-16 | video_id\tstart\tend\ttext\nv11\t62.5\t64\tb, caf\xe9\nv11\t.25\t1.75\ta, caf\xe9\nv0\t4\t5.5\tc, caf\xe9\n
marked.txt | | utf-16 | video_id\tstart\tend\ttext\nv11\t62.5\t64\tb, caf\xe9\nv11\t.25\t1.75\ta, caf\xe9\nv0\t4\t5.5\tc, caf\xe9\n
names.tsv | --columns {"video_id":"clip","start":"from","text":"what,said"} | utf-8 | clip\tfrom\tend\twhat,said\nv11\t00:01:02.500\t64\tb\nv11\t00:00:00.250\t1.75\ta\nv0\t00:00:04.000\t5.5\tc\n
rows.json | | utf-8 | [{"video_id": "v11", "start": 62.5, "end": 64, "text": "b, caf\xe9"}, {"video_id": "v11", "start": 0.25, "end": 1.75, "text": "a, caf\xe9"}, {"video_id": "v0", "start": 4, "end": 5.5, "text": "c, caf\xe9"}]
howto100m.json | | utf-8 | {"v11": {"start": [62.5, 0.25], "end": [64, 1.75], "text": ["b", "a"]}, "v0": {"start": [4], "end": [5.5], "text": ["c"]}}
activitynet.json | | utf-8 | {"v11": {"duration": 9, "timestamps": [[62.5, 64], [0.25, 1.75]], "sentences": ["b", "a"]}, "v0": {"duration": 9, "timestamps": [[4, 5.5]], "sentences": ["c"]}}
transcripts.json | | utf-8 | {"v11": {"transcription": [{"offsets": {"from": 62500, "to": 64000}, "text": "b"}, {"offsets": {"from": 250, "to": 1750}, "text": "a"}]}, "v0": {"transcription": [{"offsets": {"from": 4000, "to": 5500}, "text": "c"}]}}
chunks.json | | utf-8 | {"v11": {"chunks": [{"timestamp": [62.5, 64], "text": "b"}, {"timestamp": [0.25, 1.75], "text": "a"}]}, "v0": {"chunks": [{"timestamp": [4, 5.5], "text": "c"}]}}
youcook2.json | | utf-8 | {"database": {"v11": {"annotations": [{"segment": [62.5, 64], "sentence": "b"}, {"segment": [0.25, 1.75], "sentence": "a"}]}, "v0": {"annotations": [{"segment": [4, 5.5], "sentence": "c"}]}}}
coin.json | | utf-8 | {"database": {"v11": {"annotation": [{"segment": [62.5, 64], "label": "b"}, {"segment": [0.25, 1.75], "label": "a"}]}, "v0": {"annotation": [{"segment": [4, 5.5], "label": "c"}]}}}
hub.parquet | | utf-8 | [{"video_id": "v11", "timestamps": [[62.5, 64], [0.25, 1.75]], "sentences": ["b", "a"]}, {"video_id": "v0", "timestamps": [[4, 5.5]], "sentences": ["c"]}]
tvr.jsonl | | utf-8 | {"vid_name": "v11", "ts": [62.5, 64], "desc": "b"}\n{"vid_name": "v11", "ts": [0.25, 1.75], "desc": "a"}\n{"vid_name": "v0", "ts": [4, 5.5], "desc": "c"}\n
spans.csv | | utf-8 | video,span,caption\nv11,"[62.5, 64]","b"\nv11,"[0.25, 1.75]","a"\nv0,"[4, 5.5]","c"\n
charades.txt | | utf-8 | v11 62.5 64##b\nv11 0.25 1.75##a\nv0 4 5.5##c\n
align.json | | utf-8 | {"v11": [[1, 62.5, 64, "b"], [1, 0.25, 1.75, "a"]], "v0": [[1, 4, 5.5, "c"]]}
"""


def test_captions_without_a_start_are_dropped_and_counted(program, tmp_path):
    rows = rows_of_videos().astype({"start": object})
    rows.loc[[3, 5], "start"] = ["", "None"]
    rows.to_csv(tmp_path / "own.csv", index=False)
    found = clean(program, tmp_path, "own.csv", tmp_path / "out")
    assert sum(map(len, found.values())) == len(rows) - 2
    reason = "start or end is not a finite number"
    assert counted(tmp_path / "out").xs(reason, level="reason").sum() == 2


@each_row("name, options, encoding, content", texts_of(FORMS))
def test_a_file_with_all_videos(program, tmp_path, name, options, encoding, content):
    write_broken(tmp_path, name, content, encoding)
    found = clean(program, tmp_path, name, tmp_path / "out", *options.split())
    columns = ["video_id", "position", "text", "start_s", "end_s"]
    end = ", café" if "caf" in content else ""
    assert {split: table[columns].to_numpy().tolist() for split, table in found.items()} == {
        "train": [["v0", 0, f"c{end}", 4, 5.5]],
        "test": [["v11", 0, f"a{end}", 0.25, 1.75], ["v11", 1, f"b{end}", 62.5, 64]],
    }


def test_youtubes_rolling_subtitles(program, tmp_path):
    """Times between the words do not count as times of a caption; the repeated line can be cut."""
    (tmp_path / "subs").mkdir()
    for video in ("v0", "v11"):
        (tmp_path / f"subs/{video}.vtt").write_text(
            "WEBVTT\nKind: captions\nLanguage: en\n\n"
            "00:00:00.000 --> 00:00:03.139 align:start position:0%\n \n"
            "heat<00:00:00.400><c> some</c><00:00:00.800><c> oil</c>\n\n"
            "00:00:03.129 --> 00:00:03.139 align:start position:0%\nheat some oil\n \n\n"
            "00:00:03.139 --> 00:00:05.420 align:start position:0%\nheat some oil\n"
            "cut<00:00:03.400><c> it</c><00:00:03.800><c> &amp; stir</c>\n\n"
        )
    plain = clean(program, tmp_path, "subs", tmp_path / "plain")["test"]
    whole = ["heat some oil", "heat some oil", "heat some oil cut it & stir"]
    assert plain["text"].tolist() == whole * plain["video_id"].nunique()
    assert plain["start_s"].tolist()[:3] == [0, 3.129, 3.139]
    rolls = counted(tmp_path / "plain")
    reason = "begins with the end of the one in front"
    assert rolls["test", "sentences", "noted", reason] == 2 * plain["video_id"].nunique()
    cut = clean(program, tmp_path, "subs", tmp_path / "cut", "--cut-rolling")["test"]
    assert cut["text"].tolist() == ["heat some oil", "cut it & stir"] * cut["video_id"].nunique()


READ = r"""
case.en.srt | 1\n00:00:01,5 --> 00:00:02,250\nno\n\ncut\n\n2\n00:00:03,000 --> 00:00:04,000\n42\n | 1.5 2.25 no cut; 3 4 42
case.srt | 00:01,0 --> 00:02,0\nno\nnumbers\n\n00:02,0 --> 00:03,0\nNOTE 7\n | 1 2 no numbers; 2 3 NOTE 7
case.srt | 1\r\n00:01 --> 00:02\r\n<i>un</i>do<br>{\\an8}x < 3 > y, <3\r\n | 1 2 undo x < 3 > y, <3
case.vtt | WEBVTT\n\n1\n00:01.000 --> 00:02.000\na\n2\n00:02.000 --> 00:03.000\nb\n | 1 2 a; 2 3 b
case.vtt | WEBVTT\n\nintro\n00:01.000 --> 00:02.000\na\n\nb\n\nNOTE no\ncaption\n\nnext\n00:02.000 --> 00:03.000\nc\n | 1 2 a b; 2 3 c
case.vtt | WEBVTT\n\nSTYLE\n::cue(c) {color: red}\n\n00:01.000 --> 00:02.000 line:0\n<c.red>a</c> &amp; <v Ann>b\n\nREGION\nid:x\n | 1 2 a & b
case.sbv | 0:00:01.000,0:00:02.000\na, 1:00\n\n\n0:00:02.000,0:00:03.000\nb\n | 1 2 a, 1:00; 2 3 b
case.json | {"text": "all", "segments": [{"start": 1, "end": 2, "text": " a", "id": 1}]} | 1 2 a
case.en.json3 | {"wireMagic": "pb3", "events": [{"tStartMs": 0, "dDurationMs": 9000, "id": 1}, {"tStartMs": 1000, "dDurationMs": 1500, "segs": [{"utf8": "a"}, {"utf8": "-b"}]}, {"tStartMs": 1000, "dDurationMs": 1500, "aAppend": 1, "segs": [{"utf8": "\\n"}]}]} | 1 2.5 a-b
case.jsonl | {"text": "a", "start": 1, "duration": 1.5} | 1 2.5 a
case.json | {"text": "a", "utterances": [{"start": 250, "end": 900, "text": "a", "speaker": "A"}]} | 0.25 0.9 a
case.json | {"start": 1, "end": 2, "text": "a"}\n{"start": 2, "end": 3, "text": "b"}\n | 1 2 a; 2 3 b
case.json | [{"video_id": "case ", "start": "1,5", "end": 2, "text": 7}] | 1.5 2 7
case.csv | video_id,start,end,text\n case,1,2,NA\ncase,2,NA,nan\n | 1 2 NA; 2 2 nan
case.csv | start;end;text\n1,001;2,250;a\n | 1.001 2.25 a
case.csv | start,end,text\n"1,001","12,5",a\n | 1.001 12.5 a
case.csv | start,end,duration,text\n1,2,90,a\n2,,90,b\n3,4,90,c | 1 2 a; 2 3 b; 3 4 c
case.txt | 1.000000\t2.000000\ta\n2.000000\t3.000000\tb\n | 1 2 a; 2 3 b
part/case.json | {"results": {"channels": [], "utterances": [{"start": 1, "end": 2, "transcript": "a"}]}} | 1 2 a
case.json | {"videos": {"case": {"narration_pass_1": {"narrations": [{"timestamp_sec": 1, "narration_text": "a"}, {"timestamp_sec": 3, "narration_text": "b"}]}}}} | 1 3 a; 3 3 b
case.csv | start,duration,text\n1,90,a\n2,90,b\n3,90,c | 1 2 a; 2 3 b; 3 3 c
case.csv | start,duration,text\n1,2,a\n2,2,b\n3,2,c | 1 3 a; 2 4 b; 3 5 c
case.tsv | start\tend\ttext\n1000\t2500\ta\n2500\t3500\tb\n | 1 2.5 a; 2.5 3.5 b
case.tsv | start\tend\ttext\n1000\t2000\t"I have\n2000\t3000\ta dream."\n | 1 2 "I have; 2 3 a dream."
case.tsv | start\tend\ttext\n0.0\t300\ta\n300\t700\tb\n | 0 300 a; 300 700 b
case.tsv | start\tend\ttext\n0\t30\ta\n30\t70\tb\n | 0 30 a; 30 70 b
case.csv | \xef\xbb\xbfstart,end,text\n1,2,caf\xc3\xa9\n | 1 2 café
case.csv | start,end,text\n1,2,caf\xe9\n | 1 2 café
"""


def test_what_is_read(program, tmp_path):
    """Each row is a video of its own, `case`. The encoding is named, and a mark of UTF-8 counts
    more.
    """
    write_broken(tmp_path, "subs/.hidden", "no captions")
    write_broken(tmp_path, "subs/v0.csv", "start,text\\n1,a\\n")
    cases = {f"c{number}": row for number, row in enumerate(texts_of(READ))}
    for case, (name, content, _) in cases.items():
        write_broken(tmp_path, f"subs/{name.replace('case', case)}", content.replace("case", case))
    found = pd.concat(
        clean(program, tmp_path, "subs", tmp_path / "out", "--encoding", "cp1252").values()
    )
    said = found["start_s"].map("{:g} ".format) + found["end_s"].map("{:g} ".format) + found["text"]
    said = said.groupby(found["video_id"]).agg("; ".join).drop("v0")
    assert said.to_dict() == {case: read for case, (_, _, read) in cases.items()}


def test_videos_without_captions_are_counted(program, tmp_path):
    for name, content in {
        **{f"subs/{name}.csv": "start,text\n1,a\n" for name in ("v0", "v11")},
        **{"subs/e1.srt": "", "subs/e2.vtt": "WEBVTT\n", "subs/e3.csv": "start,text\n"},
    }.items():
        write_broken(tmp_path, name, content)
    clean(program, tmp_path, "subs", tmp_path / "out")
    counts = counted(tmp_path / "out")
    assert counts["all", "videos", "noted", "has no caption"] == 3
    assert counts["all", "files", "read", ""] == 5
    assert counts.xs(("videos", "dropped", "no sentence is left"), level=[1, 2, 3]).sum() == 3


def test_ids_that_are_numbers(program, tmp_path):
    rows = [{"video_id": number, "start": 1, "text": "a"} for number in range(60)]
    write_json(tmp_path / "own.json", rows + [{"video_id": 7.0, "start": 2, "text": "b"}])
    found = pd.concat(clean(program, tmp_path, "own.json", tmp_path / "out").values())
    assert set(found["video_id"]) == set(map(str, range(60)))
    assert found.loc[found["video_id"] == "7", "text"].tolist() == ["a", "b"]


def test_captions_again_and_ends_that_are_missing(program, tmp_path):
    rows = rows_of_videos("step {start}").drop(columns="end")
    pd.concat([rows, rows[::2]]).to_csv(tmp_path / "own.csv", index=False)
    found = clean(program, tmp_path, "own.csv", tmp_path / "out")
    counts = counted(tmp_path / "out")
    assert sum(map(len, found.values())) == len(rows)
    again = "occurs a second time, with the same video, times and text"
    assert sum(counts[split, "sentences", "dropped", again] for split in found) == len(rows) / 2
    first = found["test"].iloc[:3]
    assert first["end_s"].tolist() == [4, 62.5, 62.5], "the start of the next caption"
    no_end = "end is missing: the start of the next caption"
    assert counts["all", "sentences", "changed", no_end] == 1.5 * len(rows)


PRESET = """
sources:
  mine: {title: M, kind: captions, cleaner: captions_table, train: train, evaluate: [test], licence: none, citation: none}
run: [order]
experiments:
  order: {title: O, study: strided_sop, data: {source: mine, stride: 0}, models: [tiny_bert], seeds: [1]}
"""


def write_broken(folder, name: str, content: str, encoding: str = "latin-1") -> str:
    """Write a file with this content, in which \n and \xe9 are escapes; return what a source's entry
    would name.
    """
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    text = content.encode().decode("unicode_escape")
    if name.endswith(".parquet"):
        pd.DataFrame(json.loads(text)).to_parquet(place)
    else:
        place.write_bytes(text.encode(encoding))
    return name.split("/")[0]


@each_row(
    "name, content, said",
    texts_of(r"""
        own.csv | video_id,start,txt\nv,1,a\n | column text is missing; its columns are video_id, start, txt. … `columns: {text:
        own.csv | video_id,start,end,text\nv,1,2,a\nv,soon,4,b\n | row 3: start is 'soon', not a number; write seconds
        own.csv | video_id,start,end,text\nv,1,2,a\nv,"1,234.5",4,b\n | row 3: start is '1,234.5'
        own.csv | video_id,start,end,text\nv,1,2,a\n,3,4,b\n | row 3 has no video_id
        own.csv | video_id,start,end,text\nv,1,2,a,b\n | the record that ends in line 2 has 5 cells
        own.csv | video_id,start,end,text\nv,1,2,a\n | 1 videos with captions leave a split empty … a folder with a file for each
        own.csv | video_id,start,end,text\nv,1,2,caf\xe9\n | not UTF-8 text at byte … `encoding: cp1252`
        own.srt | 1\n00:00:00,000 --> soon\na\n | line 2 is '00:00:00,000 --> soon', not two times
        own.vtt | WEBVTT\n\n00:00:01.000 --> 00:75:02.000\na\n | line 3: end is '00:75:02.000', not a number
        own.tsv | start\tend\ttext\n0\t300\tA chapter\n300\t700\tAnother\n | a caption lasts 350, in seconds or in milliseconds? … (12.0)
        own.csv | start,text\n"1,001",a\n | row 2: is 1,001 1001 or 1.001 seconds?
        own.jsonl | {"start": [1], "text": ["a", "b"]} | row 1: text, start have different lengths
        own.csv | 1.0,2.0,3.0\n | has no header that is known; write a header
        own.json | {"segments": [{"start": 1}]} | own.json: segments: Object missing required field `text`
        own.json | {"a": 1} | no captions that are known: needs a list of rows, a transcript
        own.jsonl | {"start": 1}\n{"start" | line 2: broken JSON
        own.pickle | x | reading it could run code … python -c
        own.xlsx | x | it is a spreadsheet; save it as CSV
        own.docx | x | captions do not come in such files. Accepted: a table (.csv
        subs/a.de.vtt | WEBVTT\n | a.de.vtt and a.en.vtt are of one video, a
    """),
)
def test_what_cannot_be_read_is_refused(program, tmp_path, name, content, said):
    source = write_broken(tmp_path, name, content)
    if source == "subs":
        (tmp_path / "subs/a.en.vtt").write_text("WEBVTT\n")
    error = clean(program, tmp_path, source, tmp_path / "o", ok=False)
    assert all(part in error for part in said.split(" … ")), error


@pytest.mark.parametrize(
    "cleaner, name, content, said",
    texts_of(r"""
        captions_table | own.csv | video_id,start,txt\nv,1,a\n | column text is missing
        howto100m | own.pickle | x | reading it could run code
        howto100m | own.csv | x | other captions have `cleaner: captions_table`
    """),
)
def test_a_dry_run_refuses_it_in_the_presets_words(program, tmp_path, cleaner, name, content, said):
    write_broken(tmp_path, name, content)
    preset = yaml.safe_load(PRESET)
    splits = {"evaluate": ["val" if cleaner == "howto100m" else "test"]}
    preset["sources"]["mine"] |= {"local": str(tmp_path / name), "cleaner": cleaner} | splits
    write_yaml(tmp_path / "mine.yaml", preset)
    error = program("tests.plan_of", tmp_path / "mine.yaml").checked(False).stderr
    assert f"`sources:` of the configuration (mine): {tmp_path / name}" in error and said in error


def test_a_large_table_is_read_to_its_first_fault_in_a_dry_run(program, tmp_path):
    """Its beginning is read: names of columns are checked, and a cell in quotes may be cut."""
    rows = pd.concat([rows_of_videos('a\n"b" ' + "word " * 40)] * 100)
    rows.to_csv(tmp_path / "own.csv", index=False)
    assert (tmp_path / "own.csv").stat().st_size > 4_000_000
    preset = yaml.safe_load(PRESET)
    preset["sources"]["mine"]["local"] = str(tmp_path / "own.csv")
    for columns, ok in (({}, True), ({"text": "sentence"}, False)):
        preset["sources"]["mine"]["columns"] = columns
        write_yaml(tmp_path / "mine.yaml", preset)
        done = program("tests.plan_of", tmp_path / "mine.yaml").checked(ok)
        assert ok or "column sentence is missing" in done.stderr


def test_a_dry_run_checks_captions_also_where_their_tables_are_newer(program, tmp_path):
    """The tables may be those of another file, or of another declaration."""
    own, made = tmp_path / "own.csv", tmp_path / "results/clean/mine/manifest.json"
    rows_of_videos().to_csv(own, index=False)
    preset = yaml.safe_load(PRESET)
    preset["sources"]["mine"]["local"] = str(own)
    made.parent.mkdir(parents=True)

    def plan(ok: bool) -> str:
        write_yaml(tmp_path / "mine.yaml", preset)
        sleep(0.05)  # times of files are as coarse as the kernel's clock
        made.write_text('{"files": {}}')
        call = {"cwd": tmp_path, "PYTHONPATH": str(ROOT)}
        return program("tests.plan_of", tmp_path / "mine.yaml", **call).checked(ok).stderr

    plan(True)
    preset["sources"]["mine"]["columns"] = {"text": "txt"}
    assert "column txt is missing" in plan(False)
    own.write_text("video_id,start,txt\nv,1,a\n")
    assert "1 videos with captions" in plan(False)
