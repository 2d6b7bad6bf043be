"""Fixtures and markers that all tests share."""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from milepost.encoder.engine import openvino, shipped_models
from milepost.encoder.engine.folder import SHIPPED

# What is imported and collected stays to the end: millions of objects, not to be looked through
# again and again (see ``pytest_runtestloop``).
gc.disable()

# Hundreds of processes would compile all that they import, and each worker all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Workers of pytest-xdist share the cores; NumPy, torch and ONNX Runtime would each take them all.
WORKER = "PYTEST_XDIST_WORKER" in os.environ
if WORKER:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Servers of tests are on this machine, whatever proxy stands before the others.
os.environ["no_proxy"] = "127.0.0.1"

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

ROOT = Path(__file__).resolve().parent
SHARED_DATA = ROOT.parent / "shared" / "data"

BELOW = {"eval": ("eval",), "train": ("eval", "train"), "lab": ("eval", "train", "lab")}
"""Package → those that its tests need."""


def _missing() -> list[str]:
    """The packages of Milepost whose tests cannot run, since they or one below is not installed."""
    return [
        name
        for name, needed in BELOW.items()
        if not all(find_spec(f"milepost_{each}") for each in needed)
    ]


MISSING = _missing()

# Each takes eight seconds of a processor or more: they train, export, kill processes, read real
# files or open a browser. A folder stands for all that is in it.
SLOW = (
    "packages/eval/tests/cli",
    "packages/eval/tests/test_embedders.py",
    "packages/eval/tests/test_late.py",
    "packages/eval/tests/test_mteb.py",
    "packages/eval/tests/test_report.py",
    "packages/eval/tests/test_statistics.py",
    "packages/lab",
    "packages/train",
    "tests/bench",
    "tests/index/test_cache.py",
    "tests/index/test_cluster.py",
    "tests/server",
    "tests/exports/view",
    "tests/cli/test_cli_ask.py",
    "tests/cli/test_cli_cache.py",
    "tests/cli/test_cli_check.py",
    "tests/cli/test_cli_commands.py",
    "tests/cli/test_cli_index.py",
    "tests/cli/test_cli_storage.py",
    "tests/cli/test_cli_search.py",
    "tests/cli/test_cli_screens.py",
    "tests/cli/test_cli_terminal.py",
    "tests/cli/test_cli_annotate.py",
    "tests/cli/test_cli_watch.py",
    "tests/docs/test_docs.py",
    "tests/docs/test_examples.py",
    "tests/docs/test_guides.py",
    "tests/integrations",
    "tests/exports/test_copies.py",
    "tests/store/lance",
    "tests/store/postgres",
    "tests/store/test_durability.py",
    "tests/store/test_sharing.py",
    "tests/store/test_snapshots.py",
    "tests/encoder/test_encoder.py",
    "tests/encoder/test_precision.py",
    "tests/encoder/test_threads.py",
    "tests/documents/test_pdf_files.py",
    "tests/documents/test_pdf_spans.py",
    "tests/documents/test_recognition.py",
)
_SLOW_PATHS = frozenset(ROOT / name for name in SLOW)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``pytest --quick`` leaves out what is slow, unread."""
    parser.addoption("--quick", action="store_true", help="leave out the files of SLOW")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Not even import slow files, nor the tests of packages that are not installed."""
    # Folders that pytest is told to collect are not asked about, only what is in them.
    places = {collection_path, *collection_path.parents}
    if config.getoption("quick") and places & _SLOW_PATHS:
        return True
    if any(ROOT / "packages" / name in places for name in MISSING):
        return True
    return None


def pytest_report_header() -> list[str]:
    """Say which packages are not tested."""
    names = ", ".join(f"milepost-{name}" for name in MISSING)
    return [f"not installed, not tested: {names}"] if names else []


_TOGETHER = {
    # Starting Ray takes all cores for half a minute, all that it gives itself: never two at once.
    ROOT / "tests/index/test_cluster.py": "ray",
    # Their fixtures take many seconds; one worker makes them once.
    **{
        ROOT / name: name
        for name in (
            "packages/lab/tests/lmk",
            "packages/train/tests/ranking/test_fit.py",
            "packages/train/tests/ranking/test_left_out.py",
            "packages/train/tests/cli/test_cli_fit.py",
            "packages/train/tests/model/test_release.py",
            "packages/train/tests/test_resume.py",
            "tests/encoder/test_precision.py",
            "tests/server",
            "tests/server/page",
            "tests/store/test_snapshots.py",
            "tests/exports/view/page",
        )
    },
    # One worker starts the server of object storage.
    **{
        ROOT / name: "objects"
        for name in (
            "tests/cli/test_cli_storage.py",
            "tests/objects",
            "tests/store/lance/test_lance_bucket.py",
        )
    },
}
"""Files and folders whose tests run in the same worker of pytest-xdist, and the group's name."""


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in a hook of its own
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of training and of studies, and those of the same worker of pytest-xdist."""
    for item in items:
        for package, marks in (("train", ("torch",)), ("lab", ("torch", "lab"))):
            if item.path.is_relative_to(ROOT / "packages" / package):
                for mark in marks:
                    item.add_marker(mark)
        group = _TOGETHER.get(item.path) or _TOGETHER.get(item.path.parent)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """From here on garbage is collected, among what tests make."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """``-n auto``: a worker for each processor; beside psutil, xdist counts half of them."""
    return os.cpu_count()


def _once(compile_graph: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what is made of each graph of a shipped model, whose files do not change."""
    made: dict[object, Any] = {}

    def compiled(graph: Path, settings: Mapping[str, Any] | None = None) -> Any:
        if SHIPPED not in graph.parents:
            return compile_graph(graph, settings)
        asked = {name: value for name, value in (settings or {}).items() if name != "CACHE_DIR"}
        key = (graph, *sorted(asked.items()))
        if key not in made:
            made[key] = compile_graph(graph, settings)
        return made[key]

    return compiled


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """A process compiles a graph once, which takes up to a second; it keeps nothing of a text."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("compiled", "compiled_in_float"):
            patch.setattr(openvino, name, _once(getattr(openvino, name)))
        if WORKER:  # two threads of one question take a third more of the processor than one
            patch.setattr(openvino, "usable_cpus", lambda: 1)
        yield


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
