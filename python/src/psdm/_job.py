"""Jobs of the library: named settings, a robot and tables of arrays in; a result and tables out. All in this process, without the lock."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from psdm._library import Array, address, check, ffi, lib, new_error, text_of

if TYPE_CHECKING:
    from psdm.robot import Robot

#: called some times a second with what is being done and its share, None where that is unknown; False stops the job
Progress = Callable[[str, Union[float, None]], Any]

ROBOT_SETTINGS = ("gravity", "no_snap", "snap_axes", "root", "tip", "lock", "missing_inertia", "memory", "params")


def setting_text(value: Any) -> str:
    """A setting's value as the library reads it: numbers with all digits, sequences with commas, mappings as name=value."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return ",".join(f"{key}={setting_text(part)}" for key, part in value.items())
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if np.ndim(value) == 0:
        return repr(value.item() if isinstance(value, np.generic) else value)
    return ",".join(setting_text(part) for part in value)


class Watch:
    """Calls of the library in a thread of their own: progress, stops, and what is said."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._watch = ffi.gc(lib.psdmpy_watch_new(), lib.psdmpy_watch_free)
        self.host = ffi.new("psdm_job_host *")
        lib.psdmpy_watch_host(self._watch, self.host)

    def run(self, call: Callable[[], int], stopped: Callable[[], bool]) -> int:
        """Its status. Ctrl-C is heard at once: the first asks the library to end with the best so far, and is Python's own where it has not ``stopped``."""
        status: list[int] = []
        done = threading.Event()

        def compute() -> None:
            try:
                status.append(call())
            finally:
                done.set()

        threading.Thread(target=compute, name="psdm", daemon=True).start()
        raised: BaseException | None = None
        while not done.is_set():
            try:
                if not done.wait(0.05) and raised is None:
                    self._report()
            except BaseException as error:  # KeyboardInterrupt, or what the caller's progress raised
                lib.psdmpy_watch_stop(self._watch)
                raised = raised or error
        if raised is not None and (status[0] or not stopped() or not isinstance(raised, KeyboardInterrupt)):
            raise raised
        return status[0]

    def _report(self) -> None:
        if self._progress is None:
            return
        doing = ffi.new("char[160]")
        share = lib.psdmpy_watch_share(self._watch, doing)
        if text_of(doing) and self._progress(text_of(doing), None if share < 0 else float(share)) is False:
            lib.psdmpy_watch_stop(self._watch)
            self._progress = None  # it has said all it has to

    @property
    def words(self) -> str:
        """Notes and warnings, a line each."""
        return text_of(lib.psdmpy_watch_words(self._watch))


class Job:
    """One run of a command of the library."""

    def __init__(self, robot: Robot, command: str, settings: Mapping[str, Any], progress: Progress | None = None) -> None:
        own = {name: settings[name] for name in ROBOT_SETTINGS if settings.get(name) not in (None, False)}
        self.robot = robot._with_settings(own) if own else robot
        self._error = new_error()
        self._held: list[Any] = []  # what the job reads where it lies
        self._watch = Watch(progress)
        job = ffi.new("psdm_job **")
        check(lib.psdm_job_new(command.encode(), self._watch.host, job, self._error), self._error)
        self._job = ffi.gc(job[0], lib.psdm_job_free)
        check(lib.psdm_job_robot(self._job, self.robot._pointer, self._error), self._error)
        for name, value in settings.items():
            if value is not None and value is not False and name not in ROBOT_SETTINGS:
                self.set(name, "" if value is True else value)

    def set(self, name: str, value: Any) -> None:
        """A value, or arrays by column in place of a file."""
        name = name.rstrip("_")
        if isinstance(value, Mapping) and any(np.ndim(part) > 0 for part in value.values()):
            return self.table(name, value)
        check(lib.psdm_job_set(self._job, name.encode(), os.fsencode(setting_text(value)), self._error), self._error)

    def table(self, name: str, columns: Mapping[str, Any]) -> None:
        """Arrays (rows,) or (rows, n), which become the columns q1 ... qn of q, in place of a file."""
        arrays = {key: np.asarray(value, dtype=np.float64) for key, value in columns.items() if value is not None}
        rows = {len(array) for array in arrays.values()}
        if len(rows) != 1:
            raise ValueError(f"the arrays of {name} have different lengths: {', '.join(f'{key} {array.shape}' for key, array in arrays.items())}")
        whole = [np.ascontiguousarray(array) for array in arrays.values()]
        names = [ffi.new("char[]", text.encode()) for key, array in arrays.items() for text in ([key] if array.ndim == 1 else [f"{key}{k + 1}" for k in range(array.shape[1])])]
        first = [address(array) + k for array in whole for k in range(1 if array.ndim == 1 else array.shape[1])]
        stride = [1 if array.ndim == 1 else array.shape[1] for array in whole for _ in range(1 if array.ndim == 1 else array.shape[1])]
        check(lib.psdm_job_table(self._job, name.encode(), rows.pop(), len(names), ffi.new("const char *[]", names), ffi.new("const double *[]", first),
                                 ffi.new("long[]", stride), self._error), self._error)

    def file(self, setting: str, name: str, text: str) -> None:
        """A text in place of the file that a setting names; name stands for it in messages."""
        check(lib.psdm_job_text(self._job, setting.encode(), name.encode(), text.encode(), self._error), self._error)

    def log(self, setting: str, name: str, channels: Mapping[str, Any]) -> None:
        """Arrays t (rows,), q, tau, ... (rows, n), or (rows,) of a single joint, in place of one of the files that a setting lists. They are read where they lie."""
        names: list[bytes] = []
        first: list[Any] = []
        stride: list[int] = []
        for channel, values in channels.items():
            array = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
            array = array.T if len(array) != len(channels["t"]) else array
            if len(array) != len(channels["t"]):
                raise ValueError(f"{name}: t has {len(channels['t'])} rows, {channel} has the shape {np.shape(values)}")
            array = array if array.strides[0] % 8 == 0 and array.flags.aligned else np.ascontiguousarray(array)
            self._held.append(array)
            for k in range(array.shape[1]):
                names.append(b"t" if channel == "t" else f"{channel}{k + 1}".encode())
                first.append(ffi.cast("double *", array.ctypes.data + k * array.strides[1]))
                stride.append(array.strides[0] // 8)
        texts = [ffi.new("char[]", text) for text in [os.fsencode(name), *names]]
        lists = ffi.new("const char *[]", texts[1:]), ffi.new("const double *[]", first), ffi.new("long[]", stride)
        table = ffi.new("psdm_log_table *", [texts[0], len(channels["t"]), len(names), *lists])
        self._held += [texts, lists, table]
        check(lib.psdm_job_log(self._job, setting.encode(), table, self._error), self._error)

    def settle(self) -> None:
        """The answer is taken: what was kept on the disk in case it gets lost may go."""
        lib.psdm_job_settle(self._job)

    def keep(self, name: str) -> None:
        check(lib.psdm_job_keep(self._job, name.encode(), self._error), self._error)

    def run(self) -> None:
        check(self._watch.run(lambda: int(lib.psdm_job_run(self._job, self._error)), lambda: self.stopped), self._error)

    # ---- what came out ----

    @property
    def good(self) -> bool:
        return bool(lib.psdm_job_good(self._job))

    @property
    def stopped(self) -> bool:
        return bool(lib.psdm_job_stopped(self._job))

    @property
    def words(self) -> str:
        return self._watch.words

    def data(self) -> dict[str, Any]:
        output = ffi.new("psdm_output **")
        check(lib.psdm_output_memory(ffi.NULL, output))
        try:
            lib.psdm_job_json(self._job, output[0])
            found: dict[str, Any] = json.loads(text_of(lib.psdm_output_kept(output[0])))
            return found
        finally:
            lib.psdm_output_abort(output)

    def model(self) -> Any:
        """The one that reduce made."""
        return ffi.gc(lib.psdm_job_take_model(self._job), lib.psdm_model_free)

    def rows(self, name: str) -> dict[str, Array]:
        """A table by column; q1, q2, ... together as q (rows, n). Empty where none was kept."""
        from psdm._tool import grouped

        table = ffi.new("psdm_job_rows *")
        if not lib.psdm_job_rows_of(self._job, name.encode(), table):
            return {}
        size = table.rows * table.columns
        values = np.frombuffer(ffi.buffer(table.values, 8 * size), dtype=np.float64).reshape(table.rows, table.columns).copy()
        return grouped([text_of(table.names[k]) for k in range(table.columns)], values)

    def text(self, name: str) -> str:
        """The document that a setting would have written to a file. Empty where none was kept."""
        found = lib.psdm_job_text_of(self._job, name.encode())
        return "" if found == ffi.NULL else text_of(found)
