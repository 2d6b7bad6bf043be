"""The rules of the verdict, on figures whose truth is known."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_lab.lmk.advice import advice  # noqa: E402
from milepost_lab.lmk.report import report  # noqa: E402
from milepost_lab.lmk.verdict import effect, verdict  # noqa: E402

LENGTHS = [512, 2048, 8192]
HOSTS = 100


def made(
    leads: dict[str, list[float]],
    *,
    late: float = 0.0,
    gate: float = 1.0,
    noise: float = 0.05,
    words: list[float] | None = None,
) -> dict[str, Any]:
    """The result of a study in which LMK has given leads at 256 tokens and at each length.

    Args:
        leads: of LMK over ``mean`` and ``cls``, as shares of 1.
        late: what the last quarter adds to them at the greatest length, and the first one loses.
        gate: points between the untrained poolings.
        noise: deviation of a figure.
        words: what BM25 has more than LMK at 256 tokens and at each length; None: no BM25.
    """
    rng = np.random.default_rng(7)
    quarters = np.tile(np.arange(4), HOSTS)
    difficulty = rng.normal(0.6, 0.1, 4 * HOSTS)
    runs = []
    for pooling in ("lmk", "mean", "cls"):
        for seed in range(4):
            found = []
            for number, length in enumerate((256, *LENGTHS)):
                lead = 0.0 if pooling == "lmk" else leads[pooling][number]
                figures = difficulty - lead + rng.normal(0, noise, 4 * HOSTS)
                if pooling != "lmk" and length == LENGTHS[-1]:
                    figures -= late * ((quarters == 3) * 1.0 - (quarters == 0))
                found.append(
                    {
                        "material": "short" if length == 256 else "needles",
                        "reading": "own",
                        "length": length,
                        "ndcg": figures.tolist(),
                    }
                )
            runs.append(
                {"pooling": pooling, "seed": seed, "found": found, "loss": 1.0, "rate": 1e-4}
            )
    more: dict[str, Any] = {}
    if words is not None:
        more["words"] = [
            {
                "material": "short" if length == 256 else "needles",
                "reading": "own",
                "length": length,
                "ndcg": (difficulty + lead).tolist(),
            }
            for length, lead in zip((256, *LENGTHS), words, strict=True)
        ]
    return {
        **more,
        "settings": {"amounts": {"lengths": LENGTHS}},
        "gate": {"lmk": 20.0, "mean": 20.0 + gate, "cls": 20.0},
        "rates": dict.fromkeys(("lmk", "mean", "cls"), 1e-4),
        "needles": [[f"host {n // 4}", int(quarters[n])] for n in range(4 * HOSTS)],
        "natural": [],
        "runs": runs,
    }


def answers(result: dict[str, Any]) -> list[str]:
    return list(verdict(result, 400).answers.values())


def test_a_claim_that_holds_is_supported() -> None:
    grows = [0.0, 0.0, 0.04, 0.08]
    result = made({"mean": grows, "cls": grows}, late=0.06)
    assert answers(result) == ["supported"] * 4


def test_a_claim_that_does_not_hold_is_contradicted() -> None:
    """Behind on short texts, level on long ones, and the lead shrinks."""
    shrinks = [-0.05, -0.05, -0.02, 0.0]
    lost = made({"mean": [0.05, 0.06, 0.03, 0.0], "cls": [0.05, 0.06, 0.03, 0.0]}, late=-0.06)
    assert answers(lost) == ["contradicted"] * 4
    assert answers(made({"mean": shrinks, "cls": shrinks}))[0] == "contradicted"


@pytest.mark.parametrize("found", [[0.6, 0.6, 0.6, 0.09], [0.6, 0.09, 0.6, 0.6]])
def test_nothing_is_decided_on_the_floor(found: list[float]) -> None:
    """Level because nothing is found is not level, and a small lead of little is not refuted."""
    result = made({"mean": [0, 0, 0, 0], "cls": [0, 0, 0, 0]}, noise=0.01)
    for run in result["runs"]:
        for one, share in zip(run["found"], found, strict=True):
            one["ndcg"] = (np.array(one["ndcg"]) * share / 0.6).tolist()
    answers = {name[:2]: said for name, said in verdict(result, 200).answers.items()}
    if found[-1] < 0.1:
        assert answers == {"H1": "supported", **dict.fromkeys(("H2", "H3", "H4"), "not decided")}
        assert "At 8,192 tokens the best of the three finds less than 10 %" in report(result, 200)
        assert "as they are level" not in advice(result, 200).partition("8,192")[2]
    else:
        assert (answers["H1"], answers["H2"]) == ("not decided", "contradicted")


def test_natural_documents_decide_where_there_are_any() -> None:
    """H1 to H3 by them, however the passages that were put in are found; H4 by those."""
    result = made({"mean": [0, 0, 0, 0], "cls": [0, 0, 0, 0]}, late=0.1, noise=0.01)
    other = made({"mean": [0, 0, 0.03, 0.06], "cls": [0, 0, 0.03, 0.06]}, noise=0.01)
    for run, more in zip(result["runs"], other["runs"], strict=True):
        run["found"] += [{**one, "material": "natural"} for one in more["found"][1:]]
    result["natural"] = [[f"text {n // 4}", "fact"] for n in range(4 * HOSTS)]
    found = verdict(result, 1000)
    assert set(found.answers.values()) == {"supported"}
    assert found.effects[0].mean == pytest.approx(6, abs=0.3)
    assert found.effects[4].mean == pytest.approx(20, abs=0.5)


def test_one_rival_that_is_level_is_enough() -> None:
    """Both leads are claimed."""
    grows, level = [0.0, 0.0, 0.04, 0.08], [0.0] * 4
    found = answers(made({"mean": grows, "cls": level}))
    assert found[0] == "supported"
    assert found[1] == "contradicted"
    assert found[2] != "supported"


def test_a_base_that_prefers_a_pooling_is_judged_by_the_change() -> None:
    """A lead of 8 points at every length is the encoder's, not the length's."""
    ahead = [0.08] * 4
    fair = verdict(made({"mean": ahead, "cls": ahead}), 400)
    unfair = verdict(made({"mean": ahead, "cls": ahead}, gate=9.0), 400)
    assert fair.effects[0].mean == pytest.approx(8, abs=1)
    assert unfair.effects[0].mean == pytest.approx(0, abs=1)
    assert fair.plain == []
    assert [one.mean for one in unfair.plain] == pytest.approx([8, 8], abs=1)
    assert unfair.gate == 9.0
    assert "one starts ahead" in report(made({"mean": ahead, "cls": ahead}, gate=9.0), 50)


def test_the_interval_knows_documents_and_seeds() -> None:
    """It widens with what the questions of a document share, and with what a seed changes."""
    rng = np.random.default_rng(3)
    clusters = [str(n // 4) for n in range(200)]
    alone = rng.normal(1, 1, (4, 200))
    shared = rng.normal(1, 1, (1, 50)).repeat(4, axis=1) + np.zeros((4, 1))
    moved = alone + rng.normal(0, 1, (4, 1))
    widths = [
        (one.high - one.low, one.detectable)
        for one in (effect("", each, clusters, draws=2000) for each in (alone, shared, moved))
    ]
    assert widths[0] < widths[1] < widths[2]
    one = effect("", alone, clusters, draws=2000)
    assert one.low < one.mean < one.high
    assert one.mean == pytest.approx(alone.mean())
    assert one.p < 0.01


def test_the_page_has_every_table() -> None:
    grows = [0.0, 0.0, 0.04, 0.08]
    result = made({"mean": grows, "cls": grows})
    page = report(result, 50)
    assert f"## Verdict\n\n**What to choose.** {advice(result, 50)}\n" in page
    assert "| H1: level on short texts | supported |" in page
    assert "| LMK |" in page
    assert "first quarter" in page


def test_controls_are_compared_with_the_first_seed() -> None:
    result = made({"mean": LEVEL, "cls": LEVEL})
    assert "controls" not in report(result, 50)
    first = next(run for run in result["runs"] if run["pooling"] == "lmk")
    found = [{**one, "ndcg": [ndcg - 0.05 for ndcg in one["ndcg"]]} for one in first["found"]]
    result["runs"].append({**first, "pooling": "every", "found": found})
    result["rates"]["every"] = result["gate"]["every"] = 1.0
    page = report(result, 50)
    assert "| every 32nd token | +5.0 (+5.0 to +5.0) |" in page.partition("its controls\n")[2]


LEVEL, GROWS = [0.0] * 4, [0.0, 0.0, 0.04, 0.08]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        pytest.param(
            made({"mean": GROWS, "cls": GROWS}),
            r"At 256 and 512 tokens LMK, mean or CLS will do, as they are level; at 2,048 and "
            r"8,192 tokens take LMK \(LMK − (mean|cls) at 8,192: \+[78]\.\d points, \+\d\.\d to "
            r"\+\d\.\d\)\.",
            id="LMK on long texts",
        ),
        pytest.param(
            made({"mean": LEVEL, "cls": LEVEL}),
            r"At 256, 512, 2,048 and 8,192 tokens LMK, mean or CLS will do, as they are level\.",
            id="all level",
        ),
        pytest.param(
            made({"mean": [-0.08] * 4, "cls": LEVEL}),
            r"At 256, 512, 2,048 and 8,192 tokens take mean \(mean − (LMK|CLS) at 8,192: .*\)\.",
            id="another is ahead",
        ),
        pytest.param(
            made({"mean": LEVEL, "cls": [0.1] * 4}),
            r"At 256, 512, 2,048 and 8,192 tokens LMK or mean will do, as they are level, but not "
            r"CLS, which is behind\.",
            id="one is behind",
        ),
        pytest.param(
            made({"mean": LEVEL, "cls": LEVEL}, noise=3),
            r"At 256, 512, 2,048 and 8,192 tokens nothing is decided between LMK, mean and CLS: "
            r"keep what your model was trained with\.",
            id="nothing decided",
        ),
        pytest.param(
            made({"mean": LEVEL, "cls": [9.0] * 4}, noise=3),
            r"At 256, 512, 2,048 and 8,192 tokens choose LMK or mean, between which nothing is "
            r"decided, but not CLS, which is behind\.",
            id="one is behind, nothing else decided",
        ),
        pytest.param(
            made({"mean": LEVEL, "cls": LEVEL}, gate=9.0),
            r"For an encoder that prefers mean before any training \(29\.0 on short texts, LMK "
            r"20\.0, CLS 20\.0\), at 256, .*",
            id="a base that prefers a pooling",
        ),
        pytest.param(
            made({"mean": LEVEL, "cls": LEVEL}, words=[-0.1, 0.0, 0.05, 0.2]),
            r"At .* level; at 2,048 and 8,192 tokens words alone \(BM25\) find more than all three"
            r"\.",
            id="words find more",
        ),
    ],
)
def test_advice_follows_from_the_figures(result: dict[str, Any], said: str) -> None:
    found = advice(result, 800)  # fewer draws have no p that twelve comparisons leave below 0.05
    assert re.fullmatch(said, found), found


def test_the_advice_is_about_the_three_poolings_of_the_claim() -> None:
    """A control that starts far behind makes the gate wide, but none of the three preferred."""
    result = made({"mean": LEVEL, "cls": LEVEL})
    result["gate"]["last"] = 5.0
    assert verdict(result, 50).gate > 3
    assert advice(result, 50).startswith("At 256")


def test_the_floor_is_reported_at_the_length_it_was_found_at() -> None:
    """The verdict reads no length over 8,192 tokens."""
    result = made({"mean": LEVEL, "cls": LEVEL}, noise=0.01)
    result["settings"]["amounts"]["lengths"] = [*LENGTHS, 16_384]
    for run in result["runs"]:
        last = run["found"][-1]
        last["ndcg"] = (np.array(last["ndcg"]) / 10).tolist()
        run["found"].append({**last, "length": 16_384})
    assert re.search(r"the best finds \d\.\d % at 8,192 tokens: H4", report(result, 50))
