"""The int8 graph without the quantisers of its activations: the same weights, float arithmetic.

Weights stay in 8 bits on disk and, where the engine keeps them so, in memory. The engine compiles
a file some 0.1 s faster than a graph in memory, since it looks for the compiled form by the name
of the file; so the graph is written once, beside the compiled graphs in the cache.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

_VERSION = 1
"""Of what this module writes; another one is written anew."""


def without_quantizers(graph: Any) -> int:
    """Take the ``FakeQuantize`` nodes out of a graph, so that all is multiplied in float.

    Those of weights went when the graph was saved: the weights are 8-bit numbers and scales.

    Args:
        graph: of OpenVINO; changed in place.

    Returns:
        How many there were.
    """
    taken = 0
    for node in graph.get_ordered_ops():
        if node.get_type_name() == "FakeQuantize":
            source = node.input_value(0)
            for target in node.output(0).get_target_inputs():
                target.replace_source_output(source)
            taken += 1
    return taken


def in_memory(core: Any, graph: Path) -> Any:
    """Read a graph without its quantisers.

    Raises:
        RuntimeError: of OpenVINO; the graph cannot be read.
    """
    model = core.read_model(str(graph))
    without_quantizers(model)
    return model


def cached(core: Any, graph: Path, cache: Path) -> Path | None:
    """The file of a graph without its quantisers, written when it is first asked for.

    Args:
        core: OpenVINO's.
        graph: the ``.xml`` file, its ``.bin`` beside it.
        cache: an existing folder.

    Returns:
        The ``.xml`` file; None where it cannot be written (a full disk, no permission).

    Raises:
        OSError: there is no such graph.
        RuntimeError: of OpenVINO; the graph cannot be read.
    """
    path = cache / f"{graph.stem}-float-{_key(graph)}.xml"
    if path.is_file() and path.with_suffix(".bin").is_file():
        return path
    model = in_memory(core, graph)
    import openvino

    try:
        draft = Path(tempfile.mkdtemp(prefix="float-", dir=cache))
    except OSError:
        return None
    try:
        openvino.save_model(model, draft / path.name, compress_to_fp16=False)
        # On a full disk it writes what it can and says nothing; half a file cannot be read.
        core.read_model(str(draft / path.name))
        for name in (path.with_suffix(".bin").name, path.name):  # a reader looks for the .xml
            (draft / name).replace(cache / name)
    except (OSError, RuntimeError):
        return None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return path


def forget(path: Path) -> None:
    """Remove a file that ``cached`` gave and that cannot be read."""
    for name in (path, path.with_suffix(".bin")):
        try:
            name.unlink(missing_ok=True)
        except OSError:
            continue  # it is tried again at the next start


def _key(graph: Path) -> str:
    """16 hex digits that change when the files do; to read them whole would take longer."""
    import openvino

    said = [str(_VERSION), openvino.get_version(), str(graph.resolve())]
    for path in (graph, graph.with_suffix(".bin")):
        state = path.stat()
        said += [str(state.st_size), str(state.st_mtime_ns)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]
