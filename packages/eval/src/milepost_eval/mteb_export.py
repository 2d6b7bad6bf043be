"""Records → the files that mteb's tools read: ``results/MODEL/REVISION/TASK.json``."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost.writing import write_text
from milepost_eval.metrics import AT_BUDGET, AT_RANK
from milepost_eval.records import Record

_MAIN = "ndcg@10"
_META = "model_meta.json"


def export(
    records: Iterable[Record], folder: Path, *, languages: Sequence[str] = ("eng-Latn",)
) -> list[Path]:
    """Write what mteb reads with ``mteb.ResultCache(folder).load_results()``.

    Only the collection setting is written: mteb knows no search with the document given. Splits
    of one task go into one file; files of an earlier export are overwritten.

    A system ``chunk:200`` becomes the model ``milepost/chunk-200``, its fingerprint the revision,
    a task ``covid_papers`` becomes ``MilepostCovidPapers``. The main score is nDCG@10 over
    documents. A metric's new name says what is counted: ``recall_at_800_characters``,
    ``mrr_at_10_places``; without a suffix it is of documents, as mteb's own are.

    Args:
        records: of any systems and tasks.
        folder: what mteb calls the cache; made if it is missing.
        languages: of the tasks, as mteb writes them.

    Returns:
        All files written, one ``model_meta.json`` a model among them.

    Raises:
        InputError: nothing to write, two records for one file, or the folder cannot be written.
    """
    models: dict[tuple[str, str], dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record.setting == "collection":
            place = model_name(record), _safe(record.fingerprint) or "no_revision_available"
            models[place][task_name(record.task)].append(record)
    if not models:
        raise InputError(
            "no record in the collection setting, the only one that mteb has",
            "milepost eval run --setting collection",
        )
    files: list[tuple[Path, dict[str, Any]]] = []
    for (name, revision), tasks in models.items():
        at = folder / "results" / name.replace("/", "__") / revision
        for task, found in tasks.items():
            files.append((at / f"{task}.json", _result(task, found, languages)))
        files.append((at / _META, _model(name, revision, tasks, languages)))
    for path, content in files:
        write_text(path, json.dumps(content, indent=2) + "\n", "another folder")
    return [path for path, _ in files]


def task_name(task: str) -> str:
    """A task's name in mteb.

    >>> task_name("covid_papers")
    'MilepostCovidPapers'
    """
    words = re.findall(r"\w+", task.replace("_", " "))
    return "Milepost" + "".join(word[0].upper() + word[1:] for word in words)


def model_name(record: Record) -> str:
    """A system's name in mteb: ``owner/name``, fit for a file's name."""
    return f"milepost/{_safe(record.system)}"


def metric_name(metric: str) -> str:
    """A metric's name in mteb.

    >>> [metric_name(metric) for metric in ("ndcg@10", "recall@800", "mrr@10", "doc-recall@100")]
    ['ndcg_at_10', 'recall_at_800_characters', 'mrr_at_10_places', 'recall_at_100']
    """
    base, at, cut = metric.removeprefix("doc-").partition("@")
    name = base.replace("-", "_") + (f"_at_{cut}" if at else "")
    if metric.partition("@")[0] in AT_BUDGET:
        return f"{name}_characters"
    return f"{name}_places" if metric in AT_RANK else name


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", name).strip("-.")


def _result(task: str, records: Sequence[Record], languages: Sequence[str]) -> dict[str, Any]:
    """One file of one task: ``mteb.TaskResult`` as JSON."""
    scores: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if record.split in scores or record.task != records[0].task:
            raise InputError(
                f"two records of {record.system} on {record.task}, {record.split} questions, "
                f"would both be {task} in mteb",
                "one of them: mteb has one score per model, task and split",
            )
        scores[record.split] = [_scores(record, languages)]
    return {
        "dataset_revision": _digest(records),
        "task_name": task,
        # mteb did not measure this. Its tables order revisions by version and take null for
        # the oldest.
        "mteb_version": None,
        "scores": scores,
        "evaluation_time": sum(each.open_seconds + each.search_seconds for each in records),
        "kg_co2_emissions": None,
        "date": max(_moment(each.date) for each in records).timestamp(),
    }


def _scores(record: Record, languages: Sequence[str]) -> dict[str, Any]:
    if _MAIN not in record.metrics:
        raise InputError(
            f"the record of {record.system} on {record.task} has no {_MAIN}",
            "milepost eval run --setting collection",
        )
    return {
        **{metric_name(name): round(value, 6) for name, value in record.metrics.items()},
        "main_score": round(record.metrics[_MAIN], 6),
        "hf_subset": "default",
        "languages": list(languages),
        "mteb_version": None,
        "milepost": {
            "system": record.system,
            "fingerprint": record.fingerprint,
            "version": record.version,
            "commit": record.commit,
            "machine": record.machine,
            "documents": record.documents,
            "questions": record.questions,
            "left_out": record.left_out,
            "intervals": {metric_name(name): pair for name, pair in record.intervals.items()},
        },
    }


def _model(
    name: str, revision: str, tasks: dict[str, list[Record]], languages: Sequence[str]
) -> dict[str, Any]:
    """``mteb.models.ModelMeta`` as JSON. Records do not know more of a system than its name."""
    systems = {record.system for records in tasks.values() for record in records}
    if len(systems) > 1:
        raise InputError(
            f"the systems {' and '.join(sorted(systems))} would both be {name} in mteb",
            "export them into two folders",
        )
    unknown = (
        "loader n_parameters memory_usage_mb max_tokens embed_dim license open_weights "
        "public_training_code public_training_data similarity_fn_name use_instructions "
        "training_datasets release_date"
    )
    return {
        "name": name,
        "revision": revision,
        "languages": list(languages),
        "framework": [],
        "model_type": _kinds(systems.pop()),
        "modalities": ["text"],
        **dict.fromkeys(unknown.split()),
    }


def _kinds(system: str) -> list[str]:
    """What mteb calls the kind of a model."""
    first, _, reranker = system.partition("|rerank:")
    if first.startswith("bm25"):
        kind = "sparse"
    elif "+bm25" in first or first.partition("@")[0] == "landmark":
        kind = "hybrid"
    else:
        kind = "dense"
    return [kind, "cross-encoder"] if reranker else [kind]


def _digest(records: Sequence[Record]) -> str:
    """What tells this set of questions from another; records know no revision of their data."""
    names = sorted(
        [each.split, document, name]
        for each in records
        for document, name in zip(each.per_question.documents, each.per_question.names, strict=True)
    )
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:16]


def _moment(date: str) -> datetime:
    found = datetime.fromisoformat(date)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
