"""States in and out: (..., n) arrays with leading dimensions that broadcast, used in place if possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from psdm._library import ffi

Numbers = npt.NDArray[Any]


def _numbers(value: npt.ArrayLike, name: str, length: int, dtype: npt.DTypeLike) -> Numbers:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has numbers of type {array.dtype}, real ones are needed")
    if array.ndim == 0 or array.shape[-1] != length:
        raise ValueError(f"{name} has shape {array.shape}: its last dimension must be {length}")
    array = np.asarray(array, dtype=dtype)
    return array if array.flags.aligned else array.copy()


class States:
    """The arguments of a function at many states.

    Each is a view with two strides (state, number) of the caller's array; only arrays that two strides cannot describe, or of another type, are copied.
    """

    def __init__(self, values: Sequence[npt.ArrayLike], names: Sequence[str], lengths: Sequence[int], dtype: npt.DTypeLike = np.float64) -> None:
        self.dtype = np.dtype(dtype)
        self.arrays = [_numbers(v, name, length, self.dtype) for v, name, length in zip(values, names, lengths)]
        try:
            self.shape = np.broadcast_shapes(*(a.shape[:-1] for a in self.arrays))
        except ValueError:
            shapes = ", ".join(f"{name} {a.shape}" for name, a in zip(names, self.arrays))
            raise ValueError(f"leading dimensions do not broadcast: {shapes}") from None
        self.count = math.prod(self.shape)
        self.rows = [self._rows(np.broadcast_to(a, (*self.shape, a.shape[-1]))) for a in self.arrays]

    def _rows(self, array: Numbers) -> Numbers:
        rows = array.reshape(self.count, array.shape[-1])
        return rows.copy() if any(stride % rows.itemsize for stride in rows.strides) else rows

    def inputs(self) -> Any:
        return strided(self.rows)

    @property
    def columns(self) -> bool:
        """All arguments are columns: states are contiguous."""
        return self.count > 1 and all(rows.strides[0] == rows.itemsize for rows in self.rows)

    def overlaps(self, out: Numbers) -> bool:
        return any(np.may_share_memory(out, a) for a in self.arrays)


def strided(rows: Sequence[Numbers]) -> Any:
    """psdm_strided of arrays (count, length)."""
    table = ffi.new("psdm_strided[]", max(len(rows), 1))
    for entry, array in zip(table, rows):
        entry.data = ffi.cast("void *", array.__array_interface__["data"][0])
        entry.state = array.strides[0] // array.itemsize
        entry.number = array.strides[1] // array.itemsize
    return table


def _overlaps_itself(array: Numbers) -> bool:
    """Whether a dimension's step is smaller than the extent of the dimensions with smaller steps, which views of ordinary arrays never have."""
    extent = array.itemsize
    for step, length in sorted((abs(stride), length) for stride, length in zip(array.strides, array.shape) if length > 1):
        if step < extent:
            return array.size > 0
        extent += step * (length - 1)
    return False


class Results:
    """The arrays that a function writes to: new ones, or the caller's ``out``."""

    def __init__(self, states: States, shapes: Sequence[tuple[int, ...]], names: Sequence[str], out: Any) -> None:
        given = self._given(out, len(shapes))
        self.arrays: list[Numbers] = []
        self.rows: list[Numbers] = []
        self._late: list[tuple[Numbers, Numbers]] = []
        for shape, name, array in zip(shapes, names, given):
            whole = (*states.shape, *shape)
            if array is None:
                array, rows = self._new(states, whole, math.prod(shape))
            else:
                self._accept(array, whole, name, states.dtype)
                rows = array.reshape(states.count, math.prod(shape))
                if not self._usable(rows, array, states):
                    rows = np.empty((states.count, math.prod(shape)), dtype=states.dtype)
                    self._late.append((array, rows))
            self.arrays.append(array)
            self.rows.append(rows)
        self._apart([(name, array) for name, array in zip(names, given) if array is not None])

    @staticmethod
    def _apart(given: Sequence[tuple[str, Numbers]]) -> None:
        """No two numbers share memory."""
        for k, (name, array) in enumerate(given):
            if _overlaps_itself(array):
                raise ValueError(f"out for {name} overlaps itself: its strides are {array.strides}")
            for other, before in given[:k]:
                if np.shares_memory(array, before):
                    raise ValueError(f"out for {name} overlaps out for {other}")

    @staticmethod
    def _new(states: States, whole: tuple[int, ...], length: int) -> tuple[Numbers, Numbers]:
        """Results have the layout of the arguments."""
        if states.columns and len(whole) == 2:
            array = np.empty((length, states.count), dtype=states.dtype).T
            return array, array
        array = np.empty(whole, dtype=states.dtype)
        return array, array.reshape(states.count, length)

    @staticmethod
    def _given(out: Any, count: int) -> list[Any]:
        if out is None:
            return [None] * count
        given = [out] if isinstance(out, np.ndarray) else list(out)
        if len(given) != count:
            raise ValueError(f"out has {len(given)} arrays, {count} are needed")
        return given

    @staticmethod
    def _accept(array: Any, shape: tuple[int, ...], name: str, dtype: np.dtype[Any]) -> None:
        if not isinstance(array, np.ndarray) or array.dtype != dtype:
            raise TypeError(f"out for {name} must be an array of {dtype}")
        if array.shape != shape:
            raise ValueError(f"out for {name} has shape {array.shape}, it needs {shape}")
        if not array.flags.writeable:
            raise ValueError(f"out for {name} is read-only")

    @staticmethod
    def _usable(rows: Numbers, array: Numbers, states: States) -> bool:
        """Rows are the array itself, not a copy, and overlap no argument."""
        whole = array.size == 0 or np.may_share_memory(rows, array)
        return bool(whole and array.flags.aligned and not any(stride % rows.itemsize for stride in rows.strides) and not states.overlaps(array))

    def outputs(self) -> Any:
        return strided(self.rows)

    def finish(self) -> list[Numbers]:
        for array, rows in self._late:
            array[...] = rows.reshape(array.shape)
        return self.arrays
