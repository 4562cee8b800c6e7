"""The command psdm, which comes with the package: what only it can do is asked of it, with --json."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psdm._library import Array, PsdmError, address, check, ffi, lib, new_error, text_of

EXIT_OK, EXIT_BELOW, EXIT_INTERRUPTED = 0, 1, 130


def executable() -> str:
    """The command's path: $PSDM where that is set, else the one in the package."""
    return os.environ.get("PSDM") or str(pathlib.Path(__file__).parent / "bin" / "psdm")


def main() -> None:
    """The console script: becomes the command."""
    os.execv(executable(), ["psdm", *sys.argv[1:]])


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


_PLACE = re.compile(r"^(?P<file>.*?):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<text>.*)$")


def _refusal(words: str, code: int) -> PsdmError:
    """The last sentence of what the command said."""
    said = [line for line in words.splitlines() if line.startswith("psdm: error: ")]
    text = said[-1].removeprefix("psdm: error: ") if said else words.strip() or f"the command ended with {code}"
    place = _PLACE.match(text)
    if place is None:
        return PsdmError(text, f"EXIT_{code}")
    return PsdmError(place["text"], f"EXIT_{code}", place["file"], int(place["line"]), int(place["column"] or 0))


def run(words: Sequence[str]) -> tuple[dict[str, Any], int, str]:
    """Runs the command with --json: its object, its exit code (0, 1 where the answer is below what was asked, or 130 after an interrupt) and its words.

    The first interrupt is passed on, and the command answers with the best so far; KeyboardInterrupt where it has none, and at the second.
    """
    # in a session of its own: a terminal's Ctrl-C goes to Python alone, or the command would get it twice, and the second ends it at once
    process = subprocess.Popen([executable(), *words, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    interrupted = False
    try:
        try:
            data, said = process.communicate()
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)
            data, said = process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise
    text = said.decode("utf-8", "replace")
    code = EXIT_INTERRUPTED if interrupted else process.returncode
    if process.returncode in (EXIT_OK, EXIT_BELOW, EXIT_INTERRUPTED) and data.strip():
        return json.loads(data), code, text
    if code == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    raise _refusal(text, code)


# ---- tables ----


def read_csv(path: str) -> dict[str, Array]:
    """Columns by name; q1, q2, ... together as q (rows, n)."""
    csv, error, count = ffi.new("psdm_csv **"), new_error(), ffi.new("size_t *")
    check(lib.psdm_csv_open(path.encode(), ffi.NULL, csv, error), error)
    table = ffi.gc(csv[0], lib.psdm_csv_close)
    names = [text_of(lib.psdm_csv_name(table, k)) for k in range(lib.psdm_csv_columns(table))]
    blocks, most = [], 4096
    while True:
        block = np.empty((most, len(names)))
        check(lib.psdmpy_csv_rows(table, most, address(block), count, error), error)
        blocks.append(block[: count[0]])
        if count[0] < most:
            break
    return grouped(names, np.concatenate(blocks))


def grouped(names: Sequence[str], rows: Array) -> dict[str, Array]:
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        groups.setdefault(name.rstrip("0123456789") if name[-1].isdigit() else name, []).append(k)
    return {name: rows[:, columns[0]] if names[columns[0]] == name else rows[:, columns] for name, columns in groups.items()}


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
