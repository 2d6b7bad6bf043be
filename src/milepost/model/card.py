"""The model card: what a trained model is, how it reads, and what it was trained on.

What no program knows (the licence of the weights, the purpose, what the model is bad at) is left to
the owner, under a heading that says so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from milepost.engine.manifest import Manifest

CARD = "README.md"

_OPEN = """## For you to fill in

- Licence of these weights; it has to fit those of the starting weights and of the training data.
- Languages and kinds of text that the model is for, and what it is bad at.
- Figures on questions that took no part in training: `milepost eval run --model FOLDER`.
"""


def record_of(checkpoint: str | Path) -> dict[str, Any] | None:
    """What ``milepost train`` recorded of a checkpoint: ``run.json``, with the last ``check``.

    Args:
        checkpoint: the folder ``checkpoint`` of a run.

    Returns:
        None for a checkpoint of another origin, or a record that cannot be read.
    """
    run = Path(checkpoint).resolve().parent
    try:
        record: dict[str, Any] = json.loads((run / "run.json").read_text("utf-8"))
        lines = [json.loads(line) for line in (run / "log.jsonl").read_bytes().splitlines()]
        checks = [line for line in lines if "check" in line]
    except (OSError, ValueError, TypeError):
        return None
    return {**record, "last": checks[-1] if checks else lines[-1] if lines else {}}


def card(name: str, manifest: Manifest | None, record: Mapping[str, Any] | None) -> str:
    """A model card in Markdown, with the metadata of the Hugging Face hub in front.

    Args:
        name: of the model.
        manifest: of the exported model; None for a run that was not exported yet.
        record: see ``record_of``; None where there is none.
    """
    parts = ["\n".join(_metadata(record)), f"# {name}\n"]
    parts.append(
        "A landmark model of Milepost: it reads a text in windows of whole sentences, and gives\n"
        "every sentence a vector that was read in its context. Their mean is the document's.\n"
    )
    if manifest is not None:
        parts += [_use(), "\n".join(_reading(manifest)) + "\n"]
    if record is not None:
        parts.append("\n".join(_training(record)) + "\n")
    return "\n".join([*parts, _OPEN])


def _metadata(record: Mapping[str, Any] | None) -> Iterator[str]:
    yield "---"
    yield "library_name: milepost"
    yield "pipeline_tag: feature-extraction"
    init = str(record["settings"]["init"]) if record else ""
    if init.count("/") == 1 and not init.startswith("."):
        yield f"base_model: {init}"
    yield from ("tags:", "- milepost", "- landmark-embedding", "- sentence-similarity", "---", "")


def _use() -> str:
    return (
        "    pip install milepost\n"
        '    milepost search "a question" report.pdf --model FOLDER_OR_HUB_NAME\n'
    )


def _reading(manifest: Manifest) -> Iterator[str]:
    yield "## How it reads\n"
    yield "| | |"
    yield "|---|---|"
    yield f"| numbers of a vector | {manifest.dimensions} |"
    yield (
        f"| window | {manifest.window} tokens, up to {manifest.left} of context before its own "
        f"sentences and {manifest.right} after |"
    )
    yield f"| longest sentence | {manifest.longest} tokens; a longer one is cut at a clause |"
    yield f"| landmark | `{manifest.landmark}` |"
    if manifest.query_prefix:
        yield f"| in front of a question | `{manifest.query_prefix}` |"
    seen = "its own sentence" if manifest.own_sentence else "the whole window"
    yield f"| in the last layer a landmark sees | {seen} |"
    yield f"| fingerprint | `{manifest.fingerprint}` |"


def _training(record: Mapping[str, Any]) -> Iterator[str]:
    settings, last = record["settings"], record.get("last", {})
    yield "## How it was trained\n"
    yield f"From `{settings['init']}`, {record['started'][:10]}, on {_machine(record)}."
    for number, stage in enumerate(settings["stages"], 1):
        kinds = " and ".join(f"`{part['kind']}`" for part in stage["parts"])
        yield (
            f"Stage {number}: {stage['steps']:,} steps of {kinds}, rate {stage['rate']:g}, in "
            f"{settings['dtype']}."
        )
    folders = Counter(str(Path(name).parent) for name in record["data"])
    yield "\nRead for it (SHA-256 of each file in `run.json` of the run):\n"
    yield from (
        f"- `{folder}`, {count} file{'s' * (count > 1)}" for folder, count in folders.items()
    )
    if "check" in last:
        budget = settings["check"]["budget"]
        yield (
            f"\nEvidence of development questions found by landmarks within {budget:,} characters, "
            f"after {last['step']:,} steps:\n"
        )
        yield "| task | found |"
        yield "|---|---:|"
        yield from (f"| {task} | {share:.1%} |" for task, share in last["check"].items())
    made = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    yield f"\nMade with {made}."


def _machine(record: Mapping[str, Any]) -> str:
    machine = record["machine"]
    hours = f", {record['hours']:.1f} hours" if record.get("hours") else ""
    return f"{machine['device']} of {machine['cpu']}{hours}"
