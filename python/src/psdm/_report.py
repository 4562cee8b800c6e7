"""Results on one page: psdm.report."""

from __future__ import annotations

import os
import pathlib
import warnings
import webbrowser
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from psdm._job import Progress, Watch
from psdm._library import Array, PsdmError, address, check, ffi, lib, new_error, text_of
from psdm.results import Result

#: a result, or a file: JSON or rows that the command wrote, parameters, a robot
Item = Union[Result, str, "os.PathLike[str]"]


class Page:
    """A report as it grows."""

    def __init__(self, title: str | None, gnuplot: str | os.PathLike[str] | None, progress: Progress | None) -> None:
        self._watch = Watch(progress)
        self._error = new_error()
        self._lacking = ffi.new("int *")
        texts = [ffi.NULL if text is None else ffi.new("char[]", os.fsencode(text)) for text in (title, gnuplot)]
        options, report = ffi.new("psdm_report_options *"), ffi.new("psdm_report **")
        options.title, options.gnuplot = texts
        options.progress, options.progress_user = self._watch.host.progress, self._watch.host.user
        check(lib.psdm_report_new(options, ffi.NULL, report, self._error), self._error)
        self._report = ffi.gc(report[0], lib.psdm_report_free)

    def add_file(self, path: str) -> None:
        """A file of a result; of a robot's file, what is answered about it."""
        name = os.fsencode(path)
        check(self._watch.run(lambda: int(lib.psdm_job_report(self._watch.host, self._report, name, self._lacking, self._error)), lambda: False), self._error)

    def add_result(self, result: Result, name: str) -> None:
        """Its JSON and its rows; name stands for their files'."""
        self._add_text(result.to_json(), f"{name}.json")
        if result.rows:
            self._add_rows(result.rows, f"{name}.csv")

    def _add_text(self, text: str, name: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        check(lib.psdm_report_add_text(self._report, data, len(data), name.encode(), self._error), self._error)

    def _add_rows(self, rows: Mapping[str, Any], name: str) -> None:
        names: list[str] = []
        columns: list[Array] = []
        for key, values in rows.items():
            array = np.asarray(values, dtype=np.float64)
            names += [key] if array.ndim == 1 else [f"{key}{k + 1}" for k in range(array.shape[1])]
            columns += list(np.ascontiguousarray(array.reshape(len(array), -1).T))
        if len({len(column) for column in columns}) != 1:
            raise ValueError(f"{name}: the columns have different lengths: {', '.join(f'{key} {np.shape(values)}' for key, values in rows.items())}")
        texts = [ffi.new("char[]", text.encode()) for text in (name, *names)]
        lists = ffi.new("const char *[]", texts[1:]), ffi.new("const double *[]", [address(column) for column in columns]), ffi.new("long[]", [1] * len(columns))
        table = ffi.new("psdm_log_table *", [texts[0], len(columns[0]), len(columns), *lists])
        check(lib.psdm_report_add_rows(self._report, table, self._error), self._error)

    def write(self, out: str) -> None:
        """After Ctrl-C with the plots until then."""
        check(self._watch.run(lambda: int(lib.psdm_report_write(self._report, os.fsencode(out), self._error)), lambda: bool(self._missing)), self._error)

    @property
    def _missing(self) -> str:
        return text_of(lib.psdm_report_missing(self._report))

    def lacks(self, given: Sequence[str]) -> list[str]:
        """Why something is not on the page that was given, or could be expected."""
        said = [line.removeprefix("warning: ") for line in self._watch.words.splitlines() if self._lacking[0] and line.startswith("warning: ")]
        k = 0
        while (name := lib.psdm_report_unused(self._report, k)) != ffi.NULL:
            k += 1
            said.append(f"{text_of(name)}: " + ("no section shows this result" if text_of(name) in given else "duplicate robot name on the page; this model is omitted"))
        return said + ([self._missing] if self._missing else [])


def report(results: Item | Sequence[Item], out: str | os.PathLike[str], *, title: str | None = None, gnuplot: str | os.PathLike[str] | None = None,
           open: bool | str = False, progress: Progress | None = None) -> str:
    """One self-contained HTML page of results, or of files that the command wrote; of a robot's file, what inspect, derive and params answer. Returns its path.

    ``title``: a heading in place of the robots' names; ``open`` shows the page in a browser; ``progress`` is called with what is being done and its share.
    Plots need gnuplot on the system (``gnuplot``: another program than $PSDM_GNUPLOT or gnuplot); without it the page has the numbers and says so, and so does a warning.
    """
    items = [results] if isinstance(results, (Result, str, os.PathLike)) else list(results)
    page, path = Page(title, gnuplot, progress), os.fspath(out)
    given = [f"{k + 1}-{item.data.get('command', 'result')}" if isinstance(item, Result) else os.fspath(item) for k, item in enumerate(items)]
    for item, name in zip(items, given):
        if isinstance(item, Result):
            page.add_result(item, name)
            continue
        if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
            raise PsdmError("the page would overwrite this result; choose another name for it", "PSDM_E_IO", path)
        page.add_file(name)
    page.write(path)
    for text in page.lacks([name + end for name in given for end in ("", ".json", ".csv")]):
        warnings.warn(text, stacklevel=2)
    if open in (True, "yes"):
        webbrowser.open(pathlib.Path(path).resolve().as_uri())
    return path
