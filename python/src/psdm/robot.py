"""Robots: files in, dynamics out."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from psdm._arrays import Results, States
from psdm._commands import Commands
from psdm._library import Array, PsdmError, address, check, chosen, encode, ffi, function_inputs, function_of, function_results, lib, new_error, text_of, unknown, vector
from psdm._terms import RobotTerms

if TYPE_CHECKING:
    from psdm.code import Code
    from psdm.model import Model, Parameters
    from psdm.system import Equilibrium, LinearSystem, SecondOrder


class Energy(NamedTuple):
    kinetic: Array
    potential: Array


class Pose(NamedTuple):
    position: Array  #: (..., 3), base frame
    rotation: Array  #: (..., 3, 3), from link to base axes


class InverseDerivatives(NamedTuple):
    dtau_dq: Array
    dtau_dqd: Array
    M: Array


class ForwardDerivatives(NamedTuple):
    dqdd_dq: Array
    dqdd_dqd: Array
    Minv: Array


class Limits(NamedTuple):
    """(n) each, infinite where the file has none."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array


@dataclass(frozen=True)
class Friction:
    """Friction of one joint, Nm and rad/s (N and m/s where it slides)."""

    coulomb: float
    static: float
    stribeck: float
    viscous: float
    exponent: float
    sigma0: float
    sigma1: float
    offset: float


@dataclass(frozen=True)
class Joint:
    """One joint as the file has it; ``q`` is the index of its coordinate, -1 where it has none (fixed, coupled, passive)."""

    name: str
    type: str
    parent: int
    q: int
    link: str
    friction: Friction | None
    stiffness: float
    torque_constant: float
    gear: float


TYPES = ("revolute", "prismatic", "fixed")
ENERGY: dict[str, tuple[int, ...]] = {"kinetic": (), "potential": ()}
POSE: dict[str, tuple[int, ...]] = {"position": (3,), "rotation": (3, 3)}


class _Work:
    """Scratch of one call, returned for the next: calls from several threads have one each."""

    def __init__(self, robot: Any) -> None:
        self.work = ffi.new("psdm_work **")
        check(lib.psdm_work_new(robot, ffi.NULL, self.work))
        self.work = ffi.gc(self.work[0], lambda work: lib.psdm_work_free(work, ffi.NULL))
        self.linear = ffi.new("psdm_linear **")
        check(lib.psdm_linear_new(robot, ffi.NULL, self.linear))
        self.linear = ffi.gc(self.linear[0], lambda linear: lib.psdm_linear_free(linear, ffi.NULL))


class Robot(Commands, RobotTerms):
    """A robot from a YAML or URDF file: constant, and threads may share it.

    Functions of states take arrays (..., n), whose leading dimensions broadcast, and answer arrays with the same leading dimensions; ``out=``
    takes arrays for the results. Arrays of float64 are used in place, rows as well as columns; results are never wrong where ``out`` overlaps an argument,
    only slower.

    >>> import numpy as np, psdm
    >>> robot = psdm.Robot.shipped("two_link")
    >>> robot
    <psdm.Robot 'two_link': n = 2 (shoulder, elbow)>
    >>> robot.gravity(np.zeros((1000, 2))).shape
    (1000, 2)
    """

    def __init__(self, pointer: Any, source: dict[str, Any]) -> None:
        """Internal: Robot.load, from_text, from_tables and shipped make robots."""
        self._pointer = pointer
        self._source = source
        self._spare: list[_Work] = []
        self._base: Any = None
        self.n: int = lib.psdm_robot_n(pointer)  #: length of q, qd, qdd and tau
        self.name: str = text_of(lib.psdm_robot_name(pointer))

    # ---- in and out ----

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, gravity: npt.ArrayLike | None = None, root: str | None = None, tip: str | None = None,
             lock: Mapping[str, float] | None = None, snap: bool = True, missing_inertia: str = "auto",
             snap_axes: float = 0, memory: int = 0) -> Robot:
        """Reads a file, YAML or URDF. ``gravity`` (3) replaces the file's, ``root`` and ``tip`` cut a chain out, ``lock`` holds joints at positions; ``snap=False``
        keeps angles that are nearly multiples of 15 degrees as they are. ``missing_inertia`` treats links without an inertia in the file as "auto",
        "zero" or "unknown", as on the command line. Axes within ``snap_axes`` (rad) of parallel or perpendicular to the one before are made so.
        ``memory``: bytes that one job on this robot may take, 0 for half of the machine's; more is refused beforehand.

        >>> import psdm
        >>> psdm.Robot.load("no/such/file.yaml")
        Traceback (most recent call last):
        psdm._library.PsdmError: no/such/file.yaml: the file could not be opened: No such file or directory
        """
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            from psdm._library import PsdmError

            raise PsdmError(f"the file could not be opened: {error.strerror}", "PSDM_E_IO", os.fspath(path)) from None
        return cls.from_text(text, name=os.fspath(path), gravity=gravity, root=root, tip=tip, lock=lock, snap=snap, missing_inertia=missing_inertia, snap_axes=snap_axes,
                             memory=memory)

    @classmethod
    def from_text(cls, text: str, *, name: str = "text", gravity: npt.ArrayLike | None = None, root: str | None = None, tip: str | None = None,
                  lock: Mapping[str, float] | None = None, snap: bool = True, missing_inertia: str = "auto",
                  snap_axes: float = 0, memory: int = 0) -> Robot:
        """The same from text in memory; ``name`` stands for the file in messages."""
        down = vector(gravity, 3, "gravity")
        options = {"gravity": None if down is None else down.tolist(), "root": root, "tip": tip, "lock": dict(lock or {}), "snap": snap, "missing_inertia": missing_inertia,
                   "snap_axes": float(snap_axes), "memory": int(memory)}
        return cls._from_source({"text": text, "name": name, "options": options, "parameters": None, "pi": None})

    @classmethod
    def from_tables(cls, dh: npt.ArrayLike, x: npt.ArrayLike | None = None) -> Robot:
        """From the tables of the PSDM MATLAB toolbox: DH rows [a alpha d theta (type) (sign)], X rows [m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz (Im)].

        >>> import psdm
        >>> psdm.Robot.from_tables([[0.5, 0, 0, 0, 0], [0.4, 0, 0, 0, 0]]).n
        2
        """
        robot, error = ffi.new("psdm_robot **"), new_error()
        tables, keep = _matrices({name: np.atleast_2d(np.asarray(table, dtype=np.float64)) for name, table in (("DH", dh), ("X", x)) if table is not None})
        check(lib.psdm_robot_parse_tables(tables, tables + 1 if x is not None else ffi.NULL, ffi.NULL, ffi.NULL, robot, error), error)
        del keep
        made = cls(ffi.gc(robot[0], lib.psdm_robot_free), {})
        return cls.from_text(made.to_yaml(), name="tables")

    @classmethod
    def shipped(cls, name: str, **options: Any) -> Robot:
        """One of the robots that come with the package: see psdm.shipped_robots().

        >>> import psdm
        >>> psdm.Robot.shipped("kuka_kr6").n
        6
        """
        return cls.load(shipped_robots()[name], **options)

    @classmethod
    def _from_source(cls, source: dict[str, Any]) -> Robot:
        given, error, robot = source["options"], new_error(), ffi.new("psdm_robot **")
        options, keep = ffi.new("psdm_robot_options *"), []
        options.no_snap = not given["snap"]
        options.snap_axes, options.memory = given.get("snap_axes", 0.0), given.get("memory", 0)
        rules = {"auto": lib.PSDM_MISSING_AUTO, "zero": lib.PSDM_MISSING_ZERO, "unknown": lib.PSDM_MISSING_UNKNOWN}
        options.missing_inertia = chosen("missing_inertia", given.get("missing_inertia", "auto"), rules)
        if given["gravity"] is not None:
            keep.append(ffi.new("double[3]", given["gravity"]))
            options.gravity = keep[-1]
        for field in ("root", "tip"):
            if given[field] is not None:
                keep.append(encode(given[field]))
                setattr(options, field, keep[-1])
        locks = ffi.new("psdm_lock[]", max(len(given["lock"]), 1))
        for lock, (joint, value) in zip(locks, given["lock"].items()):
            keep.append(encode(joint))
            lock.joint, lock.value = keep[-1], value
        options.lock_count, options.locks = len(given["lock"]), locks
        text = source["text"].encode("utf-8", "surrogateescape")
        check(lib.psdm_robot_parse(text, len(text), source["name"].encode(), options, ffi.NULL, robot, error), error)
        made = cls(ffi.gc(robot[0], lib.psdm_robot_free), source)
        if source["parameters"] is not None:
            made._apply(source["parameters"])
        if source["pi"] is not None:
            lib.psdm_robot_set_parameters(made._pointer, address(np.ascontiguousarray(source["pi"])))
        return made

    def _with_settings(self, settings: Mapping[str, Any]) -> Robot:
        """Read again with settings of the commands: gravity, no_snap, snap_axes, root, tip, lock, missing_inertia, memory, params."""
        given = dict(settings)
        options = dict(self._source["options"])
        if "gravity" in given:
            options["gravity"] = [float(x) for x in (given["gravity"].split(",") if isinstance(given["gravity"], str) else given["gravity"])]
        if "lock" in given:
            lock = given["lock"]
            pairs = [part.rsplit("=", 1) for part in lock.split(",")] if isinstance(lock, str) else list(lock.items())
            options["lock"] = {name: float(value) for name, value in pairs}
        if "memory" in given:
            text = str(given["memory"])
            number = text.rstrip("kKMGTiB")
            options["memory"] = int(float(number) * (1024 if "i" in text else 1000) ** (" KMGT".index(text[len(number)].upper()) if text[len(number):] else 0))
        if "snap_axes" in given:
            angle = str(given["snap_axes"])
            options["snap_axes"] = float(np.deg2rad(float(angle[:-3]))) if angle.endswith("deg") else float(angle.removesuffix("rad"))
        options["snap"] = options["snap"] and not given.get("no_snap", False)
        options.update({name: given[name] for name in ("root", "tip", "missing_inertia") if name in given})
        robot = Robot._from_source({**self._source, "options": options})
        return robot.calibrated(given["params"]) if "params" in given else robot

    def _uncalibrated(self) -> Robot:
        """As its own file has it."""
        return Robot._from_source({**self._source, "parameters": None})

    def _apply(self, text: str) -> None:
        error = new_error()
        check(lib.psdm_parameters_apply(parse_parameters(self, text), self._pointer, error), error)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Robot._from_source, (self._source,))

    def __repr__(self) -> str:
        return f"<psdm.Robot {self.name!r}: n = {self.n} ({', '.join(self.joint_names)})>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.to_yaml() == other.to_yaml()

    __hash__ = object.__hash__

    def _write(self, format: int) -> str:
        output = ffi.new("psdm_output **")
        check(lib.psdm_output_memory(ffi.NULL, output))
        try:
            lib.psdm_robot_write(self._pointer, format, output[0])
            text = lib.psdm_output_kept(output[0])
            check(lib.PSDM_OK if text != ffi.NULL else lib.PSDM_E_MEMORY)
            return str(ffi.string(text).decode("utf-8", "surrogateescape"))
        finally:
            lib.psdm_output_abort(output)

    def to_yaml(self) -> str:
        """A robot file with the same dynamics; ``losses("yaml")`` lists what it cannot express."""
        return self._write(lib.PSDM_FORMAT_YAML)

    def to_urdf(self) -> str:
        return self._write(lib.PSDM_FORMAT_URDF)

    def losses(self, format: str) -> list[str]:
        """What a file in this format, "yaml" or "urdf", cannot express about this robot."""
        kind = chosen("format", format, {"yaml": lib.PSDM_FORMAT_YAML, "urdf": lib.PSDM_FORMAT_URDF})
        found: list[str] = []
        buffer = ffi.new("char[512]")
        while lib.psdm_robot_loss(self._pointer, kind, len(found), buffer, 512) != ffi.NULL:
            found.append(text_of(buffer))
        return found

    # ---- facts ----

    @property
    def joints(self) -> list[Joint]:
        """All joints in file order, fixed and coupled ones included."""
        return [self._joint(k) for k in range(lib.psdm_robot_joints(self._pointer))]

    def _joint(self, k: int) -> Joint:
        j, f = lib.psdm_robot_joint(self._pointer, k), lib.psdm_robot_joint(self._pointer, k).friction
        friction = Friction(f.coulomb, f.stat, f.stribeck, f.viscous, f.exponent, f.sigma0, f.sigma1, f.offset) if f.given else None
        return Joint(text_of(j.name), TYPES[j.type], j.parent, j.q, text_of(lib.psdm_robot_link_name(self._pointer, k)), friction, j.stiffness,
                     j.torque_constant, j.gear)

    @property
    def _independent(self) -> list[Any]:
        all_joints = [lib.psdm_robot_joint(self._pointer, k) for k in range(lib.psdm_robot_joints(self._pointer))]
        return sorted((j for j in all_joints if j.q >= 0), key=lambda j: int(j.q))

    @property
    def joint_names(self) -> list[str]:
        """Names of the independent joints, in the order of q.

        >>> import psdm
        >>> psdm.Robot.shipped("two_link").joint_names
        ['shoulder', 'elbow']
        """
        return [text_of(j.name) for j in self._independent]

    @property
    def link_names(self) -> list[str]:
        return [joint.link for joint in self.joints]

    @property
    def limits(self) -> Limits:
        rows = [[getattr(j.limits, field) for j in self._independent] for field in Limits._fields]
        return Limits(*(np.array(row, dtype=np.float64) for row in rows))

    @property
    def gravity_vector(self) -> Array:
        return np.array(list(lib.psdm_robot_gravity(self._pointer)[0:3]))

    @property
    def warnings(self) -> list[str]:
        """Warnings about implausible numbers in the file."""
        return [text_of(lib.psdm_robot_warning(self._pointer, k)) for k in range(lib.psdm_robot_warnings(self._pointer))]

    @property
    def notes(self) -> list[str]:
        """Notes about the reading of the file, such as angles that were snapped."""
        return [text_of(lib.psdm_robot_note(self._pointer, k)) for k in range(lib.psdm_robot_notes(self._pointer))]

    @property
    def parameter_names(self) -> list[str]:
        """The standard parameters: m1 mx1 my1 mz1 XX1 ... ZZ1, link by link, then drive inertias Ia1 ...

        >>> import psdm
        >>> psdm.Robot.shipped("two_link").parameter_names[:4]
        ['m1', 'mx1', 'my1', 'mz1']
        """
        buffer = ffi.new("char[64]")
        return [text_of(lib.psdm_robot_parameter_name(self._pointer, k, buffer, 64)) for k in range(lib.psdm_robot_parameter_count(self._pointer))]

    @property
    def parameters(self) -> Array:
        """Values of the standard parameters, NaN where the file has none."""
        pi = np.empty(lib.psdm_robot_parameter_count(self._pointer))
        lib.psdm_robot_parameters(self._pointer, address(pi))
        return pi

    @property
    def ready(self) -> bool:
        """Every inertial number is known."""
        return bool(lib.psdm_robot_ready(self._pointer, ffi.NULL) == lib.PSDM_OK)

    def with_parameters(self, parameters: npt.ArrayLike | Mapping[str, float]) -> Robot:
        """Another robot with other standard parameters: all of them, or some by name.

        >>> import psdm
        >>> heavy = psdm.Robot.shipped("two_link").with_parameters({"m2": 7.0})
        >>> float(heavy.parameters[10])
        7.0
        """
        pi = self.parameters
        if isinstance(parameters, Mapping):
            names = self.parameter_names
            for name, value in parameters.items():
                if name not in names:
                    raise KeyError(unknown("standard parameter", name, names))
                pi[names.index(name)] = value
        else:
            pi = cast(Array, vector(parameters, len(pi), "parameters"))
        return Robot._from_source({**self._source, "pi": pi.tolist()})

    def calibrated(self, parameters: str | os.PathLike[str] | Any) -> Robot:
        """Another robot with the inertias and friction that a calibration found: its result, a parameter file's path, or its text."""
        return Robot._from_source({**self._source, "parameters": parameters_text(parameters), "pi": None})

    # ---- model ----

    def derive(self, *, method: str = "exact", basis: str = "standard", assume: Sequence[str] = ()) -> Model:
        """The closed form: tau_i = sum over functions f and base parameters j of y_f(q, qd, qdd) P[f, i, j] theta_j.

        >>> import psdm
        >>> model = psdm.Robot.shipped("kuka_kr6").derive()
        >>> model.p, model.l
        (6086, 36)
        """
        from psdm.model import derive

        return derive(self, method, basis, assume)

    def params(self, *, symbolic: bool = False, assume: Sequence[str] = ()) -> Parameters:
        """The base parameters alone, with their formulas; ``symbolic``: in the link lengths.

        >>> import psdm
        >>> print(psdm.Robot.shipped("two_link").params(symbolic=True)[0])
        ZZ1 = ZZ1 - a1^2*(m1 + m2) = -2.13
        """
        from psdm.model import params

        return params(self, symbolic, assume)

    @property
    def base_model(self) -> Model:
        """The model of the base regressor, derived when it is first needed."""
        if self._base is None:
            from psdm.model import base

            self._base = base(self) if lib.psdm_robot_loops(self._pointer) else self.derive()
        return cast("Model", self._base)

    # ---- functions of states ----

    def _evaluate(self, name: str, values: Sequence[npt.ArrayLike], out: Any, fill: Any = None, columns: int = 0,
                  parts: Mapping[str, tuple[int, ...]] | None = None) -> list[Array]:
        """columns: of a regressor; parts: names and shapes where they are not those of psdm/function.h."""
        function = function_of(name)
        groups, shapes = function_inputs(function), parts or function_results(function, self.n, columns)
        states = States(values, groups, [self.n] * len(groups))
        results = Results(states, list(shapes.values()), list(shapes), out)
        options, keep = ffi.new("psdm_eval_options *"), []
        if fill is not None:
            keep = fill(options)
        try:
            work = self._spare.pop()
        except IndexError:
            work = _Work(self._pointer)
        options.linear = work.linear
        lengths = [rows.shape[1] for rows in results.rows]
        buffer, done = ffi.new("double[]", len(groups) * self.n + sum(lengths)), ffi.new("size_t *")
        try:
            status = lib.psdmpy_eval_rows(self._pointer, work.work, function, options, states.count, len(groups), states.inputs(), len(lengths), lengths,
                                          results.outputs(), buffer, done)
        finally:
            self._spare.append(work)
        del keep
        if status != lib.PSDM_OK:
            self._refuse(function, status, states.count, int(done[0]))
        return results.finish()

    def _refuse(self, function: int, status: int, count: int, done: int) -> None:
        error, where = new_error(), f"state {done}: " if count > 1 else ""
        if status == lib.PSDM_E_MISSING:
            check(lib.psdm_robot_ready(self._pointer, error), error)
        if status == lib.PSDM_E_SINGULAR:
            check(lib.psdm_mass_condition(self._pointer, ffi.NULL, ffi.NULL, error), error)
            if lib.psdm_function_is_task(function):
                raise PsdmError(f"{where}singular: here the link cannot move in every direction of the task", "PSDM_E_SINGULAR")
        check(status, None, where)

    def _joint_of(self, link: str | int | None) -> int:
        """Counted from 0; None is default_link."""
        if link is None:
            return int(lib.psdm_robot_default_link(self._pointer, ffi.NULL))
        k = lib.psdm_robot_find(self._pointer, link.encode()) if isinstance(link, str) else link
        if k < 0 or k >= lib.psdm_robot_joints(self._pointer):
            raise ValueError(f"there is no link or joint {link!r}; links: {', '.join(self.link_names)}")
        return int(k)

    def _moving(self, joint: int) -> int:
        """A joint, counted from 0, whose link is not fixed to the base."""
        if not lib.psdm_robot_moves(self._pointer, joint):
            raise ValueError(f"link {self.link_names[joint]!r} is fixed to the base and does not move")
        return joint

    @property
    def default_link(self) -> str:
        """The default link of pose, jacobian, wrenches and loads: of those that most joints move, the last in the file."""
        return text_of(lib.psdm_robot_link_name(self._pointer, lib.psdm_robot_default_link(self._pointer, ffi.NULL)))

    def _wrenched(self, friction: bool, motor: bool, wrench: npt.ArrayLike | None, link: str | int | None) -> Any:
        force = vector(wrench, 6, "wrench")

        def fill(options: Any) -> list[Any]:
            options.friction, options.motor = friction, motor
            if force is None:
                return []
            table = ffi.new("psdm_wrench[1]")
            table[0].joint = self._moving(self._joint_of(link))
            table[0].force, table[0].moment = force[:3].tolist(), force[3:].tolist()
            options.wrench_count, options.wrenches = 1, table
            return [table]

        return fill

    def inverse(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, friction: bool = False, motor: bool = False,
                wrench: npt.ArrayLike | None = None, link: str | int | None = None, out: Array | None = None) -> Array:
        """Torques (..., n) of a motion: M qdd + c + g. ``friction`` adds the robot's, ``motor`` asks for the motors' side, ``wrench`` (6; force, moment) acts on ``link``
        (``default_link``), at its origin, base frame.

        >>> import numpy as np, psdm
        >>> robot = psdm.Robot.shipped("two_link")
        >>> q = np.array([[0.1, 0.2], [0.3, 0.4]])
        >>> tau = robot.inverse(q, 0 * q, 0 * q)
        >>> bool(np.allclose(tau, robot.gravity(q)))
        True
        """
        return self._evaluate("inverse", (q, qd, qdd), out, self._wrenched(friction, motor, wrench, link))[0]

    def forward(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, friction: bool = False, wrench: npt.ArrayLike | None = None,
                link: str | int | None = None, out: Array | None = None) -> Array:
        """Accelerations (..., n) under torques."""
        return self._evaluate("forward", (q, qd, tau), out, self._wrenched(friction, False, wrench, link))[0]

    def mass(self, q: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """M (..., n, n)."""
        return self._evaluate("mass", (q,), out)[0]

    def inverse_mass(self, q: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """The inverse of M (..., n, n)."""
        return self._evaluate("inverse_mass", (q,), out)[0]

    def bias(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, friction: bool = False, motor: bool = False, out: Array | None = None) -> Array:
        """Torques (..., n) at zero acceleration: c + g."""
        return self._evaluate("bias", (q, qd), out, self._wrenched(friction, motor, None, None))[0]

    def gravity(self, q: npt.ArrayLike, *, motor: bool = False, out: Array | None = None) -> Array:
        """Torques (..., n) at rest: g."""
        return self._evaluate("gravity", (q,), out, self._wrenched(False, motor, None, None))[0]

    def regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, standard: bool = False, friction: bool = False, out: Array | None = None) -> Array:
        """Y (..., n, l) with tau = Y theta for the base parameters of ``base_model``; ``standard``: Y with tau = Y pi for ``parameters``. ``friction``: 4 n columns behind them, n each
        for the viscous, offset, coulomb and static friction of the joints.

        >>> import numpy as np, psdm
        >>> robot = psdm.Robot.shipped("kuka_kr6")
        >>> q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 100, 6))
        >>> tau = robot.regressor(q, qd, qdd) @ robot.base_model.theta
        >>> bool(np.allclose(tau, robot.inverse(q, qd, qdd)))
        True
        """
        more = 4 * self.n if friction else 0
        if standard:
            columns = lib.psdm_robot_parameter_count(self._pointer) + more

            def extend(options: Any) -> list[Any]:
                options.friction_columns = friction
                return []

            return self._evaluate("regressor", (q, qd, qdd), out, extend, columns)[0]
        model = self.base_model

        def fill(options: Any) -> list[Any]:
            options.friction_columns = friction
            scratch = ffi.new("double[]", lib.psdm_eval_scratch(self._pointer, model._pointer))
            options.model, options.scratch = model._pointer, scratch
            return [scratch]

        return self._evaluate("regressor", (q, qd, qdd), out, fill, model.l + more)[0]

    def energy(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, out: tuple[Array, Array] | None = None) -> Energy:
        """Kinetic and potential energy (...); the potential is zero at the base origin."""
        return Energy(*self._evaluate("energy", (q, qd), out, parts=ENERGY))

    def jacobian(self, q: npt.ArrayLike, link: str | int | None = None, *, out: Array | None = None) -> Array:
        """J (..., 6, n) of a link (name, joint's name or index; ``default_link``): linear rows, then angular, base frame."""
        joint = self._moving(self._joint_of(link))
        return self._evaluate("jacobian", (q,), out, lambda options: self._set_link(options, joint))[0]

    def pose(self, q: npt.ArrayLike, link: str | int | None = None, *, out: tuple[Array, Array] | None = None) -> Pose:
        """Position (..., 3) and rotation (..., 3, 3) of a link in the base frame."""
        joint = self._joint_of(link)
        return Pose(*self._evaluate("pose", (q,), out, lambda options: self._set_link(options, joint), parts=POSE))

    def _set_link(self, options: Any, joint: int) -> list[Any]:
        options.link = lib.psdm_robot_link_name(self._pointer, joint)
        return []

    def linearize_inverse(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, *, friction: bool = False,
                          out: tuple[Array, Array, Array] | None = None) -> InverseDerivatives:
        """Exact derivatives of inverse, (..., n, n) each; row i, column j is d tau_i / d q_j."""
        return InverseDerivatives(*self._evaluate("linearize_inverse", (q, qd, qdd), out, self._wrenched(friction, False, None, None)))

    def linearize_forward(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, friction: bool = False,
                          out: tuple[Array, Array, Array] | None = None) -> ForwardDerivatives:
        """Exact derivatives of forward, (..., n, n) each."""
        return ForwardDerivatives(*self._evaluate("linearize_forward", (q, qd, tau), out, self._wrenched(friction, False, None, None)))

    # ---- code ----

    def compile(self, functions: Iterable[str] | None = None, **options: Any) -> Code:
        """Generated C, compiled and loaded: the same functions, many times faster. psdm.Code has the options.

        >>> import numpy as np, psdm
        >>> robot = psdm.Robot.shipped("kuka_kr6")
        >>> code = robot.compile(["inverse"])
        >>> q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 1000, 6))
        >>> bool(np.allclose(code.inverse(q, qd, qdd), robot.inverse(q, qd, qdd)))
        True
        """
        from psdm.code import Code

        return Code(self, functions, **options)

    def codegen(self, folder: str | os.PathLike[str], functions: Iterable[str] | None = None, **options: Any) -> Code:
        """Writes PREFIX.h, PREFIX.c, PREFIX_selftest.c and a Makefile into a folder. Options as psdm.Code has them, without compiling anything."""
        from psdm.code import Code

        code = Code(self, functions, **{"graph": True, "target": "c", **options})
        code.write(folder)
        return code

    # ---- linear models ----

    def second_order(self, q: npt.ArrayLike, qd: npt.ArrayLike | None = None, qdd: npt.ArrayLike | None = None) -> SecondOrder:
        """M dqdd + C2 dqd + D dq = du at one state; G = dg/dq."""
        from psdm.system import second_order

        return second_order(self, q, qd, qdd)

    def state_space(self, q: npt.ArrayLike, qd: npt.ArrayLike | None = None, qdd: npt.ArrayLike | None = None, *, friction: bool = False,
                    inputs: Sequence[int] | None = None, dt: float = 0.0) -> LinearSystem:
        """dx' = A dx + B du at one state, dx = (dq, dqd); with ``dt`` sampled, torques held. ``inputs``: indices of the joints that have motors.

        >>> import psdm
        >>> system = psdm.Robot.shipped("two_link").state_space([-1.5708, 0])
        >>> system.A.shape, system.B.shape
        ((4, 4), (4, 2))
        """
        from psdm.system import state_space

        return state_space(self, q, qd, qdd, friction, inputs, dt)

    def equilibrium(self, torque: npt.ArrayLike, *, start: npt.ArrayLike | None = None, starts: int = 50, seed: int = 1) -> Equilibrium:
        """A q at which these torques hold the robot against gravity."""
        from psdm.system import equilibrium

        return equilibrium(self, torque, start, starts, seed)


def shipped_robots() -> dict[str, pathlib.Path]:
    """The robot files that come with the package, by name.

    >>> import psdm
    >>> "kuka_kr6" in psdm.shipped_robots()
    True
    """
    folder = pathlib.Path(__file__).parent / "robots"
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".yaml", ".urdf")}


def _matrices(matrices: Mapping[str, Array]) -> tuple[Any, list[Any]]:
    """Named matrices as C has them, and what they lie in."""
    table, keep = ffi.new("psdm_matrix[]", len(matrices)), []
    for entry, (name, value) in zip(table, matrices.items()):
        value = np.ascontiguousarray(value, dtype=np.float64)
        keep += [encode(name), value]
        entry.name, entry.rows, entry.columns, entry.pages, entry.value = keep[-2], value.shape[0], value.shape[1], 1, address(value)
    return table, keep


def parse_parameters(robot: Robot, text: str) -> Any:
    parameters, error, data = ffi.new("psdm_parameters **"), new_error(), text.encode()
    check(lib.psdm_parameters_parse(data, len(data), b"parameters", robot._pointer, ffi.NULL, parameters, error), error)
    return ffi.gc(parameters[0], lib.psdm_parameters_free)


def parameters_text(given: Any) -> str:
    """Of a result that has it, of a file, or the text itself."""
    if hasattr(given, "to_yaml"):
        return str(given.to_yaml())
    if isinstance(given, os.PathLike) or (isinstance(given, str) and "\n" not in given):
        return pathlib.Path(given).read_text(encoding="utf-8")
    return str(given)
