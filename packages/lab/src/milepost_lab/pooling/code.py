"""Load user-defined poolings from a Python file, for the option ``--code FILE``."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from milepost.errors import InputError, MilepostError, first_line
from milepost_lab.pooling.registry import registered


def run_code(file: Path) -> None:
    """Run a Python file that registers poolings.

    Raises:
        InputError: the file fails, or registers nothing.
    """
    before = registered()
    name = f"milepost_code_{file.stem}"
    spec = spec_from_file_location(name, file, loader=SourceFileLoader(name, str(file)))
    assert spec is not None
    assert spec.loader is not None
    # In ``sys.modules`` while it runs, so that ``inspect`` finds its classes (``source_of``).
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except MilepostError:
        raise
    except (Exception, SystemExit) as error:  # user code may raise anything, or parse arguments
        raise InputError(
            f"{file} fails: {type(error).__name__}: {first_line(error)}", f"python {file}"
        ) from error
    if all(row is before.get(name) for name, row in registered().items()):
        raise InputError(
            f"{file} registers no pooling",
            'milepost_lab.pooling.register("my-name", MyPooling) in it',
        )
