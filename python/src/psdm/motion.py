"""Motions as functions of time, simulators and observers for your own loop."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from psdm._library import Array, address, check, choice, ffi, lib, matrix, new_error, pointer, vector

if TYPE_CHECKING:
    from psdm.robot import Robot


class Motion:
    """Positions over time, with exact derivatives: Motion.polynomial, Motion.table, Motion.fourier.

    >>> import psdm
    >>> move = psdm.Motion.polynomial([0, 0], [1, -1], duration=2)
    >>> q, qd, qdd = move([0, 1, 2])
    >>> q.tolist()
    [[0.0, 0.0], [0.5, -0.5], [1.0, -1.0]]
    """

    def __init__(self, made: Any) -> None:
        """Not for users."""
        self._pointer = ffi.gc(made, lib.psdm_motion_free)
        self.n: int = lib.psdm_motion_n(made)
        self.begin: float = lib.psdm_motion_begin(made)
        self.end: float = lib.psdm_motion_end(made)

    @classmethod
    def polynomial(cls, start: npt.ArrayLike, end: npt.ArrayLike, duration: float, *, degree: int = 5, begin: float = 0.0) -> Motion:
        """From rest to rest, by the polynomial of degree 3, 5, 7 or 9."""
        first = np.ascontiguousarray(start, dtype=np.float64)
        last = vector(end, first.size, "end")
        motion, error = ffi.new("psdm_motion **"), new_error()
        check(lib.psdm_motion_polynomial(first.size, degree, address(first), pointer(last), begin, duration, ffi.NULL, motion, error), error)
        return cls(motion[0])

    @classmethod
    def table(cls, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike | None = None, qdd: npt.ArrayLike | None = None) -> Motion:
        """Through points (rows, n); a smooth spline if only positions are given."""
        times = np.ascontiguousarray(t, dtype=np.float64)
        rows = np.atleast_2d(np.asarray(q, dtype=np.float64))
        parts = [None if a is None else matrix(a, len(times), rows.shape[1], name) for a, name in ((rows, "q"), (qd, "qd"), (qdd, "qdd"))]
        motion, error = ffi.new("psdm_motion **"), new_error()
        check(lib.psdm_motion_table(rows.shape[1], len(times), address(times), *map(pointer, parts), ffi.NULL, motion, error), error)
        return cls(motion[0])

    @classmethod
    def fourier(cls, centre: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike, period: float, *, duration: float | None = None) -> Motion:
        """Periodic: a, b (n, harmonics) as in Swevers et al. (1997)."""
        middle = np.ascontiguousarray(centre, dtype=np.float64)
        sines = np.atleast_2d(np.asarray(a, dtype=np.float64))
        parts = [matrix(part, middle.size, sines.shape[1], name) for part, name in ((sines, "a"), (b, "b"))]
        motion, error = ffi.new("psdm_motion **"), new_error()
        check(lib.psdm_motion_fourier(middle.size, sines.shape[1], period, address(middle), *map(address, parts), period if duration is None else duration, ffi.NULL,
                                      motion, error), error)
        return cls(motion[0])

    def at(self, t: npt.ArrayLike, orders: int = 3) -> Array:
        """(..., orders, n): position, velocity, acceleration, ..., up to 5 of them."""
        if not 1 <= orders <= lib.PSDM_MOTION_ORDERS:
            raise ValueError(f"orders may be 1 to {lib.PSDM_MOTION_ORDERS}")
        times = np.ascontiguousarray(t, dtype=np.float64)
        x = np.empty((*times.shape, orders, self.n))
        lib.psdmpy_motion_rows(self._pointer, times.size, address(times), orders, address(x))
        return x

    def __call__(self, t: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """q, qd, qdd, (..., n) each."""
        x = self.at(t, 3)
        return x[..., 0, :], x[..., 1, :], x[..., 2, :]

    def __repr__(self) -> str:
        return f"<psdm.Motion: n = {self.n}, {self.begin:g} to {self.end:g} s>"


class Simulator:
    """A robot that your own loop steps: torques are held for dt. Threads may share one: calls wait for each other.

    >>> import psdm
    >>> sim = psdm.Simulator(psdm.Robot.shipped("two_link"))
    >>> for _ in range(100):
    ...     sim.step([0.0, 0.0], 0.001)
    >>> round(sim.t, 6), sim.q.shape
    (0.1, (2,))
    """

    def __init__(self, robot: Robot, q: npt.ArrayLike | None = None, qd: npt.ArrayLike | None = None, *, integrator: str = "rk4", step: float = 0.001,
                 friction: str = "none", elastic: bool = False, code: bool = True) -> None:
        self.robot = robot
        options, made, error = ffi.new("psdm_sim_options *"), ffi.new("psdm_sim **"), new_error()
        options.integrator = choice(integrator, lib.psdm_integrator_find, "psdm_integrator *", "integrator")
        options.friction = choice(friction, lib.psdm_friction_find, "psdm_friction_kind *", "friction")
        options.step, options.elastic, options.no_code = step, elastic, not code
        check(lib.psdm_sim_new(robot._pointer, options, ffi.NULL, made, error), error)
        self._pointer = ffi.gc(made[0], lib.psdm_sim_free)
        self._row = ffi.new("psdm_sim_row *")
        self._lock = threading.Lock()  # calls run without Python's lock, and change the state
        self.set(0.0, q, qd)

    def set(self, t: float = 0.0, q: npt.ArrayLike | None = None, qd: npt.ArrayLike | None = None) -> None:
        """Sets the state; at rest at zero by default."""
        n, error = self.robot.n, new_error()
        place, speed = vector(0.0 if q is None else q, n, "q"), vector(0.0 if qd is None else qd, n, "qd")
        with self._lock:
            check(lib.psdm_sim_set(self._pointer, t, pointer(place), pointer(speed), error), error)
            self._now()

    def _now(self) -> None:
        lib.psdm_sim_now(self._pointer, self._row)

    def step(self, tau: npt.ArrayLike, dt: float) -> None:
        """One step with torques (n) held."""
        torques = vector(tau, self.robot.n, "tau")
        with self._lock:
            check(lib.psdm_sim_step(self._pointer, pointer(torques), dt))
            self._now()

    def steps(self, tau: npt.ArrayLike, dt: float, count: int | None = None) -> tuple[Array, Array]:
        """Many steps at once: tau (count, n), or (n) for all; q and qd (count, n) after each."""
        n, torques = self.robot.n, np.ascontiguousarray(tau, dtype=np.float64)
        if torques.shape[-1:] != (n,) or torques.ndim > 2 or (torques.ndim == 1 and count is None):
            raise ValueError(f"tau has shape {torques.shape}, it needs (count, {n}), or ({n},) and count=")
        number = len(torques) if torques.ndim == 2 else cast(int, count)
        q, qd, done = np.empty((number, n)), np.empty((number, n)), ffi.new("size_t *")
        with self._lock:
            status = lib.psdmpy_sim_steps(self._pointer, n, number, address(torques), n if torques.ndim == 2 else 0, dt, address(q), address(qd), done)
            check(status, None, f"step {int(done[0])}: ")
            self._now()
        return q, qd

    def _vector(self, name: str) -> Array:
        with self._lock:
            return np.frombuffer(ffi.buffer(getattr(self._row, name), 8 * self.robot.n), dtype=np.float64).copy()

    @property
    def t(self) -> float:
        with self._lock:
            return float(self._row.t)

    @property
    def q(self) -> Array:
        return self._vector("q")

    @property
    def qd(self) -> Array:
        return self._vector("qd")

    @property
    def energy(self) -> float:
        """Kinetic, potential, and of springs and bristles, J."""
        with self._lock:
            return float(self._row.kinetic + self._row.potential + self._row.elastic + self._row.bristles)

    @property
    def native(self) -> bool:
        """Whether it runs on compiled code."""
        return bool(lib.psdm_sim_native(self._pointer))


class Observed(NamedTuple):
    torque: Array  #: (rows, n) external torques
    threshold: Array  #: (rows, n)
    collision: npt.NDArray[np.bool_]  #: (rows)
    joint: npt.NDArray[np.int32]  #: (rows), -1: none


class Observer:
    """External torques without a force sensor, from the generalised momentum; a flag for collisions if ``sigma`` (n) gives the model's residual.
    Threads may share one: calls wait for each other.

    >>> import numpy as np, psdm
    >>> robot = psdm.Robot.shipped("two_link")
    >>> observer = psdm.Observer(robot, rate=1000)
    >>> q = np.tile([0.3, 0.2], (500, 1))
    >>> held = robot.gravity(q) - [0.5, 0.0]
    >>> np.round(observer.run(q, 0 * q, held).torque[-1], 6).tolist()
    [0.5, 0.0]
    """

    def __init__(self, robot: Robot, rate: float, *, bandwidth: float = 0.0, gain: npt.ArrayLike | None = None, friction: str = "none", sampled: bool = False,
                 differences: bool = False, sigma: npt.ArrayLike | None = None, correlation: npt.ArrayLike | None = None, velocity_noise: npt.ArrayLike | None = None,
                 doubt: npt.ArrayLike | None = None, rest: float = 0.0, false_alarms: float = 0.0, hold: float = 0.0) -> None:
        self.robot = robot
        options, n = ffi.new("psdm_observer_options *"), robot.n
        options.rate, options.bandwidth, options.rest, options.false_alarms, options.hold = rate, bandwidth, rest, false_alarms, hold
        options.sampled, options.differences = sampled, differences
        options.friction = choice(friction, lib.psdm_friction_find, "psdm_friction_kind *", "friction")
        given = dict(gain=gain, sigma=sigma, correlation=correlation, velocity_noise=velocity_noise, doubt=doubt)
        arrays = {name: vector(value, n, name) for name, value in given.items()}
        for name, array in arrays.items():
            setattr(options, name, pointer(array))
        size, made = lib.psdm_observer_bytes(robot._pointer), ffi.new("psdm_observer **")
        self._memory = ffi.new("double[]", size // 8 + 1)
        check(lib.psdm_observer_init(robot._pointer, options, self._memory, 8 * (size // 8 + 1), made))
        self._pointer = made[0]
        self._lock = threading.Lock()  # calls run without Python's lock, and change the state

    def restart(self) -> None:
        """Restarts with the next sample."""
        with self._lock:
            lib.psdm_observer_restart(self._pointer)

    def step(self, q: npt.ArrayLike, qd: npt.ArrayLike | None, tau: npt.ArrayLike) -> Array:
        """One sample, (n) each: the external torques (n) up to here."""
        parts = [vector(value, self.robot.n, name) for value, name in ((q, "q"), (qd, "qd"), (tau, "tau"))]
        r = np.empty(self.robot.n)
        with self._lock:
            check(lib.psdm_observer_step(self._pointer, *map(pointer, parts), address(r)))
        return r

    @property
    def collision(self) -> bool:
        """The flag after the last sample."""
        with self._lock:
            return bool(lib.psdm_observer_collision(self._pointer, ffi.NULL))

    def run(self, q: npt.ArrayLike, qd: npt.ArrayLike | None, tau: npt.ArrayLike) -> Observed:
        """Many samples, (rows, n) each."""
        rows, n, done = len(np.asarray(q)), self.robot.n, ffi.new("size_t *")
        parts = [None if value is None else matrix(value, rows, n, name) for value, name in ((q, "q"), (qd, "qd"), (tau, "tau"))]
        found = Observed(np.empty((rows, n)), np.empty((rows, n)), np.empty(rows, dtype=np.bool_), np.empty(rows, dtype=np.intc))
        with self._lock:
            status = lib.psdmpy_observer_rows(self._pointer, n, rows, *map(pointer, parts), address(found.torque), address(found.threshold),
                                              address(found.collision, "unsigned char[]"), address(found.joint, "int[]"), done)
        check(status, None, f"sample {int(done[0])}: ")
        return found
