"""Seeded damage to a program's input: bytes, text, JSON, JSON lines, tables of text, zips, Parquet,
arguments.

Every function takes a random.Random; the same state of it gives the same damage. huge: also use
texts of megabytes.
"""

import contextlib
import csv
import io
import json
import random
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

FOLDER, MISSING = object(), object()  # in place of a file's content


# ---- Bytes and text


class Token(str):
    """A piece of JSON that is written unchanged, which json.dumps would not write."""


class Pairs(list):
    """A JSON object as a list of pairs, so that a key may occur twice."""


ODD = json.loads(r"""
["", " ", "\u0000", "\ud800", "\udfff x", "a\nb", "a\r\nb", "\ufeff", "\u2028", "\u0085", "\u001b[31m", "NaN",
 "-1", "1e999", "=1+1", "None", "{x}", "$(touch x)", "<MASK>", "A: <MASK>", "../x", "\"", "\"\"", "\t",
 "\ud83d\ude00", "\u0663", "none", "yes", "true", "0", "1.5", "__eou__", "A:", "Rule 1", "\u202e", "%s %d", "\\",
 "\\ud800", "\u00b2"]
""")
ODD += ["1" * 400, "1" * 5000, "é" * 300, "x" * 70_000]
HUGE = json.loads(r"""
["a", " ", "\\\"", "1", ". ", "'", "a b ", "@", " ' ", "before ", "{", "[1,", "\u00e9", " for 1 day", "?!", ",",
 "dozen "]
""")


def odd_text(rng: random.Random, huge: bool) -> str:
    """Draw a text that programs may not expect."""
    if huge:
        part = rng.choice(HUGE)
        return part * (2_000_000 // len(part))
    return rng.choice(ODD)


ODD_VALUES = json.loads(
    "[null, true, false, 0, -1, 1.5, 1000000000000000000000000000000, -9223372036854775808, 1e308, [], {}, [[]], "
    '{"a": 1}, [null], ["x"], [1, 2], [0.5, "x"]]',
    object_pairs_hook=Pairs,
)
ODD_JSON = (
    r"""NaN -Infinity 1e999 "\ud800" "\udc00\ud800" "\u0000" 01 'x' nul 1_0 +1 .5""".split()
    + [*("1" + "0" * 400, "1" * 5000, "[" * 2000 + "]" * 2000, '{"a":' * 2000 + "1" + "}" * 2000)]
)


def odd_value(rng: random.Random, huge: bool) -> object:
    """Draw a JSON value that programs may not expect."""
    if rng.random() < 0.4:
        return odd_text(rng, huge)
    return rng.choice([*ODD_VALUES, *map(Token, ODD_JSON)])


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    """Cut, flip, double or re-encode bytes."""
    at, to = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    flipped = bytearray(content or b"\0")
    for _ in range(rng.choice([1, 1, 2, 8])):
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    odd = [b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1a", rng.randbytes(8)]
    odd.append(odd_text(rng, False).encode("utf-8", "surrogatepass"))
    text = content.decode("utf-8", "replace")
    codec = rng.choice("utf-16 utf-16-le utf-16-be utf-32 utf-7 utf-8-sig latin-1".split())
    ways = [
        content[:at],
        content[:at] + content[to:],
        content[:to] + content[at:],
        *[bytes(flipped)] * 3,
        *[content[:at] + rng.choice(odd) + content[at:]] * 3,
        b"\xef\xbb\xbf" + content,
        b"",
        content.replace(b"\n", rng.choice([b"\r", b"\r\n", b"\n\n", b"\x0b", b""])),
        *[text.replace("e", "\u00e9").encode(codec, "replace")] * 2,
    ]
    return rng.choice(ways)


# ---- Structures


def dumped(value: object) -> str:
    """Return the JSON of a value that may contain Tokens and Pairs."""
    if isinstance(value, Token):
        return value
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {dumped(one)}" for key, one in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dumped, value)) + "]"
    return json.dumps(value)


def places_in(value: object) -> list[tuple[list, int]]:
    """Return the place of every element of every list and object: its container and its index."""
    found = []
    for place, one in enumerate(value if isinstance(value, list) else []):
        found.append((value, place))
        found += places_in(one[1] if isinstance(value, Pairs) else one)
    return found


def damaged_value(value: object, rng: random.Random, huge: bool) -> object:
    """Drop, double or wrap elements of lists, or change their types."""
    top = [value]
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        places = places_in(top)
        if not places:
            break
        holder, place = rng.choice(places)
        is_pair, how = isinstance(holder, Pairs), rng.randrange(7)
        key, value = holder[place] if is_pair else (None, holder[place])
        if how == 0:
            del holder[place]
        elif how == 1:
            holder.insert(place, holder[place])
        elif how == 2 and is_pair:
            holder[place] = (odd_text(rng, False), value)
        else:
            new = {3: [value], 4: Pairs([("x", value)])}.get(how) or odd_value(rng, huge)
            holder[place] = (key, new) if is_pair else new
    return top[0] if top else None


def damaged_json(content: bytes, rng: random.Random, huge: bool) -> bytes:
    """Damage JSON as a value."""
    value = damaged_value(json.loads(content, object_pairs_hook=Pairs), rng, huge)
    return dumped(value).encode("utf-8", "surrogatepass")


def damaged_table(content: bytes, rng: random.Random, huge: bool, separator: str) -> bytes:
    """Damage rows and cells as values; quoted like CSV, or not quoted (tab-separated)."""
    text = content.decode("utf-8")
    rows = (
        list(csv.reader(io.StringIO(text, newline="")))
        if separator == ","
        else [line.split(separator) for line in text.split("\n")]
    )
    found = damaged_value(rows, rng, huge)
    lines = found if isinstance(found, list) else [found]
    rows = [[*map(str, line)] if isinstance(line, list) else [str(line)] for line in lines]
    if separator == ",":
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(rows)
        return written.getvalue().encode("utf-8", "surrogatepass")
    return "\n".join(separator.join(row) for row in rows).encode("utf-8", "surrogatepass")


def damaged_lines(content: bytes, rng: random.Random, huge: bool, inside=None) -> bytes:
    """Drop, double or replace lines; damage one of them by `inside`."""
    lines = content.split(b"\n")
    for _ in range(rng.choice([1, 1, 2, 4])):
        place, how = rng.randrange(len(lines)), rng.randrange(6)
        if how == 0 and len(lines) > 1:
            del lines[place]
        elif how == 1:
            lines.insert(place, lines[place])
        elif how == 2 or not inside or not lines[place].strip():
            lines[place] = odd_text(rng, huge).encode("utf-8", "surrogatepass")
        else:
            with contextlib.suppress(ValueError, RecursionError):  # it was damaged before
                lines[place] = inside(lines[place], rng, huge)
    return b"\n".join(lines)


def damaged_zip(content: bytes, rng: random.Random, huge: bool) -> bytes:
    """Damage, rename or double the members of a zip."""
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            inside = old.read(name)
            inside = (
                damaged_lines(inside, rng, huge)
                if rng.random() < 0.7
                else damaged_bytes(inside, rng)
            )
            name = rng.choice([name] * 8 + "../x /etc/x C:/x x".split())
            for _ in range(rng.choice([1] * 9 + [2])):
                new.writestr(name, inside)
    return written.getvalue()


def damaged_metadata(names: list[str], rng: random.Random) -> bytes:
    """Return metadata as pandas writes it, with odd values in some places."""
    frame = pd.DataFrame(dict.fromkeys(names, ["x"])).set_index(rng.choice(names))
    return damaged_json(pa.Schema.from_pandas(frame).metadata[b"pandas"], rng, False)


def damaged_parquet(content: bytes, rng: random.Random, huge: bool) -> bytes:
    """Damage a Parquet file: drop or double columns, change their types, add nulls, nest values,
    write bytes that are not UTF-8, or damage the metadata of pandas.
    """
    table = pq.read_table(io.BytesIO(content))
    for _ in range(rng.choice([1, 1, 2])):
        if not table.num_columns:
            break
        place = rng.randrange(table.num_columns)
        name, column = table.column_names[place], table.column(place).combine_chunks()
        values, odd = column.to_pylist(), [0, -1, 1.5, float("nan"), True, b"\xff", "x", None]
        text = odd_text(rng, huge).encode("utf-8", "ignore").decode()
        raw = pa.array([rng.choice([b"\xff\xfe", b"ok"]) for _ in values], pa.binary())
        new = [
            pa.array([[value] for value in values]),
            pa.array([{"x": value} for value in values]),
            pa.array([value if rng.random() < 0.7 else None for value in values]),
            pa.array([rng.choice(odd)] * len(values)),
            pa.array([text, *[""] * len(values)][: len(values)]),
            pa.array([text, *[""] * len(values)][: len(values)]).dictionary_encode(),
            pa.Array.from_buffers(pa.string(), len(raw), raw.buffers()),
        ]
        tables = [
            table.remove_column(place),
            table.append_column(name, column),
            table.slice(rng.randrange(len(table) + 1), rng.randrange(len(table) + 1)),
            *(table.set_column(place, name, other) for other in new),
            *[table.replace_schema_metadata({"pandas": damaged_metadata(table.column_names, rng)})]
            * 3,
        ]
        table = rng.choice(tables)
    written = io.BytesIO()
    pq.write_table(table, written)
    return written.getvalue()


# Values in a model's configuration that no network can have.
STRANGE = yaml.safe_load("""
num_labels: [0, -1, 10000000, "2"]
num_hidden_layers: [0, -1, 100000, 1000000000000, 1.5, [1]]
hidden_size: [0, 7, 1000000000, "8"]
num_attention_heads: [0, 3, 1000000]
intermediate_size: [0, -8, 1000000000000]
max_position_embeddings: [0, 1, 1000000000000]
vocab_size: [0, 1, 1000000000000, null]
hidden_act: ["none", 3, ["gelu"]]
attn_implementation: ["none", 3]
_attn_implementation: ["flash_attention_9"]
dtype: ["float8_e4m3fn", "int4", 7]
torch_dtype: ["float99"]
model_type: ["bart", "llama", "t5", "vit", "none", 3, null]
architectures: [["None"], "Bert", [3]]
auto_map: [{"AutoModel": "modeling.Evil"}]
quantization_config: [{"quant_method": "gptq"}, 3]
id2label: [["a"], {"x": 1}]
model_input_names: [["none"], "input_ids", [3]]
model_max_length: [0, -1, 1000000000000000000000000000000, "x"]
tokenizer_class: ["None", "T5Tokenizer", 3]
chat_template: ["{{ 1 / 0 }}", "{% for %}", 3]
pad_token_id: [-7, 1000000000, "x"]
tie_word_embeddings: ["x", 3]
""")
STRANGE["id2label"].append({str(place): "a" for place in range(5000)})


def strange_configuration(content: bytes, rng: random.Random) -> bytes:
    """Put a few strange values into the configuration of a model."""
    value = json.loads(content)
    for name in rng.sample(sorted(STRANGE), rng.choice([1, 1, 2])):
        value[name] = rng.choice(STRANGE[name])
    return json.dumps(value).encode()


STRUCTURED = {
    ".json": damaged_json,
    ".tsv": lambda *given: damaged_table(*given, "\t"),
    ".csv": lambda *given: damaged_table(*given, ","),
    ".yaml": damaged_json,  # as fuzz.py writes it
    ".jsonl": lambda *given: damaged_lines(*given, damaged_json),
    ".parquet": damaged_parquet,
    ".zip": damaged_zip,
}


def damaged_file(name: str, content: bytes, rng: random.Random, huge: bool) -> object:
    """Return the damaged content of a file, or FOLDER or MISSING."""
    if rng.random() < 0.01:
        return rng.choice([FOLDER, MISSING])
    if name.endswith("config.json") and rng.random() < 0.7:
        return strange_configuration(content, rng)
    structured = STRUCTURED.get(Path(name).suffix, damaged_lines)
    if huge or rng.random() < 0.65:
        with contextlib.suppress(pa.ArrowException, UnicodeDecodeError):
            content = structured(content, rng, huge)
        if rng.random() < 0.9:
            return content
    return damaged_bytes(content, rng)


def damaged_arguments(arguments: list[str], rng: random.Random) -> list[str]:
    """Change one of the arguments, a number or JSON."""
    places = [
        place
        for place, text in enumerate(arguments)
        if text.lstrip("-").isdigit() or text.startswith("{") and text[1] in '"}'
    ]
    if places:
        odd = json.loads(r"""
            ["-1", "0", "1e9", "nan", "", "1.5", "[]", "{", "{\"a\": 1, \"a\": 2}", "null", "{\"sha256\": 3}",
             "{\"sha256\": {\"x.jsonl\": null, \"y.jsonl\": null}}", "True", "²", "1_000", " 3 "]
        """)
        odd += ["9" * 50, "x" * 100_000, "[" * 3000]
        arguments = [*arguments]
        arguments[rng.choice(places)] = rng.choice(odd)
    return arguments
