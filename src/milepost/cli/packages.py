"""What Milepost's other packages bring: commands, and functions that commands of others call.

They are found by entry points, so that no package imports one that may not be installed. Each
package has the version of Milepost itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost import __version__
from milepost.errors import MissingPackage, PackageMismatch

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# importlib.metadata is imported where it is needed: most commands do not, and it takes longer than
# the rest of the start.

COMMAND_GROUP = "milepost.commands"  # entry points: name of a command → the click command
FUNCTION_GROUP = "milepost.functions"
"""Entry points: name of a function → the function; see ``function``."""

_ORDER = ("milepost-eval", "milepost-train", "milepost-lab")
"""Milepost's packages; each depends on those before it."""

COMMANDS = {
    "eval": ("milepost-eval", "Measure how much marked evidence is returned."),
    "train": ("milepost-train", "Train a landmark model."),
    "fit": ("milepost-train", "Learn a model's ranking and probabilities."),
    "export": ("milepost-train", "Turn a trained checkpoint into a model folder, and check it."),
    "synthesize": (
        "milepost-train",
        "Generate questions from documents, with a language model or by rules.",
    ),
    "mine": ("milepost-train", "Find hard negatives for questions."),
    "lab": ("milepost-lab", "Compare and study poolings."),
}
"""Command → the package that brings it, and its line in the help."""

_FUNCTIONS = {
    "install-pooling": "milepost-lab",
    "run-pooling-code": "milepost-lab",
}
"""Function → the package that brings it."""


def command_points() -> dict[str, EntryPoint]:
    """Find the commands of all installed packages by name; none is imported."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=COMMAND_GROUP)}


def command(name: str) -> Any:
    """Import a command of another package; None if no package is known to bring it."""
    package, _ = COMMANDS.get(name, ("", ""))
    return _load(COMMAND_GROUP, name, package, name)


def function(name: str, *, asked: str) -> Any:
    """Import a function of ``_FUNCTIONS`` that ``asked`` needs, such as ``export --code``."""
    return _load(FUNCTION_GROUP, name, _FUNCTIONS[name], asked)


def _load(group: str, name: str, package: str, asked: str) -> Any:
    from importlib.metadata import PackageNotFoundError, entry_points, version

    point = next(iter(entry_points(group=group, name=name)), None)
    if point is None:
        if not package:
            return None
        raise _missing(asked, package)
    own = None if point.dist is None else point.dist.name
    for each in _ORDER[: _ORDER.index(own) + 1] if own in _ORDER else ():
        try:
            found = version(each)
        except PackageNotFoundError:  # as after pip install --no-deps
            raise _missing(asked, each) from None
        if found != __version__:
            raise PackageMismatch(
                f"{each} {found} does not match milepost {__version__}", _install_command(each)
            )
    return point.load()


def _missing(asked: str, package: str) -> MissingPackage:
    return MissingPackage(f"{asked}: install {package} ({_install_command(package)})")


def _install_command(package: str) -> str:
    """The command that installs a package, and all that it depends on, from a clone."""
    names = _ORDER[: _ORDER.index(package) + 1]
    folders = (f"./packages/{each.removeprefix('milepost-')}" for each in names)
    return f"pip install . {' '.join(folders)} in a clone"
