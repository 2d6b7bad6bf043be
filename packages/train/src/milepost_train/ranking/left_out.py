"""What a fit finds in a task from which nothing was learned: neither weights nor calibration.

The figures of ``fit.json`` are cross-fitted by document: other documents of the same task have
taught. Here a whole fit without the task answers the task's questions, which says what to expect of
questions of another kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from milepost.encoder import Encoder
from milepost.encoder.reranker import LandmarkReranker
from milepost.errors import InputError
from milepost.search.fusion import Fusion
from milepost.search.ranking import Ranking
from milepost.wording import counted
from milepost_train.data import Progress
from milepost_train.ranking.cases import Ask, asks
from milepost_train.ranking.choosing import Bench, by_task, errors_by_task
from milepost_train.ranking.fit import Fitted, Learner, fit, reranked_bench
from milepost_train.ranking.learning import probabilities
from milepost_train.ranking.questions import ENOUGH, SIZES, Minimum, Roles, Sizes, count, counts_of

EACH = "each"


def others(roles: Roles, names: Sequence[str], enough: Minimum = ENOUGH) -> dict[str, Roles]:
    """Task → the questions of all other tasks, in their roles.

    ``names`` are the tasks to leave out; ``each`` for every one that has questions to calibrate on.
    ``enough`` is for each role, once a task is left out.
    """
    known = list(dict.fromkeys(sample.task for sample in roles.choose))
    rest: dict[str, Roles] = {}
    for name in known if list(names) == [EACH] else names:
        if name not in known:
            fix = f"--leave-out {EACH}, or of {', '.join(known)}"
            raise InputError(f"no task {name!r} with questions to calibrate on", fix)
        rest[name] = _without(roles, name)
        for samples in (rest[name].learn, rest[name].choose):
            if not enough.met(samples):
                questions, documents = count(samples)
                raise InputError(
                    f"left without {name}: {counted(questions, 'question')} about "
                    f"{counted(documents, 'document')}; "
                    f"{enough.questions} about {enough.documents} are needed",
                    "more tasks in --tasks, or another --leave-out",
                )
    return rest


def measure_left_out(
    encoder: Encoder,
    roles: Roles,
    rest: Mapping[str, Roles],
    whole: Mapping[str, Any],
    *,
    sizes: Sizes = SIZES,
    progress: Progress = lambda doing, done, of: None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Fit without each task and measure the task's questions; a row for each.

    ``roles`` are all questions, ``rest`` for each task those of the others, ``whole`` the report of
    the fit with all tasks, whose arguments the others are.
    """
    made = {
        task: fit(encoder, of, sizes=sizes, progress=_named(progress, task), **options)
        for task, of in rest.items()
    }
    # All tasks are asked, since collections hold documents of all: the questions of the whole fit.
    asked = [*asks(roles.choose, encoder, sizes.reranked, progress)]
    asked += asks(roles.absent, encoder, sizes.reranked, progress, absent=True)
    rows = []
    for task, fitted in made.items():
        mine = [ask for ask in asked if ask.task == task]
        figures = _figures(encoder, fitted, mine, _named(progress, task))
        for ranking, row in figures.items():
            again = "questions with reranker"
            of = whole["evidence"][again] if ranking == "with reranker" else whole["evidence"]
            row["all tasks"] = {
                "evidence": {setting: tasks[task] for setting, tasks in of[ranking].items()},
                "calibration error": whole["calibration error by task"][ranking][task],
            }
        rows.append(
            {
                "task": task,
                "questions": counts_of([each for each in roles.choose if each.task == task]),
                "learned from": counts_of(rest[task].learn),
                "learned from tasks": list(fitted.report["questions"]),
                "trees": fitted.report["trees"],
                **figures,
            }
        )
    return rows


def _without(roles: Roles, task: str) -> Roles:
    learn, choose, absent = (
        tuple(sample for sample in samples if sample.task != task)
        for samples in (roles.learn, roles.choose, roles.absent)
    )
    return replace(roles, learn=learn, choose=learn if roles.shared else choose, absent=absent)


def _figures(
    encoder: Encoder, fitted: Fitted, asked: Sequence[Ask], progress: Progress
) -> dict[str, dict[str, Any]]:
    fusion = Fusion.from_fields(fitted.fusion)
    cases, learned = Learner(encoder, progress).kept(asked, Ranking(fusion, fitted.trees))
    bench = Bench(cases, learned.before)
    figures = {"learned ranking": _row(bench, fusion, reranked=False)}
    reranker = LandmarkReranker.of(encoder)
    if reranker is not None:
        some = [number for number, ask in enumerate(asked) if ask.reranked]
        small = reranked_bench(bench, asked, some, reranker, progress)
        figures["with reranker"] = _row(small, fusion, reranked=True)
    return figures


def _row(bench: Bench, fusion: Fusion, *, reranked: bool) -> dict[str, Any]:
    rerank, numbers = (fusion.rerank, fusion.reranked) if reranked else (None, fusion)
    (task,) = {case.task for case in bench.cases}
    found = bench.evidence(rerank, (numbers.length_penalty,))[0]
    shown = bench.shown(rerank, numbers.growth_threshold)
    errors = errors_by_task(bench.cases, shown, probabilities(shown, numbers.calibration))
    evidence = {setting: of[task] for setting, of in by_task(bench.cases, found).items()}
    return {"left out": {"evidence": evidence, "calibration error": errors[task]}}


def _named(progress: Progress, task: str) -> Progress:
    return lambda doing, done, of: progress(f"without {task}: {doing}", done, of)
