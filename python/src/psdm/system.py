"""Linear models at a state, and their control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from psdm._library import Array, PsdmError, address, check, ffi, lib, matrix, text_of, vector

if TYPE_CHECKING:
    from psdm.robot import Robot


class SecondOrder(NamedTuple):
    """M dqdd + C2 dqd + D dq = du; G = dg/dq."""

    M: Array
    C2: Array
    D: Array
    G: Array


class Equilibrium(NamedTuple):
    q: Array
    found: bool
    residual: float
    rank: int


@dataclass(frozen=True)
class Mode:
    """An eigenvalue, with the frequency (rad/s) and damping of exp(s t)."""

    eigenvalue: complex
    frequency: float
    damping: float


@dataclass(frozen=True)
class Facts:
    """Stability and controllability of a system."""

    stability: str
    modes: tuple[Mode, ...]
    reachable: int
    controllable: bool
    reach_margin: float


@dataclass(frozen=True)
class Lqr:
    """Optimal gains du = -K dx, the cost matrix X, and the closed loop's modes."""

    K: Array
    X: Array
    modes: tuple[Mode, ...]
    residual: float


class LinearSystem:
    """dx' = A dx + B du, or dx[k+1] = A dx[k] + B du[k] where dt > 0.

    >>> import numpy as np, psdm
    >>> system = psdm.LinearSystem(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]))
    >>> np.round(system.lqr(Q=[1.0, 1.0], R=[1.0]).K, 6).tolist()
    [[1.0, 1.732051]]
    """

    def __init__(self, A: npt.ArrayLike, B: npt.ArrayLike, dt: float = 0.0) -> None:
        states, inputs = np.shape(B)
        self.A = matrix(A, states, states, "A")
        self.B = matrix(B, states, inputs, "B")
        self.dt = float(dt)
        self.states, self.inputs = int(states), int(inputs)

    def __repr__(self) -> str:
        return f"<psdm.LinearSystem: {self.states} states, {self.inputs} inputs{f', dt = {self.dt:g} s' if self.dt else ''}>"

    def _scratch(self) -> Any:
        return ffi.new("double[]", lib.psdm_system_scratch(self.states, self.inputs))

    def discretise(self, dt: float) -> LinearSystem:
        """The same sampled, inputs held for dt: exact."""
        Ad, Bd = np.empty_like(self.A), np.empty_like(self.B)
        check(lib.psdm_system_discretise(self.states, self.inputs, address(self.A), address(self.B), dt, self._scratch(), address(Ad), address(Bd)))
        return LinearSystem(Ad, Bd, dt)

    def analyze(self) -> Facts:
        """Eigenvalues, stability and controllability."""
        modes, facts = ffi.new("psdm_mode[]", self.states), ffi.new("psdm_system_facts *")
        check(lib.psdm_system_analyze(self.states, self.inputs, address(self.A), address(self.B), self.dt, self._scratch(), modes, facts))
        return Facts(text_of(lib.psdm_stability_text(facts.stability)), _modes(modes), int(facts.reachable), bool(facts.controllable), float(facts.reach_margin))

    def lqr(self, Q: npt.ArrayLike, R: npt.ArrayLike) -> Lqr:
        """Gains for weights Q (states, states) and R (inputs, inputs); vectors are diagonals. PsdmError if none exist."""
        q, r = (np.diag(a) if a.ndim == 1 else a for a in (np.asarray(Q, dtype=np.float64), np.asarray(R, dtype=np.float64)))
        q, r = matrix(q, self.states, self.states, "Q"), matrix(r, self.inputs, self.inputs, "R")
        K, X = np.empty((self.inputs, self.states)), np.empty((self.states, self.states))
        modes, info = ffi.new("psdm_mode[]", self.states), ffi.new("psdm_lqr_info *")
        check(lib.psdm_system_lqr(self.states, self.inputs, address(self.A), address(self.B), self.dt, address(q), address(r), self._scratch(), address(K),
                                  address(X), modes, info))
        if info.outcome != lib.PSDM_LQR_OK:
            raise PsdmError(text_of(lib.psdm_lqr_text(info.outcome)), "PSDM_LQR")
        return Lqr(K, X, _modes(modes), float(info.residual))


def _modes(modes: Any) -> tuple[Mode, ...]:
    return tuple(Mode(complex(m.re, m.im), float(m.frequency), float(m.damping)) for m in modes)


def _state(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike | None, qdd: npt.ArrayLike | None) -> list[Array]:
    given = ((q, "q"), (0.0 if qd is None else qd, "qd"), (0.0 if qdd is None else qdd, "qdd"))
    return [a for a in (vector(value, robot.n, name) for value, name in given) if a is not None]


def _linear(robot: Robot) -> Any:
    linear = ffi.new("psdm_linear **")
    check(lib.psdm_linear_new(robot._pointer, ffi.NULL, linear))
    return ffi.gc(linear[0], lambda pointer: lib.psdm_linear_free(pointer, ffi.NULL))


def second_order(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike | None, qdd: npt.ArrayLike | None) -> SecondOrder:
    state, answer = _state(robot, q, qd, qdd), SecondOrder(*(np.empty((robot.n, robot.n)) for _ in range(4)))
    check(lib.psdm_second_order(robot._pointer, _linear(robot), *map(address, state), *map(address, answer)))
    return answer


def state_space(robot: Robot, q: npt.ArrayLike, qd: npt.ArrayLike | None, qdd: npt.ArrayLike | None, friction: bool, inputs: Sequence[int] | None,
                dt: float) -> LinearSystem:
    state, n = _state(robot, q, qd, qdd), robot.n
    A, B = np.empty((2 * n, 2 * n)), np.empty((2 * n, n))
    check(lib.psdm_state_space(robot._pointer, _linear(robot), *map(address, state), address(A), address(B)))
    if friction:
        slope = np.empty(n)
        lib.psdm_friction_slope(robot._pointer, address(state[1]), address(slope))
        lib.psdm_damp(n, address(slope), ffi.NULL, address(A), address(B))
    system = LinearSystem(A, B if inputs is None else B[:, list(inputs)])
    return system.discretise(dt) if dt else system


def equilibrium(robot: Robot, torque: npt.ArrayLike, start: npt.ArrayLike | None, starts: int, seed: int) -> Equilibrium:
    from psdm.robot import _Work

    u, begin, q, work = vector(torque, robot.n, "torque"), vector(start, robot.n, "start"), np.empty(robot.n), _Work(robot._pointer)
    options, info = ffi.new("psdm_equilibrium_options *"), ffi.new("psdm_equilibrium_info *")
    options.starts, options.seed = starts, seed
    if begin is not None:
        options.start = address(begin)
    scratch = ffi.new("double[]", lib.psdm_equilibrium_scratch(robot._pointer))
    assert u is not None
    check(lib.psdm_equilibrium_find(robot._pointer, work.work, work.linear, address(u), options, scratch, address(q), info))
    return Equilibrium(q, bool(info.found), float(info.residual), int(info.rank))
