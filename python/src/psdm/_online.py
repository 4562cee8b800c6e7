"""Parameters while the robot runs."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from psdm._library import Array, address, check, ffi, lib, vector


class Online:
    """Recursive least squares with forgetting, tau = Y theta + noise, in square-root form: values and covariance after every sample.

    ``theta`` (l) are initial values, ``sd`` (l) their uncertainty, ``forgetting`` in (0, 1] the weight that a sample keeps at the next one. Threads may share one: calls wait
    for each other.

    >>> import numpy as np, psdm
    >>> robot = psdm.Robot.shipped("two_link")
    >>> right = robot.base_model.theta
    >>> online = psdm.Online(0 * right, 10 * np.ones(len(right)))
    >>> q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 100, 2))
    >>> online.add(robot.regressor(q, qd, qdd), robot.inverse(q, qd, qdd), sigma=0.01)
    >>> bool(np.allclose(online.theta, right, atol=1e-4))
    True
    """

    def __init__(self, theta: npt.ArrayLike, sd: npt.ArrayLike, *, forgetting: float = 1.0) -> None:
        start = np.ascontiguousarray(theta, dtype=np.float64)
        self.parameters: int = len(start)
        spread = vector(sd, self.parameters, "sd")
        size, made = lib.psdm_online_bytes(self.parameters), ffi.new("psdm_online **")
        self._memory = ffi.new("double[]", size // 8 + 1)
        assert spread is not None
        check(lib.psdm_online_init(self._memory, 8 * (size // 8 + 1), self.parameters, address(start), address(spread), forgetting, made))
        self._pointer = made[0]
        self._lock = threading.Lock()  # calls run without Python's lock, and change the state

    def add(self, Y: npt.ArrayLike, tau: npt.ArrayLike, sigma: npt.ArrayLike = 1.0) -> None:
        """One sample, Y (rows, l) and tau (rows), or many, (count, rows, l) and (count, rows); ``sigma``: the noise of each row, one number for all, 0 to leave a row out."""
        equations = np.ascontiguousarray(Y, dtype=np.float64)
        values = np.ascontiguousarray(tau, dtype=np.float64)
        if equations.ndim < 2 or equations.shape[-1] != self.parameters or values.shape != equations.shape[:-1]:
            raise ValueError(f"Y has shape {equations.shape} and tau {values.shape}; (..., rows, {self.parameters}) and (..., rows) were expected")
        noise = np.ascontiguousarray(np.broadcast_to(np.asarray(sigma, dtype=np.float64), values.shape))
        rows = values.shape[-1]
        samples = zip(equations.reshape(-1, rows, self.parameters), values.reshape(-1, rows), noise.reshape(-1, rows))
        with self._lock:
            for k, (y, t, s) in enumerate(samples):
                check(lib.psdm_online_add(self._pointer, rows, address(y), address(t), address(s)), None, f"sample {k}: ")

    @property
    def theta(self) -> Array:
        """The parameters (l) so far."""
        found = np.empty(self.parameters)
        with self._lock:
            check(lib.psdm_online_theta(self._pointer, address(found), ffi.NULL))
        return found

    @property
    def covariance(self) -> Array:
        """Their covariance (l, l)."""
        found, spread = np.empty(self.parameters), np.empty((self.parameters, self.parameters))
        with self._lock:
            check(lib.psdm_online_theta(self._pointer, address(found), address(spread)))
        return spread

    @property
    def misfit(self) -> float:
        """Mean squared residual of the equations so far in units of sigma^2: near one when sigma is right."""
        with self._lock:
            return float(lib.psdm_online_misfit(self._pointer))
