"""The C library: its errors as exceptions, its texts and arrays."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from psdm._psdm import ffi as ffi
from psdm._psdm import lib as lib

Array = npt.NDArray[np.float64]
T = TypeVar("T")


class PsdmError(Exception):
    """An error of the library or the command.

    ``status`` is the name of the status ("PSDM_E_PARSE", or "EXIT_3" where the command ended with that), ``text`` the message; ``file``, ``line``
    and ``column`` say where, "" and 0 where they do not apply.

    >>> import psdm
    >>> try:
    ...     psdm.Robot.from_text("joints: [{name: a, alpha: ninety}]", name="arm.yaml")
    ... except psdm.PsdmError as error:
    ...     print(error.status, error.file, error.line)
    PSDM_E_PARSE arm.yaml 1
    """

    def __init__(self, text: str, status: str = "", file: str = "", line: int = 0, column: int = 0) -> None:
        place = file + (f":{line}" if line else "") + (f":{column}" if line and column else "")
        super().__init__(f"{place}: {text}" if place else text)
        self.text = text
        self.status = status
        self.file = file
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.text, self.status, self.file, self.line, self.column))


def text_of(pointer: Any) -> str:
    """A C text; "" for NULL."""
    return "" if pointer == ffi.NULL else str(ffi.string(pointer).decode("utf-8", "replace"))


def status_name(status: int) -> str:
    return str(ffi.typeof("psdm_status").elements.get(int(status), f"status {int(status)}"))


def new_error() -> Any:
    return ffi.new("psdm_error *")


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """A text file that is whole or not there, as the library writes all of its files."""
    output, error = ffi.new("psdm_output **"), new_error()
    check(lib.psdm_output_open(os.fsencode(path), ffi.NULL, output, error), error)
    lib.psdm_output_text(output[0], text.encode("utf-8", "surrogateescape"))
    check(lib.psdm_output_commit(output, error), error)


def check(status: int, error: Any = None, where: str = "") -> None:
    """Raises what a call answered, with the sentence that it left in error."""
    if status == lib.PSDM_OK:
        return
    text = text_of(error.text) if error is not None else ""
    if not text:
        text = text_of(lib.psdm_status_text(status))
    if status == lib.PSDM_E_MEMORY:
        raise MemoryError(text)
    file, line, column = (text_of(error.file), error.line, error.column) if error is not None else ("", 0, 0)
    raise PsdmError(f"{where}{text}", status_name(status), file, line, column)


def address(array: npt.NDArray[Any], kind: str = "double[]") -> Any:
    """A contiguous array as C has it; keeps the array while it lives, but not where it is only stored in a struct."""
    return ffi.from_buffer(kind, array)


def vector(values: npt.ArrayLike | None, length: int, name: str) -> Array | None:
    """length numbers, contiguous; one number stands for all."""
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(length, float(array))
    if array.shape != (length,):
        raise ValueError(f"{name} has shape {array.shape}, it needs ({length},)")
    return np.ascontiguousarray(array)


def matrix(values: npt.ArrayLike, rows: int, columns: int, name: str) -> Array:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (rows, columns):
        raise ValueError(f"{name} has shape {array.shape}, it needs ({rows}, {columns})")
    return array


def pointer(array: Array | None) -> Any:
    return ffi.NULL if array is None else address(array)


def encode(text: str) -> Any:
    return ffi.new("char[]", text.encode())


def choice(word: str, finder: Any, kind: str, what: str) -> int:
    """The number of a word by one of the library's finders; a ValueError that names the nearest when there is none."""
    found = ffi.new(kind)
    if not finder(word.encode(), found):
        raise ValueError(f"there is no {what} {word!r}")
    return int(found[0])


def chosen(option: str, word: str, words: Mapping[str, T]) -> T:
    """What a word stands for; a ValueError that lists all words when it is none of them."""
    if word not in words:
        raise ValueError(f"{option} is {word!r}; it may be {', '.join(words)}")
    return words[word]


def unknown(what: str, name: str, names: Iterable[str]) -> str:
    """The sentence about a name that is none of many: it has the nearest ones."""
    return f"there is no {what} {name!r}; the nearest are {', '.join(difflib.get_close_matches(name, names, 3, 0.0))}"


def version() -> str:
    """The library's version.

    >>> import psdm
    >>> psdm.__version__ == psdm.version()
    True
    """
    return text_of(lib.psdm_version())


def components() -> dict[str, str]:
    """The libraries that it runs on, with their versions.

    >>> import psdm
    >>> "libyaml" in psdm.components()
    True
    """
    found: dict[str, str] = {}
    text = ffi.new("const char **")
    while (name := lib.psdm_component(len(found), text)) != ffi.NULL:
        found[text_of(name)] = text_of(text[0])
    return found
