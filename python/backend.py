"""scikit-build-core's build backend; a source distribution gets the C sources into source/, where CMakeLists.txt looks for them first."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

from scikit_build_core.build import (  # noqa: F401
    build_editable,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)
from scikit_build_core.build import build_sdist as _build_sdist

PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "include", "src", "tools", "robots")
HERE = pathlib.Path(__file__).resolve().parent


def _copy(part: str, source: pathlib.Path) -> None:
    origin, target = HERE.parent / part, source / part
    target.parent.mkdir(parents=True, exist_ok=True)
    if origin.is_dir():
        shutil.copytree(origin, target)
    else:
        shutil.copy2(origin, target)


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    source = HERE / "source"
    made = not source.exists()  # else this is a source distribution already
    try:
        for part in PARTS if made else ():
            _copy(part, source)
        return _build_sdist(sdist_directory, config_settings)
    finally:
        if made:
            shutil.rmtree(source, ignore_errors=True)
