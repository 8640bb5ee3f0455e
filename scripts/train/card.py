"""The model card of kept weights: data, settings, numbers, terms, and how to load them."""

import json

CLASSES = {
    "classify": "AutoModelForSequenceClassification",
    "objectives": "AutoModelForSequenceClassification",
    "symmetric": "AutoModelForSequenceClassification",
    "fill": "AutoModelForMaskedLM",
    "generate": "AutoModelForSeq2SeqLM",
}


def front_matter(job: dict, card: dict) -> list[str]:
    """The fields that the hub reads: the base model and the terms, where they are known."""
    peft = bool(job["settings"]["training"].get("adapter"))
    known = {
        "base_model": card.get("hub"),
        "library_name": "peft" if peft else "transformers",
        "license": "other",
        "license_name": card.get("licence"),
    }
    return [
        "---",
        *(f"{key}: {json.dumps(value)}" for key, value in known.items() if value),
        "tags: [timestride]",
        "---",
    ]


def numbers(history: list[dict], epoch: int) -> list[str]:
    """The measurements of the kept epoch, one row a split."""
    rows = [row for row in history if row["epoch"] == epoch]
    return [
        "| split | loss | accuracy | n |",
        "|---|---|---|---|",
        *(
            f"| {row['split']} | {row['loss']:.4f} | {row['accuracy']:.4f} | {row['n']:,} |"
            for row in rows
        ),
    ]


def loading(job: dict, merged: bool) -> list[str]:
    """The lines of Python that load the weights."""
    name = CLASSES.get(job["paradigm"], "AutoModel")
    labels = f", num_labels={len(job['head']['labels'])}" if job["head"] else ""
    if merged:
        code = [
            f"from transformers import AutoTokenizer, {name}",
            "",
            f'model = {name}.from_pretrained("FOLDER")',
        ]
    else:
        code = [
            "from peft import PeftModel",
            f"from transformers import AutoTokenizer, {name}",
            "",
            f'base = {name}.from_pretrained("BASE MODEL"{labels})',
            'model = PeftModel.from_pretrained(base, "FOLDER")',
        ]
    return [
        "```python",
        *code,
        'tokenizer = AutoTokenizer.from_pretrained("FOLDER")',
        "model.config.pad_token_id = tokenizer.pad_token_id",
        "```",
    ]


def about_source(entry: tuple[str, dict]) -> str:
    """Return the line of a source. entry: its name, and what is known of it."""
    name, source = entry
    title, licence = source.get("title", name), source.get("licence", "licence unknown")
    return f"* {title}: {licence}; {source.get('citation', 'no citation')}"


def model_card(
    job: dict, facts: dict, history: list[dict], epoch: int, keep: str, card: dict
) -> str:
    """The card as Markdown. card: title, licence, hub and revision of the model, `merged`, and
    title, licence and citation of each source, as far as they are known.
    """
    settings = job["settings"]
    base = card.get("title", settings["model"])
    from_hub = f" ({card['hub']} at {card.get('revision')})" if card.get("hub") else ""
    labels = f"Labels, in order: {', '.join(job['head']['labels'])}." if job["head"] else ""
    lines = [
        *front_matter(job, card),
        "",
        f"# {base}, {settings['study']}, {settings['method']}, seed {settings['seed']}",
        "",
        (
            f"Trained by timestride, run `{job['run']}`: the "
            f"{'reported' if keep == 'best' else 'last'} epoch, {epoch} of {facts['epochs']}. "
            f"Begins with {base}{from_hub}, licence: {card.get('licence', 'unknown')}. {labels}"
        ),
        "",
        "## Data",
        "",
        (
            f"Study {settings['study']}, source {settings['source']}, dataset "
            f"{settings['dataset']}: `{json.dumps(settings['data'], sort_keys=True)}`; "
            f"{facts['train_examples']:,} examples learnt from, columns {', '.join(job['inputs'])}."
        ),
        "",
        *map(about_source, card.get("sources", {}).items()),
        "",
        "## Numbers",
        "",
        *numbers(history, epoch),
        "",
        "## Settings",
        "",
        "```json",
        json.dumps(settings["training"], indent=1, sort_keys=True),
        "```",
        "",
        "## Loading",
        "",
        *loading(job, card.get("merged", False) or not settings["training"].get("adapter")),
        "",
        "## Origin",
        "",
        f"* digest of the run: `{job['digest']}`",
        *(f"* data {split}: `{digest}`" for split, digest in sorted(job["data"].items())),
        f"* computed on {facts['hardware']['device']}, {facts['hardware']['precision']}",
        f"* {', '.join(f'{name} {version}' for name, version in facts['versions'].items())}",
        "",
    ]
    return "\n".join(lines)
