"""Run the landmark graph on OpenVINO, the engine of the base install.

With int8 weights and activations OpenVINO is two to five times as fast on CPUs as onnxruntime and
torch; see ``docs/dependencies.md`` and ``bench/``.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

from milepost._forking import free_in_child
from milepost._numpy import NDArray, np
from milepost._silence import import_openvino
from milepost.encoder.engine import float_graph
from milepost.encoder.engine.folder import ModelFolder, cache_folder
from milepost.encoder.engine.precision import Arithmetic, choose
from milepost.errors import InputError, ModelError

ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")
"""Allocators that crash a compiling process if preloaded (openvino issue 29025; 2026.4 too)."""

_THREADS = "INFERENCE_NUM_THREADS"
_NO_MEMORY = "alloc"  # of "std::bad_alloc", "can't alloc" and "Cannot allocate memory"
_AT_EXIT_S = 10.0

_live: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # compiled graphs, and their threads
_peak: Counter[int] = Counter()  # most graphs of each number of threads that lived at a time
_held: list[Any] = []
# OpenVINO sets the locale of the process to C while it reads a graph, and then to what it was: of
# two threads at once one would leave C, and files that other code opens would be read as ASCII.
_reading = free_in_child(RLock())


def usable_cpus() -> int:
    """Count the CPUs that this process may run on, by its affinity."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class OpenVinoEngine:
    """A compiled graph, with all usable CPUs if ``threads`` does not say less.

    Arithmetic outside int8 layers is float32: otherwise CPUs with bf16 units would give different
    vectors, and an index may move between machines. In float an int8 graph runs without its
    activation quantisers. In the folder ``cache`` the compiled graph makes the next start fast.

    Raises:
        ModelError: the graph cannot be read or compiled.
        InputError: ``threads`` is less than 1.
    """

    def __init__(
        self,
        graph: Path,
        *,
        cache: Path | None,
        threads: int | None = None,
        in_float: bool = False,
    ) -> None:
        if threads is not None and threads < 1:
            raise InputError(f"threads = {threads} cannot run", "give 1 or more, or None for all")
        self._threads = threads or usable_cpus()
        self._name = f"{graph.stem} in float" if in_float else graph.stem
        settings: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            _THREADS: self._threads,
        }
        if cache is not None and _writable(cache):
            settings["CACHE_DIR"] = str(cache)
        self._compiled = (compiled_in_float if in_float else compiled)(graph, settings)
        self._request = self._compiled.create_infer_request()
        # An infer request accepts one caller at a time and rejects others. Each call uses all
        # threads of the engine, so waiting loses no throughput.
        self._one = free_in_child(RLock())
        # A thread that a program leaves behind in native code aborts it when it ends.
        atexit.register(self._one.acquire, timeout=_AT_EXIT_S)

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return int(self._compiled.output(0).partial_shape[2].get_length())

    @property
    def description(self) -> str:
        """One line with engine, graph, changed arithmetic if any, and threads."""
        return f"OpenVINO, {self._name}, {self._threads} threads"

    def run(
        self,
        ids: NDArray[np.int32],
        sentences: NDArray[np.int32],
        marks: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        """See ``Engine.run``."""
        with self._one:
            try:
                self._request.infer({"ids": ids, "sentences": sentences, "marks": marks})
            except RuntimeError as error:
                if _NO_MEMORY not in str(error):
                    raise
                raise _failed(self._name, "run", error) from error
            # The next call reuses the tensor's memory.
            result: NDArray[np.float32] = self._request.get_output_tensor(0).data.copy()
        return result


def open_engine(
    folder: ModelFolder,
    *,
    precision: Arithmetic | None = None,
    threads: int | None = None,
    cache: bool = True,
) -> OpenVinoEngine:
    """Open an engine for the graph of a model folder."""
    choice = choose(folder, precision)
    return OpenVinoEngine(
        folder.graph(choice.graph),
        cache=cache_folder() / "graphs" if cache else None,
        threads=threads,
        in_float=choice.in_float,
    )


def read_graph(graph: Path) -> Any:
    """Read a graph without compiling it.

    Raises:
        ModelError: it is missing or damaged.
    """
    try:
        with _reading:
            return _core().read_model(str(graph))
    except RuntimeError as error:
        raise _failed(graph, "read", error) from error


def compiled(graph: Path, settings: Mapping[str, Any] | None = None) -> Any:
    """Compile a graph for this CPU, with float32 arithmetic and without pinning threads.

    With OpenVINO's default pinning, the caller's thread stays on the first core forever, so the
    Python code of two processes competes for that core while other cores are idle.
    """
    try:
        return _compile(str(graph), settings)
    except RuntimeError as error:
        raise _failed(graph, "compiled", error) from error


def compiled_in_float(graph: Path, settings: Mapping[str, Any] | None = None) -> Any:
    """Compile an int8 graph without its activation quantisers; see ``compiled``."""
    try:
        with _reading:
            model = _core().read_model(str(graph))
        float_graph.without_quantizers(model)
        return _compile(model, settings)
    except RuntimeError as error:
        raise _failed(graph, "compiled", error) from error


def _compile(graph: Any, settings: Mapping[str, Any] | None) -> Any:
    ours = {"INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False, **(settings or {})}
    with _reading:
        try:
            made = _core().compile_model(graph, "CPU", ours)
        except RuntimeError:
            # Two processes that write the same file of the cache disturb each other.
            if ours.pop("CACHE_DIR", None) is None:
                raise
            made = _core().compile_model(graph, "CPU", ours)
    _live[made] = ours.get(_THREADS, 0)
    _peak.update(Counter(_live.values()) - _peak)
    return made


def _hold() -> None:
    """Leave no thread of OpenVINO idle before a fork.

    A graph that is compiled gets the idle thread of one that was let go. In a child there is no
    such thread, and it would wait for it forever; so graphs of one node take them all.
    """
    openvino = import_openvino()
    node = openvino.opset8.parameter([1])
    for threads in (_peak - Counter(_live.values())).elements():
        settings = {_THREADS: threads} if threads else {}
        one = openvino.Model([openvino.opset8.relu(node)], [node])
        _held.append(_core().compile_model(one, "CPU", settings))


def _inherit() -> None:
    """Let nothing of the parent end in a child: it would wait for, or leave idle, our threads."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object([_core(), *_held, *_live]))
    for each in (_held, _live, _peak):
        each.clear()


def _failed(graph: Path | str, done: str, error: Exception) -> ModelError:
    last = (str(error).strip() or type(error).__name__).splitlines()[-1]
    hint = "free some memory" if _NO_MEMORY in last else "reinstall the model"
    return ModelError(f"{graph} cannot be {done}: {last}", hint)


@lru_cache(maxsize=1)
def _core() -> Any:
    """Create OpenVINO's ``Core`` once, and keep it for the life of the process.

    Each ``Core`` sets an alternate signal stack for the thread and restores the previous one when
    it is destroyed. If two are not destroyed in reverse order, the thread is left with a freed
    stack, and the next Ctrl-C is a segmentation fault (OpenVINO 2026.4, seen with a debugger).
    """
    preloaded = os.environ.get("LD_PRELOAD", "")
    if any(name in preloaded for name in ALLOCATORS):
        raise ModelError(f"OpenVINO crashes with LD_PRELOAD={preloaded}", "unset LD_PRELOAD")
    core = import_openvino().Core()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_hold, after_in_parent=_held.clear, after_in_child=_inherit)
    return core


def _writable(folder: Path) -> bool:
    """Whether the folder exists or can be made, and is writable; else nothing is cached."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
