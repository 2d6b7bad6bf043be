"""Whether passages hold evidence as often as their scores say.

    python bench/reliability.py --split test --out reliability.json
    python bench/reliability.py --split test --model landmark-light --out light.json
    python bench/reliability.py --split test --budget 1600c --out budget.json
    python bench/reliability.py --collection 1,12,100,mixed --documents 100 --out sizes.json
    python tools/question_task.py --absent --out scratch/absent
    python bench/reliability.py --absent scratch/absent --out absent.json

Every question is asked as users ask (`index.search`, the five best, or what a budget holds), of its
document, of a collection that holds it, and of a document that does not answer it. `--collection`
names sizes of collections, in documents, beside the usual one; `mixed` has the documents of all
tasks. `--absent` asks questions of a document that is about them and does not answer. Nothing is
tuned here.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import milepost
from milepost.types import Document
from milepost_eval.factory import SystemFactory
from milepost_eval.provenance import commit, machine, today
from milepost_eval.tasks import load
from milepost_eval.types import Question
from milepost_eval.vectors import Vectors
from milepost_train.ranking.cases import TOGETHER
from milepost_train.ranking.questions import Sample, Sizes, sample

TASKS = ("written", "squad_articles", "covid_papers", "trials", "meetings", "policies",
         "multilingual")  # fmt: skip
SETTINGS = ("document", "collection", "elsewhere")
"""What the calibration is fitted for; other sizes and absent questions have figures beside it."""
MIXED = "mixed"
"""A collection of the documents of all tasks."""
LEASTS = (0.0, 0.1, 0.2, 0.3, 0.5)
"""Limits under which a passage is left out, as ``--min-score`` does; 0 shows everything."""


@dataclass(frozen=True)
class Asked:
    """A question in one setting: of each passage shown its chance, and whether it holds evidence.

    Best first. ``setting``: one of ``SETTINGS``, ``absent``, or the size of a collection.
    """

    task: str
    setting: str
    passages: tuple[tuple[float, bool], ...]
    documents: int = 1


Collection = tuple[milepost.Index, int]
"""What is searched, and how many documents it has."""


def opened(documents: Sequence[Document], model: milepost.Encoder) -> Collection:
    index = milepost.open(model=model)
    index.add(documents)
    return index, len(documents)


def found_in(
    index: milepost.Index, question: Question, document: str, options: argparse.Namespace
) -> tuple[tuple[float, bool], ...]:
    """What a search shows: chances, and whether evidence is there; ``document`` holds it."""
    budget = options.budget
    return tuple(
        (
            round(passage.score, 4),
            passage.document == document
            and any(s < passage.end and e > passage.start for s, e in question.spans),
        )
        for passage in index.search(question.text, k=None if budget else 5, budget=budget)
    )


def asked(
    chosen: Sample, model: milepost.Encoder, options: argparse.Namespace, mixed: Collection | None
) -> list[Asked]:
    """Every question of a task in its settings."""
    documents = chosen.documents
    alone = [opened([document], model) for document in documents]
    sizes = {TOGETHER, *(int(size) for size in options.collection if size != MIXED)} - {1}
    pools = {
        size: [
            opened(documents[at : at + size], model) for at in range(0, len(documents), size)
        ]
        for size in sorted(sizes)
    }  # fmt: skip
    found = []
    for number, (document, questions) in enumerate(zip(documents, chosen.questions, strict=True)):
        for n, question in enumerate(questions):
            other = (number + 1 + n) % len(documents)
            settings = {"document": alone[number]}
            for size, of_size in pools.items():
                settings[setting_of(str(size))] = of_size[number // size]
            if other != number:
                settings["elsewhere"] = alone[other]
            if mixed is not None:
                settings[MIXED] = mixed
            for setting, (index, searched) in settings.items():
                name = document.name if setting != MIXED else f"{chosen.task}: {document.name}"
                passages = found_in(index, question, name, options)
                found.append(Asked(chosen.task, setting, passages, searched))
    return found


def setting_of(size: str) -> str:
    """The name of a collection's size among the settings."""
    return {"1": "document", str(TOGETHER): "collection"}.get(size, size)


def absent_from(
    folder: Path, model: milepost.Encoder, options: argparse.Namespace
) -> tuple[list[Asked], dict[str, int]]:
    """Questions that their document does not answer, asked of it; how many, about how many."""
    task = load(str(folder), options.split, absent=True)
    questions = [question for question in task.questions if question.absent]
    if not questions:
        raise SystemExit(
            f"{folder} has no {options.split} question without spans; "
            f"try: python tools/question_task.py --absent --out {folder}"
        )
    about = {question.document for question in questions}
    alone = {each.name: opened([each], model) for each in task.documents if each.name in about}
    found = [
        Asked(task.name, "absent", found_in(alone[each.document][0], each, each.document, options))
        for each in questions
    ]
    return found, {"questions": len(questions), "documents": len(about)}


def shown_of(found: list[Asked]) -> list[tuple[float, bool]]:
    return [passage for each in found for passage in each.passages]


def binned(shown: list[tuple[float, bool]]) -> list[dict]:
    """Ten bins of chance: what was said, what was true, how many."""
    chance = np.array([said for said, _ in shown])
    holds = np.array([true for _, true in shown], float)
    place = np.minimum((chance * 10).astype(int), 9)
    return [
        {
            "said": round(float(chance[place == bin_].mean()), 4),
            "true": round(float(holds[place == bin_].mean()), 4),
            "passages": int((place == bin_).sum()),
        }
        for bin_ in range(10)
        if (place == bin_).any()
    ]


def error_of(bins: list[dict]) -> float:
    """Expected calibration error: the mean distance of said and true over passages."""
    total = sum(each["passages"] for each in bins)
    return sum(abs(each["said"] - each["true"]) * each["passages"] for each in bins) / total


def limits(found: list[Asked]) -> list[dict]:
    """What each least chance costs and saves.

    ``false alarms``: share of the questions asked elsewhere for which anything is shown, and
    ``passages``, the mean number shown for such a question. ``misses``: share of the questions
    asked of a document (a collection) that answers for which nothing shown holds evidence.
    ``absent``, where such questions were asked: false alarms of those.
    """
    elsewhere, absent = (of_setting(found, name) for name in ("elsewhere", "absent"))
    rows = []
    for least in LEASTS:
        shown = [sum(chance >= least for chance, _ in each.passages) for each in elsewhere]
        rows.append({
            "least": least,
            "false alarms": alarms(elsewhere, least),
            "passages": round(sum(shown) / len(shown), 4),
            "misses": {
                name: missed(of_setting(found, name), least) for name in ("document", "collection")
            },
            **({"absent": alarms(absent, least)} if absent else {}),
        })  # fmt: skip
    return rows


def of_setting(found: list[Asked], setting: str) -> list[Asked]:
    return [each for each in found if each.setting == setting]


def alarms(found: list[Asked], least: float) -> float:
    shown = [any(chance >= least for chance, _ in each.passages) for each in found]
    return round(sum(shown) / len(shown), 4)


def missed(found: list[Asked], least: float) -> float:
    """Share of the questions for which nothing shown holds evidence."""
    held = [any(holds and chance >= least for chance, holds in each.passages) for each in found]
    return round(1.0 - sum(held) / len(held), 4)


def by_size(found: list[Asked], sizes: Sequence[str]) -> list[dict]:
    """A row for each size of a collection; ``searched``: documents that it had, mean of questions.

    The last collection of a task is smaller, and so is every one where a task has fewer documents.
    """
    rows = []
    for size in sizes:
        asked = of_setting(found, setting_of(size))
        said, true = np.mean(shown_of(asked), axis=0).round(4).tolist()
        rows.append({
            "size": size,
            "searched": round(float(np.mean([each.documents for each in asked])), 1),
            "questions": len(asked),
            "error": round(error_of(binned(shown_of(asked))), 4),
            "said": said,
            "true": true,
            "misses": {str(least): missed(asked, least) for least in LEASTS},
        })  # fmt: skip
    return rows


def told_apart(found: list[Asked]) -> dict:
    """The best passage of a question that something answers, and of one that nothing does."""
    best = {
        setting: [
            max((chance for chance, _ in each.passages), default=0.0)
            for each in of_setting(found, setting)
        ]
        for setting in ("document", "elsewhere", "absent")
    }
    empty = np.sort(best["elsewhere"])
    ranks = sum(np.searchsorted(empty, best["document"], side=side) for side in ("left", "right"))
    return {
        "told apart": round(float(ranks.mean() / 2 / len(empty)), 4),
        "median best chance": {
            "answered": round(float(np.median(best["document"])), 4),
            "elsewhere": round(float(np.median(empty)), 4),
            **({"absent": round(float(np.median(best["absent"])), 4)} if best["absent"] else {}),
        },
    }


def measures(found: list[Asked]) -> dict:
    """All figures, over everything in ``SETTINGS``, by task and by setting."""
    told = {**told_apart(found), "limits": limits(found)}
    found = [each for each in found if each.setting in SETTINGS]
    bins = binned(shown_of(found))
    settings = {name: shown_of(of_setting(found, name)) for name in SETTINGS}
    tasks = {
        name: shown_of([each for each in found if each.task == name])
        for name in dict.fromkeys(each.task for each in found)
    }
    return {
        "questions": len(found),
        "passages": sum(each["passages"] for each in bins),
        "bins": bins,
        "error": round(error_of(bins), 4),
        "tasks": {name: round(error_of(binned(of)), 4) for name, of in tasks.items()},
        "settings": {name: round(error_of(binned(of)), 4) for name, of in settings.items()},
        "means": {
            name: dict(zip(("said", "true"), np.mean(of, axis=0).round(4).tolist(), strict=True))
            for name, of in settings.items()
        },
        **told,
    }


def sizes_of(text: str) -> tuple[str, ...]:
    """Sizes of collections from ``1,12,100,mixed``, as an option of the command line."""
    sizes = tuple(each.strip() for each in text.split(","))
    if any(each != MIXED and (not each.isascii() or not each.isdigit() or int(each) < 1)
           for each in sizes):  # fmt: skip
        raise argparse.ArgumentTypeError(f"{text}: numbers of documents, or {MIXED}")
    return tuple(dict.fromkeys(each if each == MIXED else str(int(each)) for each in sizes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", help="a shipped model's name, or a model folder")
    parser.add_argument("--budget", help="ask with a budget, such as 1600c, not for five passages")
    parser.add_argument("--split", default="dev", choices=["dev", "test"])
    parser.add_argument("--documents", type=int, default=16, help="of one task, 2 or more")
    parser.add_argument("--questions", type=int, default=8, help="questions of one document")
    parser.add_argument(
        "--collection", type=sizes_of, default=(str(TOGETHER),), metavar="SIZES",
        help=f"documents of a collection, such as 1,{TOGETHER},100,{MIXED} (of all tasks)",
    )  # fmt: skip
    parser.add_argument(
        "--absent", type=Path, metavar="FOLDER",
        help="ask questions without spans, too: what tools/question_task.py --absent wrote",
    )  # fmt: skip
    parser.add_argument("--cache", type=Path, help="keep vectors here: no document is read twice")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.cache is None:
        model = milepost.load(options.model)
    else:
        vectors = Vectors(options.cache / "vectors.sqlite")
        model = SystemFactory(vectors, model=options.model).encoder()
    made = {
        "date": today(),
        "commit": commit(),  # as it stands now, not as it may stand in an hour
        "machine": machine(),
        "model": model.manifest.name,
        "fingerprint": model.fingerprint,
        "split": options.split,
        "budget": options.budget,
        "sampled": {"documents": options.documents, "questions": options.questions},
    }
    sizes = Sizes(options.documents, options.questions)
    samples = [sample(load(task, options.split, options.shared), sizes) for task in TASKS]
    mixed = None
    if MIXED in options.collection:
        every = [
            replace(document, name=f"{chosen.task}: {document.name}")
            for chosen in samples
            for document in chosen.documents
        ]
        mixed = opened(every, model)
    found: list[Asked] = []
    told: dict[str, object] = {}
    if options.absent is not None:  # first: a wrong folder is said at once
        found, told["absent"] = absent_from(options.absent, model, options)
    for chosen in samples:
        of_task = asked(chosen, model, options, mixed)
        found += of_task
        error = error_of(binned(shown_of(of_task)))
        print(chosen.task, len(of_task), f"error {error:.3f}", flush=True)
    told["collections"] = by_size(found, options.collection)
    report = json.dumps({**made, **measures(found), **told}, indent=1)
    options.out.write_text(report + "\n", encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
