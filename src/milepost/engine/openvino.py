"""The landmark graph on OpenVINO, the engine of the base install.

Why OpenVINO: measured beside onnxruntime and torch it is the fastest on CPUs by a factor of two
to five once weights and activations are int8; see ``docs/dependencies.md`` and ``bench/``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from milepost._silence import import_openvino
from milepost.engine import float_graph
from milepost.engine.folder import ModelFolder, cache_folder
from milepost.engine.precision import Arithmetic, choose
from milepost.errors import InputError, ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")
"""Preloaded, each ends the process when a graph is compiled (openvino issue 29025; 2026.4 too)."""


def usable_cpus() -> int:
    """CPUs this process may run on (affinity counts, not the machine's total)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class OpenVinoEngine:
    """A compiled graph.

    Arithmetic outside int8 layers is float32: CPUs with bf16 units would otherwise give other
    vectors than those without, and an index may move between machines.

    Args:
        graph: the ``.xml`` file, its ``.bin`` beside it.
        cache: folder for the compiled graph, so that the next start is fast; None for none.
        threads: threads to use; None for all usable CPUs.
        in_float: take the quantisers of activations out of an int8 graph.

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
            "INFERENCE_NUM_THREADS": self._threads,
        }
        if cache is not None and _writable(cache):
            settings["CACHE_DIR"] = str(cache)
        self._compiled = (compiled_in_float if in_float else compiled)(graph, settings)
        self._request = self._compiled.create_infer_request()
        # A request serves one caller at a time and refuses others. All threads of the engine work
        # for whoever is in, so waiting costs no speed.
        self._one = Lock()

    @property
    def dimensions(self) -> int:
        """Width of the vectors."""
        return int(self._compiled.output(0).partial_shape[2].get_length())

    @property
    def description(self) -> str:
        """Engine, graph, its arithmetic if it is another one, and threads."""
        return f"OpenVINO, {self._name}, {self._threads} threads"

    def run(
        self,
        ids: NDArray[np.int32],
        sentences: NDArray[np.int32],
        marks: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        """See ``Engine.run``."""
        with self._one:
            self._request.infer({"ids": ids, "sentences": sentences, "marks": marks})
            # The tensor's memory is reused by the next call.
            result: NDArray[np.float32] = self._request.get_output_tensor(0).data.copy()
        return result


def open_engine(
    folder: ModelFolder,
    *,
    precision: Arithmetic | None = None,
    threads: int | None = None,
    cache: bool = True,
) -> OpenVinoEngine:
    """The engine of a model folder's graph.

    Args:
        folder: holds the graph.
        precision: see ``choose``.
        threads: see ``OpenVinoEngine``.
        cache: keep the compiled graph in Milepost's cache, so that the next start is fast.

    Raises:
        ModelError: the graph does not exist or cannot be compiled.
        InputError: ``threads`` is less than 1, or ``precision`` is another word.
    """
    choice = choose(folder, precision)
    return OpenVinoEngine(
        folder.graph(choice.graph),
        cache=cache_folder() / "graphs" if cache else None,
        threads=threads,
        in_float=choice.in_float,
    )


def compiled(graph: Path, settings: Mapping[str, Any] | None = None) -> Any:
    """A graph compiled for this CPU, counting in float32, its threads free to run on any core.

    Pinned, as OpenVINO would have it, the caller's thread stays on the first core for good, and two
    processes share that core for all that is Python while another is idle.

    Args:
        graph: the ``.xml`` file.
        settings: of OpenVINO, beside the precision.

    Raises:
        ModelError: the graph cannot be read or compiled.
    """
    try:
        return _compile(str(graph), settings)
    except RuntimeError as error:
        raise _damaged(graph, error) from error


def compiled_in_float(graph: Path, settings: Mapping[str, Any] | None = None) -> Any:
    """An int8 graph compiled without the quantisers of its activations; see ``compiled``."""
    core = _core()
    cache = (settings or {}).get("CACHE_DIR")
    try:
        kept = float_graph.cached(core, graph, Path(cache)) if cache else None
        if kept is not None:
            try:
                return _compile(str(kept), settings)
            except RuntimeError:  # damaged, e.g. by a crash of the machine
                float_graph.forget(kept)
        return _compile(float_graph.in_memory(core, graph), settings)
    except (OSError, RuntimeError) as error:
        raise _damaged(graph, error) from error


def _compile(graph: Any, settings: Mapping[str, Any] | None) -> Any:
    ours = {"INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False}
    return _core().compile_model(graph, "CPU", {**ours, **(settings or {})})


def _damaged(graph: Path, error: Exception) -> ModelError:
    first = str(error).strip().splitlines()[-1]
    return ModelError(f"{graph} cannot be compiled: {first}", "reinstall the model")


@lru_cache(maxsize=1)
def _core() -> Any:
    """OpenVINO's CPU plugin, loaded once and kept for the life of the process.

    Each one of them gives the thread a stack for signals and takes it back at its end. Of two that
    do not end in the reverse order, the second leaves the freed stack of the first, and the next
    Ctrl-C is a segmentation fault (OpenVINO 2026.4, seen with a debugger).

    Raises:
        ModelError: another allocator is preloaded.
    """
    preloaded = os.environ.get("LD_PRELOAD", "")
    if any(name in preloaded for name in ALLOCATORS):
        raise ModelError(f"OpenVINO crashes with LD_PRELOAD={preloaded}", "unset LD_PRELOAD")
    return import_openvino().Core()


def _writable(folder: Path) -> bool:
    """Whether the folder exists or can be made; without it, graphs are compiled each time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
