"""Results of commands: their JSON, with its figures as attributes and its tables as arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from psdm import _tool
from psdm._library import Array, address, ffi, lib, write_whole

if TYPE_CHECKING:
    from psdm.model import Model
    from psdm.robot import Robot


class Result(Mapping[str, Any]):
    """The JSON object of a command as a mapping; names that are identifiers are attributes too.

    ``good`` is False if the answer is below the requested quality (the command's exit code 1), or if the run was interrupted: then ``interrupted`` is True, and this is
    the best result so far (exit code 130). ``words`` has its messages.
    ``rows`` holds its table by column: t, q (rows, n), ... ; these too are attributes. psdm.report takes any number of results.
    """

    def __init__(self, robot: Robot, data: dict[str, Any], rows: dict[str, Array] | None = None, code: int = _tool.EXIT_OK, words: str = "") -> None:
        self.robot = robot
        self.data = data
        self.rows: dict[str, Array] = rows or {}
        self.good = code == _tool.EXIT_OK
        self.interrupted = code == _tool.EXIT_INTERRUPTED
        self.words = words

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __getattr__(self, name: str) -> Any:
        for place in ("data", "rows"):  # rows["friction"] is a table's column where the object has a friction of its own
            found = self.__dict__.get(place, {})
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join([*self.__dict__.get('data', {}), *self.__dict__.get('rows', {})])}")

    def __repr__(self) -> str:
        return f"<psdm.{type(self).__name__} of {self.robot.name!r}>"

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The command's JSON text, as ``psdm report`` takes it; also written to ``path`` if given."""
        text = json.dumps(self.data, indent=1)
        if path is not None:
            write_whole(path, text)
        return text


class Estimate(NamedTuple):
    name: str
    value: float
    sd: float


class Calibration(Result):
    """The result of a calibration: base parameters with their uncertainties, friction, and errors.

    ``train`` and ``heldout`` have the errors ({joints [{rmse, rel, r2, ...}], global_rel}); ``rows`` every row of the logs with its prediction: t, heldout,
    q, qd, qdd, tau, raw, predicted, band, friction. ``verdict`` is good, usable, poor or useless, ``findings`` are the reasons; ``good`` is False for poor and useless.
    """

    _text: str = ""

    @property
    def verdict(self) -> str:
        """The quality of the answer: good, usable, poor or useless. ``found["verdict"]`` has all of it: error, no_model, plain_least_squares, ..."""
        return str(self.data["verdict"]["word"])

    @property
    def findings(self) -> list[str]:
        """The reasons for the verdict, the gravest first."""
        return [f"{finding['verdict']}: {finding['text']}" for finding in self.data["verdict"]["findings"]]

    @property
    def names(self) -> list[str]:
        return [p["name"] for p in self.data["parameters"]]

    @property
    def theta(self) -> Array:
        """(l) values."""
        return np.array([np.nan if p["value"] is None else p["value"] for p in self.data["parameters"]])

    @property
    def sd(self) -> Array:
        """(l) standard deviations; infinite if unknown."""
        return np.array([np.inf if p["sd"] is None else p["sd"] for p in self.data["parameters"]])

    @property
    def covariance(self) -> Array:
        """Of theta, then the gains of the friction columns, drive by drive. In steps: of torque constants, theta and friction."""
        from psdm.robot import parse_parameters

        parameters = parse_parameters(self.robot, self._text)
        if parameters.covariance == ffi.NULL:
            raise ValueError("the covariance was not kept")
        n = parameters.n
        size = n + parameters.base + 8 * n if parameters.lugre != ffi.NULL else parameters.base + sum(parameters.columns[0:n])
        return np.frombuffer(ffi.buffer(parameters.covariance, 8 * size * size), dtype=np.float64).reshape(size, size).copy()

    def estimates(self) -> list[Estimate]:
        return [Estimate(*row) for row in zip(self.names, self.theta.tolist(), self.sd.tolist())]

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The parameter file that every command takes; also written to ``path`` if given."""
        if path is not None:
            write_whole(path, self._text)
        return self._text

    def calibrated(self) -> Robot:
        """The robot with these inertias and this friction."""
        return self.robot.calibrated(self)


class Excitation(Result):
    """An exciting motion: arrays t, q, qd, qdd (and tau where inertias are known), and its figures: condition, worst, ..."""


class Simulation(Result):
    """A motion: arrays t, q, qd, qdd, tau, T, U, ... and the audit: end, final_state, energy_balance, ...; ``log`` is a recorder's log of it."""

    log: dict[str, Array]

    def __init__(self, *args: Any, log: dict[str, Array] | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.log = log or {}


class Plan(Result):
    """A planned motion: arrays t, q, qd, qdd, tau, and its figures: seconds, limit_used, ..."""


class Payload(Result):
    """A load: ``load`` {mass, com, inertia, ...} with its uncertainty, and the parameters of the robot that carries it."""

    _text: str = ""

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The loaded robot's parameter file."""
        if path is not None:
            write_whole(path, self._text)
        return self._text

    @property
    def standard(self) -> Array:
        """(10) standard parameters of the load, about the frame of the link that carries it."""
        return np.array(list(self.data["pi"].values()))


class Reduction(Result):
    """A smaller model with a stated error at a stated confidence."""

    model: Model


def load_to_standard(mass: float, com: Any, inertia: Any = (0, 0, 0, 0, 0, 0)) -> Array:
    """Standard parameters (10) of a body: mass, centre, and inertia about the centre (xx xy xz yy yz zz).

    >>> import psdm
    >>> psdm.load_to_standard(2.0, [0, 0, 0.1]).tolist()
    [2.0, 0.0, 0.0, 0.2, 0.020000000000000004, 0.0, 0.0, 0.020000000000000004, 0.0, 0.0]
    """
    load, pi = ffi.new("psdm_load *"), np.empty(10)
    load.mass, load.com, load.inertia = float(mass), [float(x) for x in com], [float(x) for x in inertia]
    lib.psdm_load_to_standard(load, address(pi))
    return pi
