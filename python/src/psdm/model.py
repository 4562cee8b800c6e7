"""The derived model and its base parameters."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from psdm._arrays import States
from psdm._library import Array, address, check, chosen, encode, ffi, lib, new_error, text_of, unknown, vector

if TYPE_CHECKING:
    from psdm.robot import Energy, Robot


@dataclass(frozen=True)
class BaseParameter:
    """theta_j = the sum of ``formula``: standard parameters with their coefficients; NaN as ``value`` where inertias are unknown."""

    name: str
    formula: dict[str, float]
    value: float
    text: str  #: the formula, in the link lengths where that was asked for

    def __str__(self) -> str:
        return f"{self.name} = {self.text} = {self.value:.10g}"


class Parameters(Sequence[BaseParameter]):
    """Base parameters in order; found by index, or by name.

    >>> import psdm
    >>> base = psdm.Robot.shipped("two_link").params()
    >>> len(base), base["ZZ2"].name
    (6, 'ZZ2')
    """

    def __init__(self, items: list[BaseParameter], fate: dict[str, str]) -> None:
        self._items = items
        self.fate = fate  #: what became of each standard parameter: unchanged, grouped-into, regrouped, no-effect

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for item in self._items:
                if item.name == key:
                    return item
            raise KeyError(unknown("base parameter", key, self.names))
        return self._items[key]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[BaseParameter]:
        return iter(self._items)

    @property
    def names(self) -> list[str]:
        return [item.name for item in self._items]

    @property
    def theta(self) -> Array:
        """(l) values."""
        return np.array([item.value for item in self._items])

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self._items)

    def __repr__(self) -> str:
        return f"<psdm.Parameters: {len(self)} base parameters ({', '.join(self.names[:4])}{', ...' if len(self) > 4 else ''})>"


class Entries(NamedTuple):
    """The non-zeros of P."""

    function: npt.NDArray[np.int64]
    joint: npt.NDArray[np.int32]
    parameter: npt.NDArray[np.int32]
    value: Array


FATES = ("unchanged", "grouped-into", "regrouped", "no-effect")


class Model:
    """A robot's closed form: ``p`` functions y, ``l`` base parameters theta, tau = Y theta.

    >>> import numpy as np, psdm
    >>> robot = psdm.Robot.shipped("two_link")
    >>> model = robot.derive()
    >>> q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 10, 2))
    >>> tau = np.einsum("sf,fij,j->si", model.y(q, qd, qdd), model.P, model.theta)
    >>> bool(np.allclose(tau, robot.inverse(q, qd, qdd)))
    True
    """

    def __init__(self, robot: Robot, pointer: Any, info: Any = None) -> None:
        """Internal: Robot.derive, Model.load and reduce make models."""
        self.robot = robot
        self._pointer = pointer
        self.n: int = lib.psdm_model_n(pointer)
        self.p: int = lib.psdm_model_p(pointer)
        self.l: int = lib.psdm_model_l(pointer)
        self.seconds = float(info.seconds) if info is not None else float("nan")  #: that the derivation took

    @classmethod
    def load(cls, robot: Robot, path: str | os.PathLike[str], check_robot: bool = True) -> Model:
        """Reads the .json that ``save`` wrote; refuses a model of another robot unless ``check_robot`` is False."""
        model, error = ffi.new("psdm_model **"), new_error()
        check(lib.psdm_model_load(os.fspath(path).encode(), ffi.NULL, model, error), error)
        found = ffi.gc(model[0], lib.psdm_model_free)
        if check_robot:
            check(lib.psdm_model_match(found, robot._pointer, error), error)
            if not lib.psdm_model_signed(found):
                warnings.warn(f"{os.fspath(path)} does not say which robot's model it is; only its joints and parameters were compared", stacklevel=2)
        return cls(robot, found)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .json, or .mat with E, P, theta and names as in the PSDM MATLAB toolbox."""
        error = new_error()
        check(lib.psdm_model_save(self._pointer, self.robot._pointer, os.fspath(path).encode(), error), error)

    export = save

    def __repr__(self) -> str:
        return f"<psdm.Model of {self.robot.name!r}: n = {self.n}, p = {self.p}, l = {self.l}>"

    @cached_property
    def E(self) -> npt.NDArray[np.uint8]:
        """Exponents (5n, p) of every function over [q; sin q; cos q; qd; qdd]."""
        exponents = np.empty((self.p, 5 * self.n), dtype=np.uint8)
        lib.psdmpy_model_exponents(self._pointer, address(exponents, "unsigned char[]"))
        return exponents.T

    @cached_property
    def entries(self) -> Entries:
        count = lib.psdm_model_entries(self._pointer)
        found = Entries(np.empty(count, dtype=np.int_), np.empty(count, dtype=np.intc), np.empty(count, dtype=np.intc), np.empty(count))
        lib.psdmpy_model_entries(self._pointer, address(found.function, "long[]"), address(found.joint, "int[]"), address(found.parameter, "int[]"),
                                 address(found.value))
        return found

    @property
    def P(self) -> Array:
        """P (p, n, l), dense: large for robots with many joints; ``entries`` has its non-zeros."""
        e, P = self.entries, np.zeros((self.p, self.n, self.l))
        P[e.function, e.joint, e.parameter] = e.value
        return P

    def function_text(self, f: int) -> str:
        """A function as text, such as "s2 c3 qd1 qd2"."""
        if not 0 <= f < self.p:
            raise IndexError(f"the model has functions 0 to {self.p - 1}")
        buffer = ffi.new("char[1024]")
        return text_of(lib.psdm_model_function_text(self._pointer, f, buffer, 1024))

    @property
    def base_parameters(self) -> Parameters:
        """Names, formulas and values, in the order of theta."""
        return base_parameters(self.robot, self._pointer, None)

    @property
    def theta(self) -> Array:
        """(l) values from the robot's standard parameters."""
        return self.theta_of(self.robot.parameters)

    def theta_of(self, pi: npt.ArrayLike) -> Array:
        """theta (l) of any standard parameters."""
        given, theta = vector(pi, lib.psdm_model_standard_count(self._pointer), "pi"), np.empty(self.l)
        lib.psdm_model_theta(self._pointer, address(given), address(theta))  # type: ignore[arg-type]
        return theta

    def full(self, theta: npt.ArrayLike, prior: npt.ArrayLike | None = None) -> Array:
        """Physically consistent standard parameters with these base parameters, nearest to a prior (the robot's own)."""
        count = lib.psdm_model_standard_count(self._pointer)
        base, near, pi, error = vector(theta, self.l, "theta"), vector(self.robot.parameters if prior is None else prior, count, "prior"), np.empty(count), new_error()
        assert base is not None and near is not None
        check(lib.psdm_model_full(self._pointer, address(base), address(near), ffi.NULL, address(pi), error), error)
        return pi

    # ---- evaluation through the functions, to compare with Robot's recursions ----

    def y(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Array:
        """All functions (..., p) at states."""
        states = States((q, qd, qdd), ("q", "qd", "qdd"), [self.n] * 3)
        y = np.empty((*states.shape, self.p))
        lib.psdmpy_model_y_rows(self._pointer, states.count, states.inputs(), address(y), ffi.new("double[]", 3 * self.n))
        return y

    def _expanded(self, function: str, values: Sequence[npt.ArrayLike], theta: npt.ArrayLike | None, out: Any, columns: int = 0,
                  parts: Mapping[str, tuple[int, ...]] | None = None) -> list[Array]:
        numbers = vector(self.theta if theta is None else theta, self.l, "theta")
        assert numbers is not None

        def fill(options: Any) -> list[Any]:
            scratch = ffi.new("double[]", lib.psdm_eval_scratch(self.robot._pointer, self._pointer))
            options.model, options.expanded, options.theta, options.scratch = self._pointer, True, address(numbers), scratch
            return [scratch, numbers]

        return self.robot._evaluate(function, values, out, fill, columns, parts)

    def inverse(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, out: Array | None = None) -> Array:
        """Torques (..., n), with the robot's base parameters or any."""
        return self._expanded("inverse", (q, qd, qdd), theta, out)[0]

    def forward(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, out: Array | None = None) -> Array:
        return self._expanded("forward", (q, qd, tau), theta, out)[0]

    def mass(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, out: Array | None = None) -> Array:
        return self._expanded("mass", (q,), theta, out)[0]

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, out: Array | None = None) -> Array:
        return self._expanded("bias", (q, qd), theta, out)[0]

    def gravity(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, out: Array | None = None) -> Array:
        return self._expanded("gravity", (q,), theta, out)[0]

    def regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """Y (..., n, l)."""
        return self._expanded("regressor", (q, qd, qdd), np.zeros(self.l), out, self.l)[0]

    def energy(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, out: tuple[Array, Array] | None = None) -> Energy:
        """Kinetic and potential energy; the potential is zero at q = 0."""
        from psdm.robot import ENERGY, Energy

        return Energy(*self._expanded("energy", (q, qd), theta, out, parts=ENERGY))


def _options(assume: Sequence[str]) -> tuple[Any, list[Any]]:
    options = ffi.new("psdm_derive_options *")
    texts = [encode(text) for text in assume]
    table = ffi.new("const char *[]", texts or [ffi.NULL])
    options.assume_count, options.assume = len(texts), table
    return options, [texts, table]


def derive(robot: Robot, method: str, basis: str, assume: Sequence[str]) -> Model:
    options, keep = _options(assume)
    options.method = chosen("method", method, {"exact": lib.PSDM_METHOD_EXACT, "dense": lib.PSDM_METHOD_DENSE})
    options.basis = chosen("basis", basis, {"standard": lib.PSDM_BASIS_STANDARD, "echelon": lib.PSDM_BASIS_ECHELON})
    model, info, error = ffi.new("psdm_model **"), ffi.new("psdm_derive_info *"), new_error()
    check(lib.psdm_model_derive(robot._pointer, options, ffi.NULL, model, info, error), error)
    del keep
    return Model(robot, ffi.gc(model[0], lib.psdm_model_free), info)


def base(robot: Robot) -> Model:
    """The base parameters without functions: of closed loops, which have none."""
    model, info, error = ffi.new("psdm_model **"), ffi.new("psdm_derive_info *"), new_error()
    check(lib.psdm_base_parameters_derive(robot._pointer, ffi.NULL, ffi.NULL, model, info, error), error)
    return Model(robot, ffi.gc(model[0], lib.psdm_model_free), info)


def params(robot: Robot, symbolic: bool, assume: Sequence[str]) -> Parameters:
    options, keep = _options(assume)
    model, info, error = ffi.new("psdm_model **"), ffi.new("psdm_derive_info *"), new_error()
    check(lib.psdm_base_parameters_derive(robot._pointer, options, ffi.NULL, model, info, error), error)
    pointer = ffi.gc(model[0], lib.psdm_model_free)
    formulas = None
    if symbolic:
        chosen, made = ffi.new("psdm_symbolic_options *"), ffi.new("psdm_symbolic **")
        chosen.assume_count, chosen.assume = options.assume_count, options.assume
        check(lib.psdm_symbolic_derive(robot._pointer, pointer, chosen, ffi.NULL, made, error), error)
        formulas = ffi.gc(made[0], lib.psdm_symbolic_free)
    del keep
    return base_parameters(robot, pointer, formulas)


def _formula(pointer: Any, j: int) -> dict[str, float]:
    index, buffer, formula = ffi.new("int *"), ffi.new("char[64]"), {}
    for term in range(lib.psdm_model_base_terms(pointer, j)):
        coefficient = lib.psdm_model_base_term(pointer, j, term, index)
        formula[text_of(lib.psdm_model_standard_name(pointer, index[0], buffer, 64))] = float(coefficient)
    return formula


def _plain(formula: dict[str, float]) -> str:
    words: list[str] = []
    for name, c in formula.items():
        size = name if abs(c) == 1 else f"{abs(c):.10g}*{name}"
        words.append(f"- {size}" if c < 0 and words else f"-{size}" if c < 0 else f"+ {size}" if words else size)
    return " ".join(words)


def base_parameters(robot: Robot, pointer: Any, formulas: Any) -> Parameters:
    pi, theta = robot.parameters, np.empty(lib.psdm_model_l(pointer))
    lib.psdm_model_theta(pointer, address(pi), address(theta))
    items = []
    for j, value in enumerate(theta):
        formula = _formula(pointer, j)
        text = _plain(formula) if formulas is None else text_of(lib.psdm_symbolic_text(formulas, j, lib.PSDM_FORMULA_TEXT))
        items.append(BaseParameter(text_of(lib.psdm_model_base_name(pointer, j)), formula, float(value), text))
    fate = {name: FATES[lib.psdm_model_fate(pointer, k)] for k, name in enumerate(robot.parameter_names)}
    return Parameters(items, fate)
