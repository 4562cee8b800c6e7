"""What the equation of motion is made of, what small motions change it by, and the dynamics of a task: of robots, and of their compiled code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt

from psdm._library import Array, check, ffi, function_of, lib, new_error, vector

if TYPE_CHECKING:
    from psdm.model import Model

Numbers = npt.NDArray[Any]


class Momentum(NamedTuple):
    p: Array  #: M qd
    dT_dq: Array  #: gradient of the kinetic energy, C^T qd


class Factors(NamedTuple):
    """M = L D L^T, (..., n, n) each; D is diagonal."""

    L: Array
    L_inverse: Array
    D: Array


class SecondDerivatives(NamedTuple):
    """What a small motion changes dtau/dq, dtau/dqd and M by, (..., n, n) each."""

    ddtau_dq: Array
    ddtau_dqd: Array
    dM: Array


def direction_bits(directions: str | Iterable[str] | None) -> int:
    """Directions of a task by name, as the library has them; 0 stands for all six.

    >>> direction_bits("x,rz"), direction_bits(["x", "y", "z"]), direction_bits(None)
    (33, 7, 0)
    """
    if directions is None:
        return 0
    text = directions if isinstance(directions, str) else ",".join(directions)
    found = ffi.new("unsigned *")
    if not lib.psdm_directions_find(text.encode(), found):
        raise ValueError(f"directions is {text!r}; some of x, y, z, rx, ry, rz were expected")
    return int(found[0])


def direction_count(bits: int) -> int:
    return bin(bits).count("1") if bits else int(lib.PSDM_DIRECTIONS)


class RobotTerms:
    """Functions of states of a robot, beside those in psdm.Robot."""

    if TYPE_CHECKING:
        n: int
        _pointer: Any

        @property
        def base_model(self) -> Model: ...
        def _evaluate(self, name: str, values: Sequence[npt.ArrayLike], out: Any, fill: Any = None, columns: int = 0) -> list[Array]: ...
        def _joint_of(self, link: str | int | None) -> int: ...
        def _moving(self, joint: int) -> int: ...

    def coriolis(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """The Coriolis matrix C (..., n, n) of Christoffel symbols: c = C qd, and dM/dt - 2 C is skew.

        >>> import numpy as np, psdm
        >>> robot = psdm.Robot.shipped("kuka_kr6")
        >>> q, qd = np.random.default_rng(1).uniform(-1, 1, (2, 6))
        >>> skew = robot.mass_rate(q, qd) - 2 * robot.coriolis(q, qd)
        >>> bool(np.allclose(skew, -skew.T)), bool(np.allclose(robot.coriolis(q, qd) @ qd, robot.bias(q, qd) - robot.gravity(q)))
        (True, True)
        """
        return self._evaluate("coriolis", (q, qd), out)[0]

    def mass_rate(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """dM/dt (..., n, n), which is C + C^T."""
        return self._evaluate("mass_rate", (q, qd), out)[0]

    def momentum(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, out: tuple[Array, Array] | None = None) -> Momentum:
        """p = M qd (..., n), and the gradient of the kinetic energy C^T qd."""
        return Momentum(*self._evaluate("momentum", (q, qd), out))

    def momentum_rate(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """dp/dt = tau + C^T qd - g (..., n): no acceleration, no inverse of M."""
        return self._evaluate("momentum_rate", (q, qd, tau), out)[0]

    def innovations(self, q: npt.ArrayLike, *, out: tuple[Array, Array, Array] | None = None) -> Factors:
        """The operator factors of the mass matrix, M = L D L^T: L^-1 tau is the innovation of a torque.

        >>> import numpy as np, psdm
        >>> robot = psdm.Robot.shipped("kuka_kr6")
        >>> L, L_inverse, D = robot.innovations(np.ones(6))
        >>> bool(np.allclose(L @ D @ L.T, robot.mass(np.ones(6))))
        True
        """
        return Factors(*self._evaluate("innovations", (q,), out))

    def inverse_along(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dqdd: npt.ArrayLike, *,
                      out: Array | None = None) -> Array:
        """What a small motion changes the torques by (..., n), in O(n): Algorithm 1 of Jain and Rodriguez."""
        return self._evaluate("inverse_along", (q, qd, qdd, dq, dqd, dqdd), out)[0]

    def forward_along(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dtau: npt.ArrayLike, *,
                      dense: bool = False, out: Array | None = None) -> Array:
        """What small changes of state and torques change the accelerations by (..., n), in O(n): Algorithm 5; ``dense``: by the mass matrix, Algorithm 3."""

        def fill(options: Any) -> list[Any]:
            options.dense = dense
            return []

        return self._evaluate("forward_along", (q, qd, tau, dq, dqd, dtau), out, fill)[0]

    def inverse_second(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dqdd: npt.ArrayLike,
                       eq: npt.ArrayLike, eqd: npt.ArrayLike, eqdd: npt.ArrayLike, *, out: Array | None = None) -> Array:
        """The second derivative of the torques (..., n) along two small motions, in O(n)."""
        return self._evaluate("inverse_second", (q, qd, qdd, dq, dqd, dqdd, eq, eqd, eqdd), out)[0]

    def linearize_second(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dqdd: npt.ArrayLike, *,
                         out: tuple[Array, Array, Array] | None = None) -> SecondDerivatives:
        """What a small motion changes linearize_inverse's results by: the Hessian of the torques times a direction."""
        return SecondDerivatives(*self._evaluate("linearize_second", (q, qd, qdd, dq, dqd, dqdd), out))

    def sensitivity(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, standard: bool = False, out: Array | None = None) -> Array:
        """Derivatives of the accelerations by the base parameters of ``base_model`` (..., n, l); ``standard``: by ``parameters``. It is -M^-1 Y."""
        model = None if standard else self.base_model
        pointer = ffi.NULL if model is None else model._pointer

        def fill(options: Any) -> list[Any]:
            scratch = ffi.new("double[]", lib.psdm_eval_scratch(self._pointer, pointer))
            options.model, options.scratch = pointer, scratch
            return [scratch]

        columns = lib.psdm_robot_parameter_count(self._pointer) if model is None else model.l
        return self._evaluate("sensitivity", (q, qd, tau), out, fill, columns)[0]

    # ---- tasks ----

    def _of_task(self, name: str, values: Sequence[npt.ArrayLike], link: str | int | None, point: npt.ArrayLike | None, directions: str | Iterable[str] | None,
                 out: Array | None) -> Array:
        joint, at, bits = self._moving(self._joint_of(link)), vector(point, 3, "point"), direction_bits(directions)

        def fill(options: Any) -> list[Any]:
            keep, error = [ffi.new("double[]", lib.psdm_eval_scratch(self._pointer, ffi.NULL))], new_error()
            options.scratch, options.link, options.directions = keep[0], lib.psdm_robot_link_name(self._pointer, joint), bits
            if at is not None:
                keep.append(ffi.new("double[3]", at.tolist()))
                options.point = keep[1]
            check(lib.psdm_eval_check(self._pointer, function_of(name), options, error), error)
            return keep

        return self._evaluate(name, values, out, fill, direction_count(bits))[0]

    def cartesian_jacobian(self, q: npt.ArrayLike, *, link: str | int | None = None, point: npt.ArrayLike | None = None,
                           directions: str | Iterable[str] | None = None, out: Array | None = None) -> Array:
        """J (..., m, n) of a ``point`` (3; the origin) in the frame of ``link`` (``default_link``): rows for the ``directions`` "x,y,z,rx,ry,rz" (all), base frame."""
        return self._of_task("cartesian_jacobian", (q,), link, point, directions, out)

    def cartesian_mass(self, q: npt.ArrayLike, *, link: str | int | None = None, point: npt.ArrayLike | None = None,
                       directions: str | Iterable[str] | None = None, out: Array | None = None) -> Array:
        """The mass matrix of a task, Mp = (J M^-1 J^T)^-1 (..., m, m). Where the task is singular, this and the other functions of a task raise PsdmError.

        >>> import numpy as np, psdm
        >>> robot = psdm.Robot.shipped("kuka_kr6")
        >>> Mp = robot.cartesian_mass(np.ones(6), directions="x,y,z", point=[0, 0, 0.1])
        >>> Mp.shape, bool(np.all(np.linalg.eigvalsh(Mp) > 0))
        ((3, 3), True)
        """
        return self._of_task("cartesian_mass", (q,), link, point, directions, out)

    def cartesian_coriolis(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, link: str | int | None = None, point: npt.ArrayLike | None = None,
                           directions: str | Iterable[str] | None = None, out: Array | None = None) -> Array:
        """Coriolis and centrifugal forces of a task, cp = Jbar^T c - Mp dJ/dt qd (..., m)."""
        return self._of_task("cartesian_coriolis", (q, qd), link, point, directions, out)

    def cartesian_gravity(self, q: npt.ArrayLike, *, link: str | int | None = None, point: npt.ArrayLike | None = None,
                          directions: str | Iterable[str] | None = None, out: Array | None = None) -> Array:
        """Gravity of a task, gp = Jbar^T g (..., m)."""
        return self._of_task("cartesian_gravity", (q,), link, point, directions, out)

    def cartesian_factor(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, link: str | int | None = None, point: npt.ArrayLike | None = None,
                         directions: str | Iterable[str] | None = None, out: Array | None = None) -> Array:
        """The Coriolis matrix of a task, Sp (..., m, m): dMp/dt - 2 Sp is skew, and cp = Sp J qd without motion in the null space."""
        return self._of_task("cartesian_factor", (q, qd), link, point, directions, out)

    def cartesian_inverse(self, q: npt.ArrayLike, *, link: str | int | None = None, point: npt.ArrayLike | None = None,
                          directions: str | Iterable[str] | None = None, out: Array | None = None) -> Array:
        """The dynamically consistent inverse of J, Jbar = M^-1 J^T Mp (..., n, m): J Jbar = 1."""
        return self._of_task("cartesian_inverse", (q,), link, point, directions, out)

    def cartesian_null_space(self, q: npt.ArrayLike, *, link: str | int | None = None, point: npt.ArrayLike | None = None,
                             directions: str | Iterable[str] | None = None, out: Array | None = None) -> Array:
        """N = 1 - J^T Jbar^T (..., n, n): torques N tau do not accelerate the task, and (N^T qd) does not move it."""
        return self._of_task("cartesian_null_space", (q,), link, point, directions, out)


class CodeTerms:
    """The same of compiled code. Functions of a task are not a number where the task is singular."""

    if TYPE_CHECKING:
        def _call(self, function: str, values: Sequence[npt.ArrayLike], out: Any, given: dict[str, Any]) -> list[Any]: ...

    def coriolis(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """The Coriolis matrix C (..., n, n) of Christoffel symbols."""
        return self._call("coriolis", (q, qd), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def mass_rate(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """dM/dt (..., n, n)."""
        return self._call("mass_rate", (q, qd), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def momentum(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                 out: tuple[Numbers, Numbers] | None = None) -> Momentum:
        """p = M qd and C^T qd, (..., n) each."""
        return Momentum(*self._call("momentum", (q, qd), out, dict(theta=theta, payload=payload)))

    def momentum_rate(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None,
                      payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """dp/dt = tau + C^T qd - g (..., n)."""
        return self._call("momentum_rate", (q, qd, tau), out, dict(theta=theta, gravity=gravity, payload=payload))[0]  # type: ignore[no-any-return]

    def innovations(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                    out: tuple[Numbers, Numbers, Numbers] | None = None) -> Factors:
        """L, its inverse and D of M = L D L^T, (..., n, n) each."""
        return Factors(*self._call("innovations", (q,), out, dict(theta=theta, payload=payload)))

    def inverse_along(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dqdd: npt.ArrayLike, *,
                      theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """What a small motion changes the torques by (..., n)."""
        given = dict(theta=theta, gravity=gravity, payload=payload)
        return self._call("inverse_along", (q, qd, qdd, dq, dqd, dqdd), out, given)[0]  # type: ignore[no-any-return]

    def forward_along(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dtau: npt.ArrayLike, *,
                      theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """What small changes of state and torques change the accelerations by (..., n)."""
        given = dict(theta=theta, gravity=gravity, payload=payload)
        return self._call("forward_along", (q, qd, tau, dq, dqd, dtau), out, given)[0]  # type: ignore[no-any-return]

    def inverse_second(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dqdd: npt.ArrayLike,
                       eq: npt.ArrayLike, eqd: npt.ArrayLike, eqdd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None,
                       payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """The second derivative of the torques (..., n) along two small motions."""
        given = dict(theta=theta, gravity=gravity, payload=payload)
        return self._call("inverse_second", (q, qd, qdd, dq, dqd, dqdd, eq, eqd, eqdd), out, given)[0]  # type: ignore[no-any-return]

    def linearize_second(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, dq: npt.ArrayLike, dqd: npt.ArrayLike, dqdd: npt.ArrayLike, *,
                         theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                         out: tuple[Numbers, Numbers, Numbers] | None = None) -> SecondDerivatives:
        """What a small motion changes linearize_inverse's results by."""
        given = dict(theta=theta, gravity=gravity, payload=payload)
        return SecondDerivatives(*self._call("linearize_second", (q, qd, qdd, dq, dqd, dqdd), out, given))

    def sensitivity(self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None,
                    payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """Derivatives of the accelerations by the base parameters (..., n, l)."""
        return self._call("sensitivity", (q, qd, tau), out, dict(theta=theta, gravity=gravity, payload=payload))[0]  # type: ignore[no-any-return]

    def cartesian_jacobian(self, q: npt.ArrayLike, *, out: Numbers | None = None) -> Numbers:
        """J (..., m, n) of the link, point and directions that the code was made for; so are the other functions of a task."""
        return self._call("cartesian_jacobian", (q,), out, {})[0]  # type: ignore[no-any-return]

    def cartesian_mass(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """The mass matrix of the task (..., m, m)."""
        return self._call("cartesian_mass", (q,), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def cartesian_coriolis(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                           out: Numbers | None = None) -> Numbers:
        """Coriolis and centrifugal forces of the task (..., m)."""
        return self._call("cartesian_coriolis", (q, qd), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def cartesian_gravity(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, gravity: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                          out: Numbers | None = None) -> Numbers:
        """Gravity of the task (..., m)."""
        return self._call("cartesian_gravity", (q,), out, dict(theta=theta, gravity=gravity, payload=payload))[0]  # type: ignore[no-any-return]

    def cartesian_factor(self, q: npt.ArrayLike, qd: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None,
                         out: Numbers | None = None) -> Numbers:
        """The Coriolis matrix of the task (..., m, m)."""
        return self._call("cartesian_factor", (q, qd), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def cartesian_inverse(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """The dynamically consistent inverse of J (..., n, m)."""
        return self._call("cartesian_inverse", (q,), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]

    def cartesian_null_space(self, q: npt.ArrayLike, *, theta: npt.ArrayLike | None = None, payload: npt.ArrayLike | None = None, out: Numbers | None = None) -> Numbers:
        """N (..., n, n): torques N tau do not accelerate the task."""
        return self._call("cartesian_null_space", (q,), out, dict(theta=theta, payload=payload))[0]  # type: ignore[no-any-return]
