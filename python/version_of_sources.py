"""The package's version: that of project() in the C sources' CMakeLists.txt."""

from __future__ import annotations

import pathlib
import re


def dynamic_metadata(field: str, settings: dict[str, object] | None = None) -> str:
    here = pathlib.Path(__file__).resolve().parent
    folder = here / "source" if (here / "source").is_dir() else here.parent
    found = re.search(r"project\(psdm VERSION ([0-9.]+)", (folder / "CMakeLists.txt").read_text())
    if field != "version" or found is None:
        raise RuntimeError(f"{folder}/CMakeLists.txt tells no version")
    return found.group(1)
