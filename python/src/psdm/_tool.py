"""The command psdm, which comes with the package."""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Sequence

from psdm._library import Array

EXIT_OK, EXIT_BELOW, EXIT_INTERRUPTED = 0, 1, 130


def executable() -> str:
    """The command's path: $PSDM where that is set, else the one in the package."""
    return os.environ.get("PSDM") or str(pathlib.Path(__file__).parent / "bin" / "psdm")


def main() -> None:
    """The console script: becomes the command."""
    os.execv(executable(), ["psdm", *sys.argv[1:]])


def grouped(names: Sequence[str], rows: Array) -> dict[str, Array]:
    """Columns by name; q1, q2, ... together as q (rows, n)."""
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        groups.setdefault(name.rstrip("0123456789") if name[-1].isdigit() else name, []).append(k)
    return {name: rows[:, columns[0]] if names[columns[0]] == name else rows[:, columns] for name, columns in groups.items()}
