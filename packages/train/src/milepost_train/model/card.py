"""Write the model card: what a trained model is, how it reads, and what it was trained on.

Facts that no program knows (the licence of the weights, the purpose, the weaknesses) are left to
the owner, under a heading that says so.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from milepost.encoder.engine.manifest import Manifest
from milepost.wording import counted
from milepost_eval.tasks.reading import task_name

CARD = "README.md"

_FOLDER = re.compile(r"checkpoint(?:-(\d+))?")
_NEEDED = {"settings", "data", "versions", "machine", "started", "base_model"}

_SAID = tomllib.loads(Path(__file__).with_name("card.toml").read_text(encoding="utf-8"))


def record_of(checkpoint: str | Path) -> dict[str, Any] | None:
    """What ``milepost train`` recorded about a checkpoint; None for one of another origin.

    It is ``run.json`` with the check before training as ``first`` and that of the checkpoint as
    ``last``: the last one or, as the run was set, the best, for ``checkpoint-N`` that after N
    steps.
    """
    folder = Path(checkpoint).resolve()
    try:
        record = json.loads((folder.parent / "run.json").read_text("utf-8"))
        log = list(log_lines(folder.parent))
    except (OSError, ValueError):
        return None
    kept = _FOLDER.fullmatch(folder.name)
    if kept is None or not isinstance(record, dict) or not record.keys() >= _NEEDED:
        return None
    settings = record["settings"]
    if not isinstance(settings, dict) or "stages" not in settings:
        return None
    step = int(kept[1]) if kept[1] else None
    checks = [line for line in log if line.keys() >= {"check", "step"}]
    first = next((line for line in checks if line["step"] == 0), {})
    if step is not None:
        checks = [line for line in checks if line["step"] == step]
    elif settings.get("check", {}).get("keep") == "best":
        checks = [max(checks, key=lambda line: mean(line["check"]))] if checks else []
    return {**record, "first": first, "last": checks[-1] if checks else {}}


def log_lines(run: Path) -> Iterator[dict[str, Any]]:
    """The lines of a run's ``log.jsonl``; a last one that a kill has cut off is left out."""
    for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines():
        with suppress(ValueError):
            read = json.loads(line)
            if isinstance(read, dict):
                yield read


def mean(check: Mapping[str, float]) -> float:
    """Mean over tasks of what a check found."""
    return sum(check.values()) / len(check)


def is_reranker(record: Mapping[str, Any] | None) -> bool:
    """Whether a record of ``record_of`` is about training to rank or to judge alone."""
    stages = record["settings"]["stages"] if record else []
    kinds = {part["kind"] for stage in stages for part in stage["parts"]}
    return bool(kinds) and kinds <= {"rerank", "judge"}


def card(name: str, manifest: Manifest | None, record: Mapping[str, Any] | None) -> str:
    """Write a model card in Markdown, with the metadata of the Hugging Face hub in front.

    Folders are named without their parent folders, which may be private. ``manifest`` is None for
    a run that is not exported yet, ``record`` (see ``record_of``) if it is missing.
    """
    reranker = is_reranker(record)
    said = _SAID["grid"].format(manifest.every) if manifest and manifest.every else _SAID["encoder"]
    parts = ["\n".join(_metadata(record)), f"# {name}\n", _SAID["reranker"] if reranker else said]
    if manifest is not None:
        parts += [] if reranker else [_pooled(manifest), _SAID["use"]]
        parts.append("\n".join(_reading(manifest)) + "\n")
    if record is not None:
        parts.append("\n".join(_training(record)) + "\n")
    return "\n".join([*parts, _SAID["open"]])


def _metadata(record: Mapping[str, Any] | None) -> Iterator[str]:
    yield "---"
    yield "library_name: milepost"
    yield "pipeline_tag: feature-extraction"
    if record and record["base_model"]:
        yield f"base_model: {record['base_model']}"
    yield from ("tags:", "- milepost", "- landmark-embedding", "- sentence-similarity", "---", "")


def _pooled(manifest: Manifest) -> str:
    parts = "landmarks" if manifest.every else "sentences'"
    if manifest.pooling == "lmk":
        return f"The document's vector is the mean of its {parts}.\n"
    return f"A trained pooling ({manifest.pooling}) makes the document's vector of its {parts}.\n"


def _reading(manifest: Manifest) -> Iterator[str]:
    every = f", every {manifest.every} tokens" if manifest.every else ""
    own = "the tokens before it" if manifest.every else "its own sentence"
    rows = {
        "numbers of a vector": manifest.dimensions,
        "window": f"{manifest.window} tokens, up to {manifest.left} of context before its own "
        f"{'tokens' if manifest.every else 'sentences'} and {manifest.right} after",
        "longest sentence": f"{manifest.longest} tokens; a longer one is cut at a clause",
        "landmark": f"`{manifest.landmark}`{every}",
        "in front of a question": manifest.query_prefix and f"`{manifest.query_prefix}`",
        "in the last layer a landmark sees": own if manifest.own_sentence else "the whole window",
        "fingerprint": f"`{manifest.fingerprint}`",
    }
    yield from ("## How it reads\n", "| | |", "|---|---|")
    yield from (f"| {name} | {value} |" for name, value in rows.items() if value)


def trained(record: Mapping[str, Any]) -> dict[str, Any]:
    """What the manifest says of a training; ``milepost fit`` does not learn from that data.

    The data includes that of the run whose checkpoint the training began with.
    """
    settings, before = record["settings"], record.get("trained") or {}
    data = settings["data"]
    paths = (*data["tasks"], *data["pairs"], *data["judged"])
    names = before["data"].split(", ") if before else []
    names += [task_name(Path(path)) for path in paths]
    return {
        "from": _begun(record),
        "steps": sum(stage["steps"] for stage in settings["stages"]),
        "data": ", ".join(dict.fromkeys(names)),
        "hold_out": min(data["hold_out"], before.get("hold_out", 1.0)),
        "date": record["started"][:10],
    }


def _begun(record: Mapping[str, Any]) -> str:
    return record["base_model"] or Path(record["settings"]["init"]).name


def _training(record: Mapping[str, Any]) -> Iterator[str]:
    settings, last = record["settings"], record["last"]
    yield "## How it was trained\n"
    begun = _begun(record)
    machine, hours = record["machine"], record.get("hours")
    lasted = f", {hours:.1f} hours" if hours else ""
    where = f"{machine['device']} of {machine['cpu']}{lasted}"
    yield f"From `{begun}`, {record['started'][:10]}, on {where}."
    for number, stage in enumerate(settings["stages"], 1):
        kinds = " and ".join(f"`{part['kind']}`" for part in stage["parts"])
        yield (
            f"Stage {number}: {counted(stage['steps'], 'step')} of {kinds}, rate "
            f"{stage['rate']:g}, in {settings['dtype']}."
        )
    folders = Counter(Path(name).parent.name or Path(name).name for name in record["data"])
    yield "\nRead for it (SHA-256 of each file in `run.json` of the run):\n"
    yield from (f"- `{folder}`, {counted(count, 'file')}" for folder, count in folders.items())
    if "check" in last:
        budget = settings["check"]["budget"]
        yield (
            f"\nEvidence of development questions found by landmarks within {budget:,} characters, "
            f"after {counted(last['step'], 'step')}:\n"
        )
        before = record.get("first", {}).get("check", {})
        yield "| task | before training | found |"
        yield "|---|---:|---:|"
        for task, share in last["check"].items():
            yield f"| {task} | {f'{before[task]:.1%}' if task in before else ''} | {share:.1%} |"
        if before and mean(last["check"]) < mean(before):
            yield "\n**These weights find less than those that the training began with.**"
    made = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    yield f"\nMade with {made}."
