"""Options and tables as the command reads and writes them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from psdm._library import Array
from psdm._tool import grouped


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Keywords as the command's options: log_rate=200 is --log-rate 200, True a flag, a sequence of numbers one word with commas."""
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.rstrip("_").replace("_", "-"))
        if value is not True:
            words.append(option_text(value))
    return words


def option_text(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return ",".join(f"{key}={option_text(part)}" for key, part in value.items())
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if np.ndim(value) == 0:
        return repr(value.item() if isinstance(value, np.generic) else value)
    return ",".join(option_text(part) for part in value)


def read_csv(path: str | os.PathLike[str]) -> dict[str, Array]:
    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        rows = [[float(field) for field in line.split(",")] for line in file]
    return grouped(names, np.reshape(rows, (-1, len(names))))


def write_csv(path: str, columns: Mapping[str, Any]) -> str:
    """The other way, 17 digits: every bit is kept."""
    names: list[str] = []
    parts: list[Array] = []
    for name, values in columns.items():
        if values is None:
            continue
        array = np.asarray(values, dtype=np.float64)
        names += [name] if array.ndim == 1 else [f"{name}{k + 1}" for k in range(array.shape[1])]
        parts.append(array.reshape(len(array), -1))
    np.savetxt(path, np.hstack(parts), fmt="%.17g", delimiter=",", header=",".join(names), comments="")
    return path

