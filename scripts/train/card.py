"""The model card of kept weights: data, settings, numbers, terms, and how to load them."""

import json

CLASSES = {
    "classify": "AutoModelForSequenceClassification",
    "objectives": "AutoModelForSequenceClassification",
    "symmetric": "AutoModelForSequenceClassification",
    "fill": "AutoModelForMaskedLM",
    "generate": "AutoModelForSeq2SeqLM",
}
CARD = """---
{terms}tags: [timestride]
---

# {base}, {study}, {method}, seed {seed}

Trained by timestride, run `{run}`: the {which} epoch, {epoch} of {epochs}. Begins with \
{base}{from_hub}, licence: {licence}. {labels}

## Data

Study {study}, source {source}, dataset {dataset}: `{options}`; {examples:,} examples learnt from, \
columns {columns}.

{sources}
## Numbers

| split | loss | accuracy | n |
|---|---|---|---|
{numbers}
## Settings

```json
{training}
```

## Loading

```python
{loading}
tokenizer = AutoTokenizer.from_pretrained("FOLDER")
model.config.pad_token_id = tokenizer.pad_token_id
```

## Origin

* digest of the run: `{digest}`
{data}* computed on {device}, {precision}
* {versions}
"""
WHOLE = """from transformers import AutoTokenizer, {name}

model = {name}.from_pretrained("FOLDER")"""
ADAPTER = """from peft import PeftModel
from transformers import AutoTokenizer, {name}

base = {name}.from_pretrained("BASE MODEL"{labels})
model = PeftModel.from_pretrained(base, "FOLDER")"""


def about_source(name: str, source: dict) -> str:
    """Return the line of a source, with what is known of it."""
    title, licence = source.get("title", name), source.get("licence", "licence unknown")
    return f"* {title}: {licence}; {source.get('citation', 'no citation')}"


def in_lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def model_card(
    job: dict, facts: dict, history: list[dict], epoch: int, keep: str, card: dict
) -> str:
    """The card as Markdown. card: title, licence, hub and revision of the model, `merged`, and
    title, licence and citation of each source, as far as they are known.
    """
    settings, labels = job["settings"], job["head"]["labels"] if job["head"] else []
    adapter = bool(settings["training"].get("adapter"))
    terms = {  # the fields that the hub reads
        "base_model": card.get("hub"),
        "library_name": "peft" if adapter else "transformers",
        "license": "other",
        "license_name": card.get("licence"),
    }
    loading = ADAPTER if adapter and not card.get("merged", False) else WHOLE
    return CARD.format(
        **{key: settings[key] for key in ("study", "method", "seed", "source", "dataset")},
        terms=in_lines([f"{key}: {json.dumps(value)}" for key, value in terms.items() if value]),
        base=card.get("title", settings["model"]),
        run=job["run"],
        which="reported" if keep == "best" else "last",
        epoch=epoch,
        epochs=facts["epochs"],
        from_hub=f" ({card['hub']} at {card.get('revision')})" if card.get("hub") else "",
        licence=card.get("licence", "unknown"),
        labels=f"Labels, in order: {', '.join(labels)}." if job["head"] else "",
        options=json.dumps(settings["data"], sort_keys=True),
        examples=facts["train_examples"],
        columns=", ".join(job["inputs"]),
        sources=in_lines([about_source(*one) for one in card.get("sources", {}).items()]),
        numbers=in_lines(
            [
                f"| {row['split']} | {row['loss']:.4f} | {row['accuracy']:.4f} | {row['n']:,} |"
                for row in history
                if row["epoch"] == epoch
            ]
        ),
        training=json.dumps(settings["training"], indent=1, sort_keys=True),
        loading=loading.format(
            name=CLASSES.get(job["paradigm"], "AutoModel"),
            labels=f", num_labels={len(labels)}" if job["head"] else "",
        ),
        digest=job["digest"],
        data=in_lines([f"* data {split}: `{of}`" for split, of in sorted(job["data"].items())]),
        device=facts["hardware"]["device"],
        precision=facts["hardware"]["precision"],
        versions=", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
    )
