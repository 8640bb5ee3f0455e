"""What a finished study says on the terminal: the findings of its page."""

import json

from scripts.running.summary import summary

CLAUSE = {
    "corpus": "Captions",
    "said": "61 → 50 %",
    "of": "of pairs at stride 0 to 4",
    "control": "best control 58 → 52 (bag of words)",
    "verdicts": [
        ["above", "clearly above the control at stride 0"],
        ["unclear", "not at stride 4"],
    ],
}
FINDING = {"title": "Order", "marks": [], "who": "MPNet · 2 seeds"}
SAMPLE = {"title": "Dialogs", "marks": ["sample data"], "who": "102 instances"}
ALONE = {"corpus": "", "said": "17 %", "of": "", "control": "", "verdicts": []}


def test_it_says_what_the_first_screen_of_the_page_says(tmp_path):
    page, findings = tmp_path / "index.html", tmp_path / "findings.json"
    page.touch()
    found = [FINDING | {"clauses": [CLAUSE, CLAUSE]}, SAMPLE | {"clauses": [ALONE]}]
    findings.write_text(json.dumps({"findings": found}))
    for name, seconds in (("train/a", 75), ("build/b", 2)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"s": seconds}) + "\n")
    lines = summary(tmp_path / "metrics", page, tmp_path, 0, ["scorecard.svg"]).splitlines()
    line = (
        "Order, Captions: 61 → 50 % of pairs at stride 0 to 4; best control 58 → 52 (bag of words); "
        "clearly above the control at stride 0; not at stride 4; MPNet · 2 seeds"
    )
    assert lines[:4] == [
        line,
        line,
        "Dialogs, sample data: 17 %; 102 instances",
        "All models and studies: scorecard.svg",
    ]
    assert lines[-2] == f"Page: {page}"
    assert lines[-1].endswith("; longest: train/a 1 min 15 s, build/b 2 s")
    later = page.stat().st_mtime + 10
    assert summary(tmp_path / "metrics", page, tmp_path, later, []) == "", "an earlier call's page"
