"""Calibration, excitation, simulation, planning, payload, reduction and reports, on small cases."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable

import cli
import numpy as np
import psdm
import pytest


@pytest.fixture(scope="module")
def run(two_link):
    return two_link.simulate(5, control="computed-torque", reference="fourier", initial="reference", log=True, log_rate=200, log_noise=0.001)


def test_simulate(two_link, run):
    assert run.good and run.end == "time" and run.q.shape == run.tau.shape == (501, 2)
    assert run.energy_balance < 1e-9
    np.testing.assert_allclose(two_link.forward(run.q, run.qd, run.tau), run.qdd, atol=1e-9)
    free = two_link.simulate(1, initial=([0.5, 0.2], [0.1, 0]), output=0.1)
    assert np.array_equal(free.q[0], [0.5, 0.2]) and np.array_equal(free.qd[0], [0.1, 0]) and free.energy_drift < 1e-9
    move = psdm.Motion.polynomial([0, 0], [1, -1], duration=1)
    t = np.linspace(0, 1, 101)
    q, qd, qdd = move(t)
    follow = two_link.simulate(1, control="computed-torque", reference={"t": t, "q": q, "qd": qd, "qdd": qdd}, initial="reference")
    assert np.max(np.abs(follow.q - q)) < 1e-6


def test_calibrate(two_link, run, tmp_path):
    found = two_link.calibrate(run.log, holdout=0.3, plain_friction=True, estimator="wls")
    assert found.names == two_link.params().names and found.heldout["global_rel"] < 0.02
    assert found.good and found.verdict in ("good", "usable") and found["verdict"]["error"] == pytest.approx(found.heldout["global_rel"])
    assert found.covariance.shape[0] >= found.theta.size
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance))[: found.theta.size], found.sd, rtol=1e-9)
    assert np.all(np.abs(found.theta - two_link.base_model.theta) < np.maximum(6 * found.sd, 0.05 * np.max(np.abs(found.theta))))
    assert found.rows["predicted"].shape == found.rows["tau"].shape
    # arrays and a file of the same numbers give the same answer
    path = tmp_path / "log.csv"
    names = ["t", "q1", "q2", "tau1", "tau2"]
    np.savetxt(path, np.column_stack([run.log["t"], run.log["q"], run.log["tau"]]), fmt="%.17g", delimiter=",", header=",".join(names), comments="")
    assert np.array_equal(two_link.calibrate(path, holdout=0.3, plain_friction=True, estimator="wls").theta, found.theta)
    # the calibrated robot
    found.to_yaml(tmp_path / "params.yaml")
    robot = found.calibrated()
    np.testing.assert_allclose(robot.base_model.theta, found.theta, rtol=1e-9, atol=1e-9)
    assert np.array_equal(two_link.calibrated(tmp_path / "params.yaml").parameters, robot.parameters)
    load = robot.payload(run.log)
    assert abs(load.load["mass"]) < 0.2 and load.standard.shape == (10,)
    assert robot.calibrated(load).ready


def test_calibrate_verdict(two_link, run):
    """Torques that have nothing to do with the motion."""
    noise = np.random.default_rng(1).normal(size=run.log["tau"].shape)
    found = two_link.calibrate({**run.log, "tau": noise}, plain_friction=True, estimator="wls", predict=False)
    assert not found.good and found.verdict == "useless" and found.findings[0].startswith("useless: ")
    assert two_link.calibrate({**run.log, "tau": noise}, plain_friction=True, estimator="wls", predict=False, accept="useless").good


def test_calibrate_refuses(two_link, run):
    with pytest.raises(psdm.PsdmError) as error:
        two_link.calibrate({"t": run.log["t"], "q": run.log["q"]})
    assert error.value.status == "PSDM_E_PARSE"
    with pytest.raises(ValueError, match="needs t"):
        two_link.calibrate({"q": run.log["q"]})
    with pytest.raises(psdm.PsdmError, match="holdot"):
        two_link.calibrate(run.log, holdot=0.3)


@pytest.fixture(scope="module")
def carried(two_link, run):
    """The calibrated robot, and a log of it with a body of 1.5 kg."""
    found = two_link.calibrate(run.log, plain_friction=True, estimator="wls", predict=False)
    body = psdm.load_to_standard(1.5, [0.1, 0, 0])
    last = [name for name in two_link.parameter_names if name.endswith("2")]
    heavy = two_link.with_parameters({name: two_link.parameters[two_link.parameter_names.index(name)] + x for name, x in zip(last, body)})
    log = heavy.simulate(5, control="computed-torque", reference="fourier", initial="reference", log=True, log_rate=200, log_noise=0.001).log
    return found.calibrated(), found.to_yaml(), log


def test_payload(two_link, run, carried, tmp_path):
    robot, text, log = carried
    load = robot.payload(log, empty=run.log)
    assert load.good and load.verdict["word"] == "good" and load.words == "" and not load.interrupted
    assert load.load["mass"] == pytest.approx(1.5, abs=max(5 * load.load["mass_sd"], 0.05))
    assert load.rows["with"].shape == load.rows["empty"].shape == load.tau.shape and set(load.loaded) == {0.0, 1.0}
    error = {name: np.linalg.norm((load.rows[name] - load.tau)[load.loaded == 1]) for name in ("empty", "with")}
    assert error["with"] < 0.2 * error["empty"]
    assert load.robot.ready and robot.calibrated(load).ready
    # the parameters are a robot's own, a text, a file, or a result; and the load may be known
    (tmp_path / "params.yaml").write_text(text)
    for other in (two_link.payload(log, parameters=text, empty=[run.log]), two_link.payload(log, params=tmp_path / "params.yaml", empty=run.log)):
        assert np.array_equal(other.standard, load.standard) and other.to_yaml() == load.to_yaml()
    known = robot.payload((), load=[1.5, 0.1, 0, 0])
    np.testing.assert_allclose(known.standard, psdm.load_to_standard(1.5, [0.1, 0, 0]))
    assert known.good and known.rows == {} and "verdict" not in known


def test_payload_is_the_commands(two_link, run, carried, tmp_path):
    """Arrays give the bits that the command gives from files."""
    _, text, log = carried
    paths = {name: tmp_path / name for name in ("robot.yaml", "params.yaml", "log.csv", "empty.csv", "loaded.yaml", "rows.csv")}
    paths["robot.yaml"].write_text(two_link.to_yaml())
    paths["params.yaml"].write_text(text)
    for name, table in (("log.csv", log), ("empty.csv", run.log)):
        cli.write_csv(str(paths[name]), {channel: table[channel] for channel in ("t", "q", "tau")})
    subprocess.run([psdm.executable(), "payload", paths["robot.yaml"], "--params", paths["params.yaml"], "--log", paths["log.csv"], "--empty", paths["empty.csv"], "--out",
                    paths["loaded.yaml"], "--predict", paths["rows.csv"]], check=True, capture_output=True)
    rows = cli.read_csv(str(paths["rows.csv"]))
    for load in (two_link.payload(log, parameters=text, empty=run.log), two_link.payload(paths["log.csv"], parameters=text, empty=paths["empty.csv"])):
        assert load.to_yaml() == paths["loaded.yaml"].read_text()
        assert list(rows) == list(load.rows) and all(np.array_equal(rows[name], load.rows[name]) for name in rows)


def test_payload_refuses(two_link, run, carried):
    robot, text, log = carried
    for call, status, sentence in (
        (lambda: two_link.payload(log), "PSDM_E_SETTING", "missing `params = FILE`"),
        (lambda: robot.payload(()), "PSDM_E_SETTING", "missing `log = FILE`"),
        (lambda: robot.payload(log, link="link3"), "PSDM_E_SETTING", "`link` 'link3': did you mean 'link"),
        (lambda: robot.payload(log, cutoff=-1), "PSDM_E_SETTING", "`cutoff` '-1': a number above 0"),
        (lambda: robot.payload("none.csv"), "PSDM_E_IO", "none.csv: cannot be opened"),
        (lambda: robot.payload({"t": log["t"], "q": log["q"]}), "PSDM_E_PARSE", "log0"),
        (lambda: two_link.payload(log, parameters="format: psdm-parameters-1\nrobot: 3\n"), "PSDM_E_PARSE", "^parameters:1:1: no 'theta'"),
        (lambda: psdm.Robot.shipped("puma560").payload(log, parameters=text), "PSDM_E_ROBOT", "the parameters were found for robot 'two_link'"),
    ):
        with pytest.raises(psdm.PsdmError, match=sentence) as error:
            call()
        assert error.value.status == status, (sentence, error.value)
    with pytest.raises(ValueError, match="needs t"):
        robot.payload({"q": log["q"], "tau": log["tau"]})
    # torques that have nothing to do with the motion
    noise = robot.payload({**log, "tau": np.random.default_rng(1).normal(size=log["tau"].shape)})
    assert not noise.good and not noise.interrupted and noise.verdict["word"] == "useless"


def test_payload_progress(carried):
    """A stop keeps the rows so far."""
    robot, _, log = carried
    times = 400
    period = log["t"][-1] + log["t"][1]
    long = {"t": np.concatenate([log["t"] + k * period for k in range(times)]), **{name: np.tile(log[name], (times, 1)) for name in ("q", "tau")}}
    said: list[str] = []

    def stop(doing: str, share: float | None) -> bool:
        said.append(doing)
        return doing == "reading"

    part = robot.payload(long, progress=stop)
    assert said and set(said) <= {"reading", "gathering", "evaluating"}
    assert part.interrupted and part["stopped"] and not part.good and "uses the rows read so far" in part.words
    assert part.rows["with"].shape[1] == 2 and robot.calibrated(part).ready
    with pytest.raises(ZeroDivisionError):
        robot.payload(long, progress=lambda doing, share: 1 / 0)


def test_steps(two_link):
    """Gravity alone, from a slow motion there and back."""
    motion = two_link.excite("gravity", seconds=20)
    run = two_link.simulate(inverse=True, reference={"t": motion.t, "q": motion.q, "qd": motion.qd, "qdd": motion.qdd}, log=True, log_rate=100)
    found = two_link.calibrate_steps([("gravity", run.log)], predict=False)
    known = np.isfinite(found.theta)
    assert known.any()
    np.testing.assert_allclose(found.theta[known], two_link.base_model.theta[known], rtol=0.02, atol=0.02)


def test_excite(two_link, tmp_path):
    motion = two_link.excite(seconds=5, starts=1, evaluations=300, velocity=1.5)
    assert motion.good and np.max(np.abs(motion.qd)) <= 1.5 and motion.condition < motion["random"]["median"]
    np.testing.assert_allclose(two_link.inverse(motion.q, motion.qd, motion.qdd), motion.tau, atol=1e-9)
    # the command's file has the same bits
    path, out = tmp_path / "robot.yaml", tmp_path / "motion.csv"
    path.write_text(two_link.to_yaml())
    subprocess.run([psdm._tool.executable(), "excite", path, "--seconds", "5", "--starts", "1", "--evaluations", "300", "--velocity", "1.5", "--out", out], check=True,
                   stdout=subprocess.DEVNULL)
    rows = cli.read_csv(str(out))
    assert list(rows) == list(motion.rows) and all(np.array_equal(rows[name], motion.rows[name]) for name in rows)


def test_plan(two_link):
    t = np.linspace(0, 1, 51)
    path = {"t": t, "q": np.outer(t * t * (3 - 2 * t), [1.0, 0.5])}
    quick = two_link.plan("time", trajectory=path, effort=[60, 20], velocity=3)
    assert quick.good and quick.q.shape[1] == 2 and np.max(np.abs(quick.tau) / [60, 20]) < 1.01
    slow = two_link.plan("scale", trajectory=path, effort=[60, 20], velocity=0.5)
    assert slow.factor > 1 and np.max(np.abs(slow.qd)) < 0.5 * 1.001


def test_plan_is_the_commands(two_link, tmp_path):
    """Arrays give the bits that the command gives from files."""
    t = np.linspace(0, 1, 51)
    path = {"t": t, "q": np.outer(t * t * (3 - 2 * t), [1.0, 0.5])}
    robot, trajectory, out = tmp_path / "robot.yaml", tmp_path / "trajectory.csv", tmp_path / "motion.csv"
    robot.write_text(two_link.to_yaml())
    cli.write_csv(str(trajectory), path)
    for what, words in (("time", {"effort": [60, 20], "velocity": 3}), ("scale", {"velocity": 0.5, "output": 0.02})):
        given, motion = two_link.plan(what, trajectory=str(trajectory), **words), two_link.plan(what, trajectory=path, **words)
        subprocess.run([psdm.executable(), "plan", robot, what, "--trajectory", trajectory, *cli.option_words(words), "--out", out], check=True, capture_output=True)
        rows = cli.read_csv(str(out))
        for found in (given, motion):
            assert list(rows) == list(found.rows) and all(np.array_equal(rows[name], found.rows[name]) for name in rows)
        assert motion["what"] == what and motion["rows"] == len(motion.t) and motion.robot is two_link


def test_plan_refuses(two_link):
    path = {"t": [0.0, 1.0], "q": [[0, 0], [1, 0.5]]}
    for words, status, text in (
        ({"what": "tme", "end": 1}, "PSDM_E_SETTING", "`what` 'tme': did you mean 'time'?"),
        ({"what": "scale", "end": 1}, "PSDM_E_SETTING", "scale needs `trajectory = FILE.csv`"),
        ({"what": "time"}, "PSDM_E_SETTING", "missing `to = Q,...` or `trajectory = FILE.csv`"),
        ({"end": 1, "trajectory": path}, "PSDM_E_SETTING", "give either `from` and `to`, or `trajectory`"),
        ({"end": 1, "velocty": 3}, "PSDM_E_SETTING", "plan has no setting 'velocty'; did you mean 'velocity'?"),
        ({"what": "scale", "trajectory": path}, "PSDM_E_ARGUMENT", "no limit applies to the trajectory; .* or `factor`"),
        ({"what": "scale", "trajectory": path, "effort": 0.1}, "PSDM_E_ACCURACY", "no factor respects the limits: joint 'shoulder'"),
        ({"trajectory": "none.csv"}, "PSDM_E_IO", "none.csv: cannot be opened"),
    ):
        with pytest.raises(psdm.PsdmError, match=text) as error:
            two_link.plan(**words)
        assert error.value.status == status
    with pytest.raises(ValueError, match="different lengths"):
        two_link.plan(trajectory={"t": [0.0, 1.0, 2.0], "q": [[0, 0], [1, 0.5]]}, velocity=1)


def test_plan_progress(two_link):
    """A stop leaves nothing along a path: there is no motion that is the best so far."""
    path = {"t": [0.0, 1.0], "q": [[0, 0], [1, 0.5]]}
    with pytest.raises(psdm.PsdmError) as error:
        two_link.plan("scale", trajectory=path, velocity=0.5, output=1e-6, progress=lambda doing, share: False)
    assert error.value.status == "PSDM_E_STOPPED"
    with pytest.raises(ZeroDivisionError):
        two_link.plan("scale", trajectory=path, velocity=0.5, output=1e-6, progress=lambda doing, share: 1 / 0)


def test_plan_optimal(two_link):
    """From rest to rest; a stop leaves the motion so far where it respects the limits."""
    limits = {"effort": [60, 20], "velocity": 3}
    try:
        quick = two_link.plan("time", end=[1, 0.5], **limits)
    except psdm.PsdmError as error:
        if error.status != "PSDM_E_MISSING":
            raise
        pytest.skip(str(error))
    assert quick.good and quick.converged and quick.limit_used <= 1.01
    np.testing.assert_allclose(quick.q[[0, -1]], [[0, 0], [1, 0.5]], atol=1e-9)
    slow = two_link.plan("energy", end=[1, 0.5], duration=2, **limits)
    assert slow.good and slow.seconds == pytest.approx(2) and slow.energy < quick.energy
    said: list[str] = []

    def stop(doing: str, share: float | None) -> bool:
        said.append(doing)
        return False

    try:
        best = two_link.plan("time", end=[1, 0.5], nodes=400, progress=stop, **limits)
    except psdm.PsdmError as error:
        assert error.status == "PSDM_E_STOPPED" and "no motion so far respects all limits" in str(error)
    else:
        assert best.interrupted and not best.good and best.stopped and best.limit_used <= 1.01
        assert "interrupted: this motion respects the limits, but is not optimal" in best.words
    assert len(said) == 1 and said[0].startswith("iteration ")


def test_plan_without_plugin(two_link, monkeypatch, tmp_path):
    monkeypatch.setenv("PSDM_PLUGINS", str(tmp_path))
    with pytest.raises(psdm.PsdmError, match="IPOPT.*PSDM_PLUGINS"):
        two_link.plan("time", start=0, end=[1, 0.5], effort=[60, 20], velocity=3)


def test_excite_without_nlopt():
    program = """
import psdm
try:
    psdm.Robot.shipped("two_link").excite()
except psdm.PsdmError as error:
    print(error.status, error)
"""
    said = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PSDM_NLOPT": "/nowhere/libnlopt.so"}, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "PSDM_E_MISSING" in said and "install libnlopt0" in said


@pytest.fixture
def alone(monkeypatch):
    """Neither a child of Python nor a temporary file: what would make one fails."""
    for module, names in ((subprocess, ("Popen", "run")), (os, ("posix_spawn", "posix_spawnp", "fork", "system")), (tempfile, ("TemporaryDirectory", "NamedTemporaryFile", "mkstemp"))):
        for name in names:
            monkeypatch.setattr(module, name, None)
    monkeypatch.setenv("PSDM", "/nowhere/psdm")
    monkeypatch.setenv("TMPDIR", "/nowhere")


def test_reduce(two_link):
    small = two_link.reduce(samples=20000, error=0.01)
    assert small.reached and small.model.p == small.p < small.p_before
    states = np.random.default_rng(1).uniform(-1, 1, (3, 200, 2)) * np.array([np.pi, 0.1, 1])[:, None, None]
    right = two_link.inverse(*states)
    error = np.linalg.norm(small.model.inverse(*states) - right, axis=1) / np.linalg.norm(right, axis=1)
    assert np.quantile(error, 0.9) < 0.01


def test_reduce_listed_states(two_link, tmp_path, alone):
    """Arrays and a file of the same states give the same model, in memory and in the folder."""
    states = np.random.default_rng(2).uniform(-1, 1, (3, 300, 2))
    profile = dict(zip(("q", "qd", "qdd"), states))
    small = two_link.reduce(profile=profile, error=0.05, out=tmp_path / "small", figures=True)
    assert small["profile"] == "listed" and small["samples"] == 300 and len(small["figures"]) == 1
    stored = psdm.Model.load(two_link, tmp_path / "small" / "model.json")
    assert stored.p == small.model.p == small.p
    np.testing.assert_allclose(stored.inverse(*states), small.model.inverse(*states), rtol=1e-12, atol=1e-12)
    path, names = tmp_path / "states.csv", [f"{name}{k}" for name in profile for k in (1, 2)]
    np.savetxt(path, np.hstack(states), fmt="%.17g", delimiter=",", header=",".join(names), comments="")
    again = two_link.reduce(profile=path, error=0.05)
    assert all(again[key] == small[key] for key in ("p", "l", "error", "error_half", "error_999"))
    np.testing.assert_array_equal(again.model.inverse(*states), small.model.inverse(*states))


def test_reduce_stops(two_link):
    """The best so far, or why there is none yet."""
    with pytest.raises(psdm.PsdmError) as error:
        psdm.Robot.shipped("kuka_kr6").reduce(samples=10**9, progress=lambda doing, share: False)
    assert error.value.status == "PSDM_E_STOPPED"
    began = time.monotonic()
    small = two_link.reduce(samples=4 * 10**9, progress=lambda doing, share: time.monotonic() < began + 2)
    assert not small.good and small.interrupted and small["interrupted"] and small.model.p == small.p


def test_robot_with_options_goes_to_the_command(rng):
    robot = psdm.Robot.load(psdm.shipped_robots()["kuka_kr6"], gravity=[0, 0, 0], lock={"A4": 0.1})
    run = robot.simulate(0.1)
    assert run.q.shape[1] == 5 and np.max(np.abs(run.q)) == 0  # nothing pulls
    heavy = psdm.Robot.shipped("two_link").with_parameters({"mx1": 3.0})
    np.testing.assert_allclose(heavy.simulate(0.01, control="pd-gravity").tau[0], heavy.gravity([0, 0]), rtol=1e-9)


def interrupted(program: str, ready: Callable[[], bool], **environment: str) -> list[str]:
    """The words that a Python program prints after a Ctrl-C as a terminal sends it: to all processes of the group."""
    program = f"import signal, psdm\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{program}"
    python = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while not ready() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(python.pid, signal.SIGINT)
        said, complaints = python.communicate(timeout=60)
    finally:
        python.kill()
    assert said, complaints
    return said.split()


def test_interrupt(tmp_path):
    """A simulation ends with what there is until then."""
    program = f"""
import pathlib
run = psdm.Robot.shipped("two_link").simulate(1e7, output=100, progress=lambda doing, share: pathlib.Path({str(tmp_path / "ready")!r}).touch())
print(run.good, run.interrupted, run.t.size > 1 and run.t[-1] < 1e7)
"""
    assert interrupted(program, (tmp_path / "ready").exists) == ["False", "True", "True"]


def test_excite_interrupt(tmp_path):
    """A search ends with the best until then, which keeps all limits."""
    program = f"""
import pathlib
def ready(doing, share):
    if "condition number" in doing:
        pathlib.Path({str(tmp_path / "ready")!r}).touch()
motion = psdm.Robot.shipped("two_link").excite(seconds=5, starts=1000, evaluations=100000, wall=300, progress=ready)
print(motion.good, motion["interrupted"], motion.interrupted, motion.t[-1], motion.worst <= 1)
"""
    assert interrupted(program, (tmp_path / "ready").exists) == ["False", "True", "True", "5.0", "True"]


def test_progress(two_link):
    said: list[tuple[str, float | None]] = []

    def stop_soon(doing: str, share: float | None) -> bool:
        said.append((doing, share))
        return len(said) < 3

    run = two_link.simulate(1e7, output=100, progress=stop_soon)
    assert not run.good and run.interrupted and len(said) == 3
    assert said[-1][0].endswith("s simulated") and 0 <= said[-1][1] < 1
    with pytest.raises(ZeroDivisionError):
        two_link.simulate(1e7, output=100, progress=lambda doing, share: 1 / 0)
    motion = two_link.excite(seconds=5, starts=1000, evaluations=100000, wall=300, progress=lambda doing, share: "condition number" not in doing)
    assert not motion.good and motion.interrupted and motion["stopped"] and motion.q.shape == (501, 2)


def test_jobs_need_no_other_process(two_link, alone):
    assert two_link.simulate(0.1, log=True).log["tau"].shape == (11, 2)
    with pytest.raises(psdm.PsdmError, match="contrl.*did you mean 'control'") as error:
        two_link.simulate(1, contrl="pd")
    assert two_link.excite("gravity").tau.shape[1] == 2
    with pytest.raises(psdm.PsdmError, match="^`levels` needs `for = friction`$") as error:
        two_link.excite(levels=3)
    assert error.value.status == "PSDM_E_SETTING"


def test_facts(two_link, alone):
    """What the other commands answer."""
    assert two_link.facts("inspect", at=[0.1, 0.2])["n"] == 2
    assert two_link.facts("params", symbolic=True)["l"] == 6
    derived, still = two_link.facts("derive"), two_link.facts("derive", gravity=[0, 0, 0])
    assert derived.good and derived["p"] == two_link.derive().p > still["p"] == psdm.Robot.load(psdm.shipped_robots()["two_link"], gravity=[0, 0, 0]).derive().p
    whole = two_link.analyze(points=2000)
    assert whole.good and not whole.interrupted and whole["bounds"]["mass"]["found"] <= whole["bounds"]["mass"]["bound"]
    with pytest.raises(psdm.PsdmError, match="^analyze has no setting 'poins'; did you mean 'points'") as error:
        two_link.analyze(poins=3)
    assert error.value.status == "PSDM_E_SETTING"
    q = np.random.default_rng(4).uniform(-1, 1, (20, 2))
    mass = two_link.facts("eval", function="mass", in_={"q": q})
    assert mass["columns"] == ["M1_1", "M1_2", "M2_1", "M2_2"] and np.array_equal(np.reshape(mass["rows"], (20, 2, 2)), two_link.mass(q))
    with pytest.raises(psdm.PsdmError, match="^unknown function 'mas'; did you mean 'mass'"):
        two_link.facts("eval", function="mas", in_={"q": q})
    with pytest.raises(ValueError, match="eval needs in_="):
        two_link.facts("eval", function="mass")
    with pytest.raises(psdm.PsdmError, match="unknown job 'analyse'"):
        two_link.facts("analyse")
    stopped = psdm.Robot.shipped("kuka_kr6").analyze(points=10**9, progress=lambda doing, share: False)
    assert stopped.interrupted and not stopped.good and "these bounds hold" in stopped.words


def test_plan_and_payload_stay_in_the_process(two_link, carried, monkeypatch):
    """Neither a child nor a file that is written."""
    forbidden = {"subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "tempfile.mkstemp", "tempfile.mkdtemp"}
    seen: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching[0] and (event in forbidden or (event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))):
            seen.append(f"{event} {arguments}")

    robot, _, log = carried
    t = np.linspace(0, 1, 51)
    path = {"t": t, "q": np.outer(t * t * (3 - 2 * t), [1.0, 0.5])}
    monkeypatch.setenv("PSDM", "/nowhere/psdm")
    monkeypatch.setenv("TMPDIR", "/nowhere")
    sys.addaudithook(watch)
    try:
        assert two_link.plan("time", trajectory=path, effort=[60, 20], velocity=3).good
        assert two_link.plan("scale", trajectory=path, velocity=0.5).good
        assert robot.payload(log).to_yaml()
    finally:
        watching[0] = False
    assert seen == []


def test_interrupt_without_a_best_so_far(tmp_path):
    """Ctrl-C where no answer is left is Python's own."""
    program = f"""
import pathlib
path = {{"t": [0.0, 1.0], "q": [[0, 0], [1, 0.5]]}}
try:
    psdm.Robot.shipped("two_link").plan("scale", trajectory=path, velocity=0.5, output=1e-6, progress=lambda doing, share: pathlib.Path({str(tmp_path / "ready")!r}).touch())
except KeyboardInterrupt:
    print("interrupted")
"""
    assert interrupted(program, (tmp_path / "ready").exists) == ["interrupted"]


def test_linearize(two_link, alone):
    """Points from arrays: the matrices of state_space."""
    t, (q, qd, qdd) = np.arange(5) / 10, np.random.default_rng(3).uniform(-1, 1, (3, 5, 2))
    found = two_link.facts("linearize", at={"t": t, "q": q, "qd": qd, "qdd": qdd}, lqr=True)
    assert found.good and [point["t"] for point in found["points"]] == t.tolist()
    for k, point in enumerate(found["points"]):
        system = two_link.state_space(q[k], qd[k], qdd[k])
        np.testing.assert_array_equal(point["A"], system.A)
        np.testing.assert_array_equal(point["B"], system.B)
        assert point["lqr"]["outcome"] == "ok"
    lost = two_link.facts("linearize", at={"tau": [[500.0, 0.0]]}, equilibrium=True)
    assert not lost.good and "no q was found that these torques hold" in lost.words
    with pytest.raises(psdm.PsdmError, match="column 'q2' is missing") as error:
        two_link.facts("linearize", at={"q1": [0.1]})
    assert error.value.status == "PSDM_E_PARSE"


def test_system_calls(tmp_path):
    """All of it, looked at by strace: no child but the plotter, nothing written but what is asked for."""
    if not shutil.which("strace") or subprocess.run(["strace", "-o", tmp_path / "trial", "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace is missing, or may not trace here")
    program = """
import psdm
robot = psdm.Robot.shipped("two_link")
run = robot.simulate(1, control="computed-torque", reference="fourier", log=True, log_rate=100, no_code=True)
results = [robot.facts("inspect"), robot.facts("derive"), robot.facts("params"), robot.analyze(points=1000), robot.reduce(samples=1000), run]
results += [robot.excite("gravity", seconds=20), robot.facts("linearize", at={"q": [[0.1, 0.2]]})]
assert psdm.Robot.from_tables([[0.5, 0, 0, 0]]).to_yaml()
psdm.report(results, "page.html", gnuplot="true")
"""
    calls = tmp_path / "calls"
    subprocess.run(["strace", "-f", "-e", "trace=execve,open,openat,creat,mkdir,mkdirat,memfd_create", "-o", calls, sys.executable, "-W", "ignore", "-B", "-c", program], check=True,
                   cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"})
    lines = [line for line in calls.read_text().splitlines() if "ENOENT" not in line]
    started = [line.split('"')[1].rsplit("/", 1)[-1] for line in lines if " execve(" in line]
    assert set(started[1:]) == {"true"}, started
    written = [line.split('"')[1] for line in lines if any(mark in line for mark in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TMPFILE", " creat(", " mkdir"))]
    assert {path.split(".part-")[0] for path in written if path not in ("/dev/null", "/dev/tty")} == {"page.html"}, written


def test_interrupt_without_an_answer():
    """Ctrl-C before there is anything."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            psdm.Robot.shipped("kuka_lbr7").reduce(samples=10**9)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_report(two_link, run, tmp_path, tool):
    """The page is that of the command for the same results as files."""
    found = two_link.calibrate(run.log, holdout=0.3, plain_friction=True, estimator="wls")
    results = [two_link.facts("derive"), two_link.facts("inspect"), run, found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # plots are missing where gnuplot is
        page = psdm.report(results, tmp_path / "report.html", title="Two links")
    assert page == str(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.lstrip().lower().startswith("<!doctype html") and "two_link" in text
    files = []
    for k, result in enumerate(results):
        stem = tmp_path / f"{k + 1}-{result['command']}"
        result.to_json(f"{stem}.json")
        files.append(f"{stem}.json")
        if result.rows:
            names = [name if values.ndim == 1 else f"{name}{axis + 1}" for name, values in result.rows.items() for axis in range(values[0].size)]
            table = np.hstack([values.reshape(len(values), -1) for values in result.rows.values()])
            np.savetxt(f"{stem}.csv", table, fmt="%.17g", delimiter=",", header=",".join(names), comments="")
            files.append(f"{stem}.csv")
    subprocess.run([tool, "report", *files, "--out", tmp_path / "files.html", "--title", "Two links"], capture_output=True, check=False)
    assert (tmp_path / "files.html").read_bytes() == (tmp_path / "report.html").read_bytes()


def test_report_of_files(two_link, tmp_path, alone):
    """A robot's file, and what the page lacks."""
    path, page = tmp_path / "robot.yaml", tmp_path / "page.html"
    path.write_text(two_link.to_yaml())
    with pytest.warns(UserWarning, match="'/nowhere/gnuplot' cannot be run"):
        psdm.report(path, page, gnuplot="/nowhere/gnuplot")
    assert "Base parameters" in page.read_text() or "base parameters" in page.read_text()
    with pytest.raises(psdm.PsdmError, match="none.json") as error:
        psdm.report(tmp_path / "none.json", page)
    assert error.value.status == "PSDM_E_IO"
    with pytest.raises(psdm.PsdmError, match="would overwrite") as error:
        psdm.report([path, two_link.facts("derive")], path)
    assert error.value.status == "PSDM_E_IO"
    with pytest.raises(psdm.PsdmError, match="not a result") as error:
        psdm.report(psdm.Result(two_link, {"n": 2}), page)
    assert error.value.status == "PSDM_E_PARSE"


def test_report_stops(two_link, tmp_path):
    """While it is drawn: the page has the plots until then."""
    said: list[str] = []

    def stop(doing: str, share: float | None) -> bool:
        said.append(doing)
        return False

    sleepy = tmp_path / "gnuplot"
    sleepy.write_text("#!/bin/sh\nsleep 5\n")
    sleepy.chmod(0o755)
    with pytest.warns(UserWarning, match="missing"):
        psdm.report(two_link.facts("derive"), tmp_path / "page.html", gnuplot=sleepy, progress=stop)
    assert said == ["drawing plots"] and (tmp_path / "page.html").exists()
