"""Generated code, compiled and loaded while the program runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from psdm._arrays import Results, States
from psdm._library import address, check, choice, chosen, encode, ffi, function_of, function_results, lib, new_error, text_of, vector
from psdm._terms import CodeTerms, direction_bits, direction_count

if TYPE_CHECKING:
    from psdm.robot import Energy, ForwardDerivatives, InverseDerivatives, Pose, Robot

Numbers = npt.NDArray[Any]
SHARED = ("theta", "gravity", "payload", "wrench", "dt")
_CHOICES = {
    "method": {"auto": "PSDM_CODE_AUTO", "recursive": "PSDM_CODE_RECURSIVE", "expanded": "PSDM_CODE_EXPANDED"},
    "target": {"c": "PSDM_CODE_C", "simd": "PSDM_CODE_SIMD"},
    "sincos": {"polynomial": "PSDM_SINCOS_POLYNOMIAL", "libm": "PSDM_SINCOS_LIBM"},
    "real": {"double": "double", "float": "float"},
    "theta": {"baked": "baked", "argument": "argument"},
}


@dataclass(frozen=True)
class Cost:
    """Operations of one function."""

    method: str
    multiplications: int
    additions: int
    sincos: int


@dataclass(frozen=True)
class CompileInfo:
    """How the code came about: ``native`` is machine code, else ``reason`` says why the operation graph is evaluated instead."""

    native: bool
    cached: bool
    reason: str
    compiler: str
    seconds: float


def _choose(option: str, word: str) -> str:
    return chosen(option, word, _CHOICES[option])


class Code(CodeTerms):
    """Functions of one robot as machine code.

    ``functions`` are names such as "inverse" (all up to pose if None); ``real`` is "double" or "float"; ``theta`` "baked" or "argument": then functions take base parameters
    as ``theta=``. ``link``, ``point`` and ``directions`` are of functions of a task, as for a robot. ``gravity``, ``payload``, ``wrench`` = True make these arguments of the same name. ``target`` "simd", the default but for closed loops, computes several states at a time.
    ``compiler`` and ``flags`` choose the C compiler, ``cache`` a folder for what it made ("": none). ``native=True`` refuses rather than to evaluate the operation graph where there
    is no compiler; ``graph=True`` compiles nothing.

    Batches of rows (N, n) are turned in the processor's cache; columns, as in an array of shape (n, N) transposed, are used as they lie.

    >>> import numpy as np, psdm
    >>> code = psdm.Robot.shipped("two_link").compile(["inverse", "mass"], theta="argument")
    >>> code.arguments("inverse")
    ('theta', 'q', 'qd', 'qdd')
    >>> code.mass([0.1, 0.2], theta=code.robot.base_model.theta).shape
    (2, 2)
    """

    def __init__(self, robot: Robot, functions: Iterable[str] | None = None, *, real: str = "double", theta: str = "baked", method: str = "auto",
                 target: str | None = None, sincos: str = "polynomial", gravity: bool = False, payload: bool = False, wrench: bool = False,
                 friction: str = "none", params: Any = None, friction_columns: bool = False, drive_columns: bool = False, link: str | int | None = None,
                 point: npt.ArrayLike | None = None, directions: str | Iterable[str] | None = None, effort: int = 0, prefix: str | None = None,
                 compiler: str | None = None, flags: str | None = None, cache: str | os.PathLike[str] | None = None, native: bool = False,
                 graph: bool = False) -> None:
        self.robot = robot
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if _choose("real", real) == "float" else np.float64)
        options, keep, error = ffi.new("psdm_code_options *"), [], new_error()
        for name in functions or ():
            options.functions |= 1 << function_of(name)
        options.method = getattr(lib, _choose("method", method))
        options.target = getattr(lib, _choose("target", target or ("c" if lib.psdm_robot_loops(robot._pointer) else "simd")))
        options.sincos = getattr(lib, _choose("sincos", sincos))
        options.real_float, options.theta_argument = real == "float", _choose("theta", theta) == "argument"
        options.gravity_argument, options.payload_argument, options.wrench_argument = gravity, payload, wrench
        options.friction_columns, options.drive_columns, options.effort = friction_columns, drive_columns, effort
        self._parameters = self._set_friction(options, friction, params)
        options.directions = direction_bits(directions)
        self._directions = direction_count(options.directions)
        at = vector(point, 3, "point")
        if at is not None:
            options.point = at.tolist()
        options.link = ffi.NULL if link is None else lib.psdm_robot_link_name(robot._pointer, robot._joint_of(link))
        if prefix is not None:
            keep.append(encode(prefix))
            options.prefix = keep[-1]
        made = ffi.new("psdm_code **")
        check(lib.psdm_code_build(robot._pointer, options, ffi.NULL, made, error), error)
        self._code = ffi.gc(made[0], lib.psdm_code_free)
        for note in self.notes:
            warnings.warn(note, stacklevel=3)
        self._compiled = self._compile(compiler, flags, cache, native, graph)
        self._scratch: dict[int, list[Numbers]] = {}
        del keep
        self._slots = {name: self._slots_of(name) for name in self.functions}

    def _set_friction(self, options: Any, friction: str, params: Any) -> Any:
        from psdm.robot import parameters_text, parse_parameters

        if friction != "calibrated":
            if params is not None:
                raise ValueError("params= is for friction=\"calibrated\"")
            options.friction = choice(friction, lib.psdm_friction_find, "psdm_friction_kind *", "friction model")
            return None
        if params is None:
            raise ValueError("friction=\"calibrated\" needs params=, a calibration or a parameter file")
        parameters = parse_parameters(self.robot, parameters_text(params))
        options.parameters = parameters
        return parameters

    def _compile(self, compiler: str | None, flags: str | None, cache: str | os.PathLike[str] | None, native: bool, graph: bool) -> Any:
        options, keep, error = ffi.new("psdm_compile_options *"), [], new_error()
        for field, value in (("compiler", compiler), ("flags", flags), ("cache", None if cache is None else os.fspath(cache))):
            if value is not None:
                keep.append(encode(value))
                setattr(options, field, keep[-1])
        options.native, options.graph = native, graph
        made = ffi.new("psdm_compiled **")
        check(lib.psdm_compile(self._code, options, ffi.NULL, made, error), error)
        return ffi.gc(made[0], lib.psdm_compiled_free)

    def _slots_of(self, name: str) -> tuple[int, list[tuple[str, int]], list[tuple[str, int]]]:
        function, length = function_of(name), ffi.new("int *")

        def slots(count: int, ask: Any) -> list[tuple[str, int]]:
            return [(text_of(ask(self._compiled, function, k, length)), int(length[0])) for k in range(count)]

        return (function, slots(lib.psdm_compiled_arguments(self._compiled, function), lib.psdm_compiled_argument),
                slots(lib.psdm_compiled_results(self._compiled, function), lib.psdm_compiled_result))

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that are part of the code."""
        count = lib.psdm_code_count(self._code)
        return tuple(text_of(lib.psdm_function_name(lib.psdm_code_at(self._code, k, ffi.NULL, ffi.NULL))) for k in range(count))

    @property
    def costs(self) -> dict[str, Cost]:
        """Operations of each function, and the method that was chosen."""
        cost, method, found = ffi.new("psdm_cost *"), ffi.new("const char **"), {}
        for k, name in enumerate(self.functions):
            lib.psdm_code_at(self._code, k, cost, method)
            found[name] = Cost(text_of(method[0]), int(cost.mult), int(cost.add), int(cost.sincos))
        return found

    @property
    def errors(self) -> dict[str, float]:
        """How far each function was from the recursions at random states when it was made, relative to the largest number; above 1e-9 (float: 1e-3) it is refused."""
        return {name: float(lib.psdm_code_error(self._code, k)) for k, name in enumerate(self.functions)}

    @property
    def notes(self) -> list[str]:
        """What its user should know: a method that was not accurate enough, an error above 1e-12. Each is also a warning when the code is made."""
        found: list[str] = []
        while (text := lib.psdm_code_note(self._code, len(found))) != ffi.NULL:
            found.append(text_of(text))
        return found

    @property
    def info(self) -> CompileInfo:
        info = lib.psdm_compiled_info(self._compiled)
        return CompileInfo(bool(info.native), bool(info.cached), text_of(info.reason), text_of(info.compiler), float(info.seconds))

    def arguments(self, function: str) -> tuple[str, ...]:
        """Names of a function's arguments, in the order of the C function."""
        return tuple(name for name, _ in self._of(function)[1])

    def write(self, folder: str | os.PathLike[str]) -> None:
        """PREFIX.h, PREFIX.c, PREFIX_selftest.c and a Makefile."""
        error = new_error()
        check(lib.psdm_code_write(self._code, os.fspath(folder).encode(), error), error)

    def __repr__(self) -> str:
        how = "machine code" if self.info.native else "operation graph"
        return f"<psdm.Code of {self.robot.name!r}: {', '.join(self.functions)} ({how}, {self.dtype})>"

    def _of(self, function: str) -> tuple[int, list[tuple[str, int]], list[tuple[str, int]]]:
        if function not in self._slots:
            raise ValueError(f"{function} is not part of this code; it has {', '.join(self.functions)}")
        return self._slots[function]

    def _shared(self, given: dict[str, Any], name: str, length: int) -> Numbers:
        if given.get(name) is None:
            raise TypeError(f"this code takes {name}=, {length} numbers")
        array = np.ascontiguousarray(given[name], dtype=self.dtype)
        if name == "dt" and array.ndim == 0:
            array = array.reshape(1)
        if array.shape != (length,):
            raise ValueError(f"{name} has shape {array.shape}, it needs ({length},)")
        return array.reshape(1, length)

    def _call(self, function: str, values: Sequence[npt.ArrayLike], out: Any, given: dict[str, Any]) -> list[Any]:
        number, arguments, results = self._of(function)
        own = [(name, length) for name, length in arguments if name not in SHARED and name != "passive"]
        unknown = [name for name, value in given.items() if value is not None and name not in dict(arguments)]
        if unknown:
            raise TypeError(f"{function} of this code takes no {', '.join(unknown)}")
        states = States(values, [name for name, _ in own], [length for _, length in own], self.dtype)
        columns = self._directions if lib.psdm_function_is_task(number) else results[0][1] // self.robot.n
        shapes = [shape if len(shape) > 1 else (length,) for shape, (_, length) in zip(function_results(number, self.robot.n, columns).values(), results)]
        answer = Results(states, shapes, [name for name, _ in results], out)
        rows = iter(states.rows)
        table = [self._shared(given, name, length) if name in SHARED else self._closed(states.rows[0], length) if name == "passive" else next(rows)
                 for name, length in arguments]
        self._run(number, states.count, table, answer)
        return answer.finish()

    def _closed(self, q: Numbers, passives: int) -> Numbers:
        """Passive joints of closed loops at each row, from the row before where it is near, else from the position of the robot's file."""
        q, p = np.ascontiguousarray(q), np.empty((len(q), passives), dtype=self.dtype)
        for k in range(len(q)):
            p[k] = p[k - 1] if k else 0
            at = tuple(ffi.cast("void *", row.__array_interface__["data"][0]) for row in (q[k], p[k]))
            if k == 0 or lib.psdm_compiled_close(self._compiled, False, *at):
                check(lib.psdm_compiled_close(self._compiled, True, *at))
        return p

    @property
    def states(self) -> int:
        """How many numbers friction remembers: the length of ``z``."""
        return dict(self._slots["friction_step"][1])["z"] if "friction_step" in self._slots else 0

    def _remembering(self, function: str, values: tuple[npt.ArrayLike, ...], z: npt.ArrayLike | None) -> tuple[npt.ArrayLike, ...]:
        takes = "z" in dict(self._of(function)[1])
        if takes and z is None:
            raise TypeError(f"{function} of this code takes z=, {self.states} numbers that friction remembers")
        if z is None:
            return values
        if not takes:
            raise TypeError(f"{function} of this code takes no z")
        return (*values, z)

    def _run(self, number: int, count: int, table: list[Numbers], answer: Results) -> None:
        from psdm._arrays import strided

        spare = self._scratch.setdefault(number, [])
        try:
            scratch = spare.pop()
        except IndexError:
            scratch = np.empty(max(1, lib.psdm_compiled_rows_scratch(self._compiled, number)))
        try:
            check(lib.psdm_compiled_rows(self._compiled, number, count, strided(table), answer.outputs(), address(scratch)))
        finally:
            spare.append(scratch)

    def inverse(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None,
                payload: npt.ArrayLike | None = None, wrench: npt.ArrayLike | None = None, z: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """Torques (..., n) of a motion."""
        return self._call("inverse", self._remembering("inverse", (q, qd, qdd), z), out, dict(theta=theta, gravity=gravity, payload=payload, wrench=wrench))[0]  # type: ignore[no-any-return]

    def gravity(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                out: Numbers | None = None) -> Numbers:
        """Torques (..., n) at rest."""
        return self._call("gravity", (q,), out, dict(theta=theta, gravity=gravity, payload=payload))[0]  # type: ignore[no-any-return]

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None,
             payload: npt.ArrayLike | None = None, wrench: npt.ArrayLike | None = None, z: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """Torques (..., n) at zero acceleration."""
        return self._call("bias", self._remembering("bias", (q, qd), z), out, dict(theta=theta, gravity=gravity, payload=payload, wrench=wrench))[0]  # type: ignore[no-any-return]

    def mass(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """M (..., n, n)."""
        return self._call("mass", (q,), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def inverse_mass(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """The inverse of M (..., n, n)."""
        return self._call("inverse_mass", (q,), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def forward(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None,
                payload: npt.ArrayLike | None = None, wrench: npt.ArrayLike | None = None, z: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """Accelerations (..., n) under torques."""
        return self._call("forward", self._remembering("forward", (q, qd, tau), z), out, dict(theta=theta, gravity=gravity, payload=payload, wrench=wrench))[0]  # type: ignore[no-any-return]

    def regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, gravity: npt.ArrayLike | None = None, z: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """Y (..., n, l) of the base parameters, friction and drive columns behind them."""
        return self._call("regressor", self._remembering("regressor", (q, qd, qdd), z), out, dict(gravity=gravity))[0]  # type: ignore[no-any-return]

    def energy(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None,
               payload: npt.ArrayLike | None = None) -> Energy:
        """Kinetic and potential energy (...)."""
        from psdm.robot import Energy

        both = self._call("energy", (q, qd), None, dict(theta=theta, gravity=gravity, payload=payload))[0]
        return Energy(both[..., 0], both[..., 1])

    def jacobian(self, q: npt.ArrayLike, *, out: Numbers | None = None) -> Numbers:
        """J (..., 6, n) of the link that the code was made for."""
        return self._call("jacobian", (q,), out, {})[0]  # type: ignore[no-any-return]

    def pose(self, q: npt.ArrayLike) -> Pose:
        """Position (..., 3) and rotation (..., 3, 3) of that link."""
        from psdm.robot import Pose

        both = self._call("pose", (q,), None, {})[0]
        return Pose(both[..., :3], both[..., 3:].reshape(*both.shape[:-1], 3, 3))

    def linearize_inverse(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None,
                          gravity: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                          z: npt.ArrayLike | None = None, out: tuple[Numbers, Numbers, Numbers] | None = None) -> InverseDerivatives:
        """dtau_dq, dtau_dqd and M, (..., n, n) each."""
        from psdm.robot import InverseDerivatives

        return InverseDerivatives(*self._call("linearize_inverse", self._remembering("linearize_inverse", (q, qd, qdd), z), out, dict(theta=theta, gravity=gravity, payload=payload)))

    def linearize_forward(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, theta: npt.ArrayLike | None = None,
                          gravity: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                          z: npt.ArrayLike | None = None, out: tuple[Numbers, Numbers, Numbers] | None = None) -> ForwardDerivatives:
        """dqdd_dq, dqdd_dqd and the inverse of M, (..., n, n) each."""
        from psdm.robot import ForwardDerivatives

        return ForwardDerivatives(*self._call("linearize_forward", self._remembering("linearize_forward", (q, qd, tau), z), out, dict(theta=theta, gravity=gravity, payload=payload)))

    def friction(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike | None = None, *, gravity: npt.ArrayLike | None = None,
                 payload: npt.ArrayLike | None = None, wrench: npt.ArrayLike | None = None, z: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """Friction torques (..., n); ``qdd`` where the load has part in them."""
        values: tuple[npt.ArrayLike, ...] = (q, qd) if qdd is None else (q, qd, qdd)
        return self._call("friction", self._remembering("friction", values, z), out, dict(gravity=gravity, payload=payload, wrench=wrench))[0]  # type: ignore[no-any-return]

    def friction_step(self, q0: npt.ArrayLike, qd0: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike, z: npt.ArrayLike, *, dt: float, out: Numbers | None = None) -> Numbers:
        """What friction remembers (..., states) at q, qd, from ``z`` at q0, qd0 a time ``dt`` before; velocities go in straight lines.

        >>> import numpy as np, psdm
        >>> code = psdm.Robot.shipped("two_link").compile(["inverse"], friction="lugre", graph=True)
        >>> code.states, code.arguments("friction_step")
        (2, ('dt', 'q0', 'qd0', 'q', 'qd', 'z'))
        """
        return self._call("friction_step", (q0, qd0, q, qd, z), out, dict(dt=dt))[0]  # type: ignore[no-any-return]
