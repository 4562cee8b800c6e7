"""What the command does with a robot: calibrate, excite, simulate, plan, payload, reduce, analyze.

Every option of the command is a keyword: ``psdm excite --harmonics 8`` is ``robot.excite(harmonics=8)``; ``psdm COMMAND --help`` lists them.
All of it runs in this process; arrays are read where they lie.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from psdm import _job, _tool
from psdm._job import Progress
from psdm.results import Calibration, Excitation, Payload, Plan, Reduction, Result, Simulation

#: a file, or arrays by channel: {"t": (rows,), "q": (rows, n), "tau": (rows, n), ...}; a result with rows is one
Log = Union[str, "os.PathLike[str]", Mapping[str, Any]]
CHANNELS = ("t", "q", "qd", "qdd", "tau", "i", "qm", "qdm", "taum")


def _columns(table: Any, names: Sequence[str]) -> dict[str, Any]:
    """Channels of a table that is a mapping or a result."""
    rows = getattr(table, "rows", None) or table
    if "t" not in rows:
        raise ValueError(f"a table needs t; this one has {', '.join(rows) or 'nothing'}")
    return {name: np.asarray(rows[name], dtype=np.float64) for name in names if name in rows}


class Commands:
    """The part of Robot that asks the command."""

    _source: dict[str, Any]

    def calibrate(self: Any, log: Log | Sequence[Log], *, estimator: str = "consistent", holdout: float | str | None = None, predict: bool = True,
                  progress: Progress | None = None, **options: Any) -> Calibration:
        """Base parameters and friction from logs: files, or arrays by channel ({"t": ..., "q": ..., "tau": ...}), one or several. ``predict`` asks for every row beside the
        prediction. ``progress`` is called with what is being done and its share, and ends the run with the best so far where it returns False, as Ctrl-C does.

        >>> import psdm
        >>> robot = psdm.Robot.shipped("two_link")
        >>> run = robot.simulate(time=4, control="computed-torque", reference="fourier", initial="reference", log=True, log_rate=200)
        >>> found = robot.calibrate(run.log, holdout=0.3, estimator="wls", plain_friction=True)
        >>> found.heldout["global_rel"] < 0.05
        True
        """
        job = _job.Job(self, "calibrate", {"estimator": estimator, "holdout": holdout, **options}, progress)
        _logs(job, "log", log)
        job.set("covariance", "")
        return _calibration(job, predict)

    def calibrate_steps(self: Any, logs: Sequence[tuple[str, Log] | tuple[str, Log, Any]], *, before: Any = None, predict: bool = True,
                        progress: Progress | None = None, **options: Any) -> Calibration:
        """Motor constants, gravity, friction and inertia one after the other. ``logs`` are (step, log) pairs, step one of motor, gravity, friction and inertia; motor logs that were
        made with a known mass have it as a third: kg, or (kg, x, y, z). ``before``: what an earlier call found, where steps may be missing. ``rows`` has every row of the steps:
        step (0 motor, 1 gravity, 2 friction, 3 inertia), drive, measured, predicted, ... A stop by ``progress`` or Ctrl-C keeps the steps that are finished."""
        from psdm.robot import parameters_text

        given = before if before is not None else options.pop("params", None)
        text = parameters_text(given) if given is not None else self._source["parameters"] if self._source["pi"] is None else None
        # steps begin with what is known before, not with a robot that has it
        job = _job.Job(self if text is None else self._uncalibrated(), "calibrate", {"route": "steps", **options}, progress)
        if text is not None:
            job.file("params", "parameters", text)
        for k, (step, log, *mass) in enumerate(logs):
            if isinstance(log, (str, os.PathLike)):
                name = os.fspath(log)
                job.set("log", f"{step}:{name}")
            else:
                name = f"{step}{k}"
                job.log("log", f"{step}:{name}", _columns(log, CHANNELS))
            if mass and mass[0] is not None:
                job.set("weight", f"{name}={_job.setting_text(mass[0])}")
        return _calibration(job, predict)

    def excite(self: Any, for_: str = "inertia", *, seconds: float = 0, progress: Progress | None = None, **options: Any) -> Excitation:
        """A motion for the robot to make while it is recorded, within all limits. Motions for inertia need NLopt on the system. ``progress`` is called with what is being done and
        its share, and ends the search with the best so far where it returns False, as Ctrl-C does.

        >>> import psdm
        >>> motion = psdm.Robot.shipped("two_link").excite(seconds=5, starts=1, evaluations=200)
        >>> motion.q.shape, motion.worst <= 1
        ((501, 2), True)
        """
        job = _job.Job(self, "excite", {"for": for_, "seconds": seconds, **options}, progress)
        job.keep("out")
        job.run()
        return Excitation(job.robot, job.data(), job.rows("out"), *_end(job))

    def simulate(self: Any, time: float = 0, *, initial: Any = None, reference: Any = None, log: bool = False,
                 progress: Progress | None = None, **options: Any) -> Simulation:
        """A robot in motion, with friction, springs, loads, limits and a controller where asked for. ``initial`` is (q,), (q, qd), or "reference"; ``reference`` a name of the
        command's, arrays t, q (qd, qdd), or a file; ``log`` asks for what a recorder would have seen (log_rate, log_noise, ...);
        ``progress`` is called with what is being done and its share, and stops the run where it returns False.

        >>> import psdm
        >>> run = psdm.Robot.shipped("two_link").simulate(2)
        >>> bool(run.energy_balance < 1e-10), run.q.shape
        (True, (201, 2))
        """
        job = _job.Job(self, "simulate", {"time": time, **options}, progress)
        for name in ("out", "log") if log else ("out",):
            job.keep(name)
        if isinstance(reference, (str, os.PathLike)):
            job.set("reference", reference)
        elif reference is not None:
            job.table("reference", _columns(reference, ("t", "q", "qd", "qdd")))
        if isinstance(initial, (str, os.PathLike)):
            job.set("initial", initial)
        elif initial is not None:
            job.table("initial", {name: np.atleast_2d(v) for name, v in zip(("q", "qd"), _pair(initial))})
        job.run()
        return Simulation(job.robot, job.data(), job.rows("out"), *_end(job), log=job.rows("log"))

    def plan(self: Any, what: str = "time", *, start: npt.ArrayLike | None = None, end: npt.ArrayLike | None = None, trajectory: Any = None,
             progress: Progress | None = None, **options: Any) -> Plan:
        """Motions under limits: ``what`` is "time" or "energy" from ``start`` to ``end`` at rest (needs IPOPT's plug-in on the system), "time" along a ``trajectory`` (arrays t, q, or
        a file), or "scale": the trajectory as it is, so much longer that all limits are met. ``progress`` is called with what is being done and its share; where it returns False,
        the search ends with the motion so far if that respects the limits, as after Ctrl-C.

        >>> import numpy as np, psdm
        >>> robot, t = psdm.Robot.shipped("two_link"), np.linspace(0, 1, 51)
        >>> path = {"t": t, "q": np.outer(t * t * (3 - 2 * t), [1.0, 0.5])}
        >>> bool(robot.plan("time", trajectory=path, effort=[60, 20], velocity=3).limit_used <= 1.01)
        True
        """
        job = _job.Job(self, "plan", {"what": what, "from": start, "to": end, **options}, progress)
        job.keep("out")
        if isinstance(trajectory, (str, os.PathLike)):
            job.set("trajectory", trajectory)
        elif trajectory is not None:
            job.table("trajectory", _columns(trajectory, ("t", "q", "qd", "qdd")))
        job.run()
        return Plan(job.robot, job.data(), job.rows("out"), *_end(job))

    def payload(self: Any, log: Log | Sequence[Log], *, parameters: Any = None, empty: Log | Sequence[Log] = (), progress: Progress | None = None,
                **options: Any) -> Payload:
        """What a calibrated robot carries, from logs with the load, and better without it too (``empty``). ``parameters``: the calibration, unless the robot is ``calibrated`` already.
        ``progress`` is called with what is being done and its share, and ends the reading with the rows so far where it returns False, as Ctrl-C does."""
        given = parameters if parameters is not None else options.pop("params", None)
        robot = self if given is None else self.calibrated(given)
        text = robot._source["parameters"] if robot._source["pi"] is None else None
        # the load is what the calibration does not explain: the robot itself need not have these parameters
        job = _job.Job(robot if text is None else robot._uncalibrated(), "payload", options, progress)
        if text is not None:
            job.file("params", "parameters", text)
        for setting, tables in (("log", log), ("empty", empty)):
            _logs(job, setting, tables)
        for name in ("out", "predict"):
            job.keep(name)
        job.run()
        found = Payload(job.robot.calibrated(text), job.data(), job.rows("predict"), *_end(job))
        found._text = job.text("out")
        return found

    def reduce(self: Any, *, profile: Any = "slow", error: float = 0.01, confidence: float = 0.95, progress: Progress | None = None,
               **options: Any) -> Reduction:
        """The smallest model within an error at a confidence; ``profile`` is "slow", "fast", a file, or arrays {"q": ..., "qd": ..., "qdd": ...}.
        ``out`` names a folder for the model and its code; a stop ends the search with the best so far.

        >>> import psdm
        >>> small = psdm.Robot.shipped("two_link").reduce(samples=10000)
        >>> small.model.p < small.p_before
        True
        """
        from psdm.model import Model

        job = _job.Job(self, "reduce", {"error": error, "confidence": confidence, **options}, progress)
        if isinstance(profile, (str, os.PathLike)):
            job.set("profile", profile)
        else:
            job.table("profile", {name: profile[name] for name in ("q", "qd", "qdd")})
        job.run()
        found = Reduction(job.robot, job.data(), None, *_end(job))
        found.model = Model(job.robot, job.model())
        return found

    def analyze(self: Any, *, progress: Progress | None = None, **options: Any) -> Result:
        """Structure of M, c and g, and rigorous bounds of their sizes over all positions."""
        found: Result = self.facts("analyze", progress=progress, **options)
        return found

    def facts(self: Any, command: str, *, progress: Progress | None = None, **options: Any) -> Result:
        """What any other command answers about this robot, such as "derive", "params", "inspect", "linearize", "eval" or "bench": as material for a report. Where an option names
        a table of numbers, arrays by column do: ``facts("linearize", at={"q": q})``, ``facts("eval", function="mass", in_={"q": q})``.

        >>> import psdm
        >>> psdm.Robot.shipped("two_link").facts("params")["l"]
        6
        """
        if command == "convert":
            raise ValueError("convert answers nothing; Robot.to_yaml() and to_urdf() write a robot")
        if command == "eval" and options.get("in_") is None:
            raise ValueError("eval needs in_=, the states")
        job = _job.Job(self, command, options, progress)
        if command == "eval":
            job.keep("out")
        job.run()
        return Result(job.robot, job.data(), None, *_end(job))


def _logs(job: _job.Job, setting: str, given: Log | Sequence[Log]) -> None:
    """The logs of a setting that lists them: files, or arrays by channel."""
    for k, table in enumerate([given] if isinstance(given, (str, os.PathLike, Mapping)) else given):
        if isinstance(table, (str, os.PathLike)):
            job.set(setting, table)
        else:
            job.log(setting, f"{setting}{k}", _columns(table, CHANNELS))


def _pair(initial: Any) -> Sequence[Any]:
    """(q,), (q, qd) or q alone."""
    return (initial,) if np.ndim(initial[0]) == 0 else tuple(initial)


def _end(job: _job.Job) -> tuple[int, str]:
    """How a job ended, as a result takes it: the command's exit code, and what was said."""
    return _tool.EXIT_INTERRUPTED if job.stopped else _tool.EXIT_OK if job.good else _tool.EXIT_BELOW, job.words


def _calibration(job: _job.Job, predict: bool) -> Calibration:
    for name in ("out", "predict") if predict else ("out",):
        job.keep(name)
    job.run()
    found = Calibration(job.robot, job.data(), job.rows("predict"), *_end(job))
    found._text = job.text("out")
    job.settle()
    return found
