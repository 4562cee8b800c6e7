"""Calibration in the process: arrays beside the command's files, steps that go on, stops, refusals, no child and no file."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cli
import numpy as np
import psdm
import pytest
from test_commands import interrupted

QUICK = {"holdout": 0.3, "plain_friction": True, "estimator": "wls"}


@pytest.fixture(scope="module")
def run(two_link):
    return two_link.simulate(5, control="computed-torque", reference="fourier", initial="reference", log=True, log_rate=200, log_noise=0.001)


@pytest.fixture(scope="module")
def slow(two_link):
    """A log for gravity: there and back."""
    motion = two_link.excite("gravity", seconds=20)
    return two_link.simulate(inverse=True, reference=motion, log=True, log_rate=100).log


@pytest.fixture(scope="module")
def fast(two_link):
    return two_link.simulate(5, inverse=True, reference="fourier", log=True, log_rate=100).log


def write_log(path: pathlib.Path, log: dict[str, np.ndarray]) -> None:
    cli.write_csv(str(path), {name: log[name] for name in ("t", "q", "tau")})


def command(*words: object) -> None:
    subprocess.run([psdm.executable(), *map(str, words)], check=True, capture_output=True)


def test_arrays_are_the_commands_files(two_link, run, tmp_path):
    """To the last bit: parameters, rows, figures."""
    robot, log, out, rows = (tmp_path / name for name in ("robot.yaml", "log.csv", "out.yaml", "rows.csv"))
    robot.write_text(two_link.to_yaml())
    write_log(log, run.log)
    command("calibrate", robot, "--log", log, "--holdout", 0.3, "--plain-friction", "--estimator", "wls", "--covariance", "--out", out, "--predict", rows)
    table = cli.read_csv(str(rows))
    for found in (two_link.calibrate(run.log, **QUICK), two_link.calibrate([log], **QUICK)):
        assert found.to_yaml() == out.read_text()
        assert list(table) == list(found.rows) and all(np.array_equal(table[name], found.rows[name]) for name in table)
        assert found.good and not found.interrupted and found.robot is two_link
    assert two_link.calibrate(run.log, predict=False, **QUICK).rows == {}


def test_robots_and_parameters(two_link, run):
    """A calibrated robot, a robot's settings, and several logs."""
    found = two_link.calibrate(run.log, **QUICK)
    again = found.calibrated().calibrate([run.log, {name: values[:500] for name, values in run.log.items()}], **QUICK)
    assert again["logs"] == ["log0", "log1"] and again.good
    floating = two_link.calibrate(run.log, gravity=[0, 0, 0], predict=False, **QUICK)
    assert np.array_equal(floating.robot.gravity_vector, [0, 0, 0]) and not floating.good


def test_refuses(two_link, run, slow):
    q, tau = run.log["q"], run.log["tau"]
    for call, status, sentence in (
        (lambda: two_link.calibrate(()), "PSDM_E_SETTING", "missing `log = FILE"),
        (lambda: two_link.calibrate(run.log, holdot=0.3), "PSDM_E_SETTING", "calibrate has no setting 'holdot'; did you mean 'holdout'"),
        (lambda: two_link.calibrate(run.log, holdout=1), "PSDM_E_SETTING", "`holdout` '1': a share from 0 to 0.95"),
        (lambda: two_link.calibrate(run.log, estimator="old"), "PSDM_E_SETTING", "`estimator` 'old': did you mean 'ols'"),
        (lambda: two_link.calibrate(run.log, estimator="ols", urdf="a.urdf"), "PSDM_E_SETTING", "`urdf` needs `estimator = consistent`"),
        (lambda: two_link.calibrate({"t": run.log["t"], "q": q}), "PSDM_E_PARSE", "log0"),
        (lambda: two_link.calibrate("none.csv"), "PSDM_E_IO", "none.csv: cannot be opened"),
        (lambda: two_link.calibrate_steps([("gravty", slow)]), "PSDM_E_SETTING", "`log` 'gravty:gravty0': did you mean 'gravity:'"),
        (lambda: two_link.calibrate_steps([("gravity", slow, 3.0)]), "PSDM_E_SETTING", "`weight` 'gravity0=3.0': only motor logs have a weight"),
        (lambda: two_link.calibrate_steps([("gravity", slow)], lambda_=2), "PSDM_E_SETTING", "`lambda` cannot be used with `route = steps`: steps have no prior"),
    ):
        with pytest.raises(psdm.PsdmError, match=sentence) as error:
            call()
        assert error.value.status == status, error.value
    with pytest.raises(ValueError, match="needs t"):
        two_link.calibrate({"q": q, "tau": tau})


def test_steps_go_on(two_link, slow, fast, tmp_path):
    """Gravity, then inertia with what the first found, as a result, a text or a file; both at once; and the command."""
    first = two_link.calibrate_steps([("gravity", slow)])
    assert set(first.rows["step"]) == {1.0} and set(first.rows["drive"]) == {1.0, 2.0} and first.rows["measured"].size == first.rows["t"].size
    path = tmp_path / "before.yaml"
    first.to_yaml(path)
    results = [two_link.calibrate_steps([("inertia", fast)], before=before) for before in (first, first.to_yaml(), path)]
    results.append(two_link.calibrate_steps([("inertia", fast)], params=path))
    assert len({found.to_yaml() for found in results}) == 1
    found = results[0]
    assert found["steps"]["gravity"]["from_before"] and found["steps"]["inertia"]["done"] and set(found.rows["step"]) == {3.0}
    together = two_link.calibrate_steps([("gravity", slow), ("inertia", fast)], predict=False)
    np.testing.assert_allclose(together.theta, found.theta, rtol=1e-9, atol=1e-9)
    assert found.calibrated().ready and found.covariance.shape[0] == 2 + found.theta.size + 16
    # the finished robot goes on with what it has
    more = found.calibrated().calibrate_steps([("inertia", fast)], predict=False)
    assert more["steps"]["gravity"]["from_before"]
    robot, log, out = tmp_path / "robot.yaml", tmp_path / "gravity0", tmp_path / "out.yaml"
    robot.write_text(two_link.to_yaml())
    write_log(log, slow)
    command("calibrate", robot, "--route", "steps", "--log", f"gravity:{log}", "--out", out)
    assert first.to_yaml() == out.read_text()
    assert two_link.calibrate_steps([("gravity", log)], predict=False).to_yaml() == out.read_text()


def test_weights(two_link):
    """Motor logs with a known mass, as arrays: factors of torques that are right are one."""
    motion = two_link.excite("motor", mass=3, com=(0.1, 0, 0), speed=0.2)
    words = {"inverse": True, "reference": motion, "log": True, "log_rate": 100}
    empty = two_link.simulate(**words).log
    last = [name for name in two_link.parameter_names if name.endswith("2")]
    body = psdm.load_to_standard(3, [0.1, 0, 0])
    heavy = two_link.with_parameters({name: two_link.parameters[two_link.parameter_names.index(name)] + x for name, x in zip(last, body)})
    loaded = heavy.simulate(**words).log
    found = two_link.calibrate_steps([("motor", empty), ("motor", loaded, (3, 0.1, 0, 0))])
    assert [log.get("mass") for log in found["logs"]] == [None, 3] and found["logs"][1]["path"] == "motor1"
    np.testing.assert_allclose([joint["constant"] for joint in found["steps"]["motor"]["joints"]], 1, atol=1e-3)


def test_progress(two_link, run):
    """A stop keeps the best so far; before the logs are read there is nothing."""
    log = {name: np.concatenate([values + (k * 5.1 if name == "t" else 0) for k in range(40)]) for name, values in run.log.items()}
    said: list[str] = []

    def stop(doing: str, share: float | None) -> bool:
        said.append(doing)
        return "reading" in doing

    found = two_link.calibrate(log, progress=stop)
    assert found.interrupted and not found.good and found.stopped and found.names == two_link.params().names
    assert "interrupted during the cross-validation: this is the best so far" in found.words
    assert found.calibrated().ready and 0 < len(found.rows["tau"]) <= log["t"].size
    with pytest.raises(ZeroDivisionError):
        two_link.calibrate(log, progress=lambda doing, share: 1 / 0)


def test_interrupt(tmp_path):
    """Ctrl-C ends a calibration with the best so far."""
    program = f"""
import pathlib
import numpy as np
robot = psdm.Robot.shipped("kuka_kr6")
log = robot.simulate(30, inverse=True, reference="fourier", period=5, to=[0, -1, 1, 0, 0.5, 0], log=True, log_rate=500).log
log = {{name: np.concatenate([values + (k * 30.1 if name == "t" else 0) for k in range(20)]) for name, values in log.items()}}
def ready(doing, share):
    if "reading" not in doing:
        pathlib.Path({str(tmp_path / "ready")!r}).touch()
found = robot.calibrate(log, holdout=0.3, predict=False, progress=ready)
print(found.good, found.interrupted, found.stopped, found.heldout["global_rel"] < 0.5, found.to_yaml().startswith("format: psdm-parameters-1"))
"""
    assert interrupted(program, (tmp_path / "ready").exists) == ["False", "True", "True", "True", "True"]


def test_checkpoint(two_link, run, tmp_path):
    """Parts are gone once the answer is there."""
    folder = tmp_path / "parts"
    assert two_link.calibrate(run.log, checkpoint=folder, predict=False, **QUICK).good
    assert folder.is_dir() and not list(folder.iterdir())


def test_report(two_link, run, slow, tmp_path):
    page = tmp_path / "report.html"
    psdm.report([two_link.calibrate(run.log, **QUICK), two_link.calibrate_steps([("gravity", slow)])], page)
    assert "two_link" in page.read_text()


def test_stays_in_the_process(two_link, run, slow, monkeypatch):
    """Neither a child nor a file that is written."""
    forbidden = {"subprocess.Popen", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "tempfile.mkstemp", "tempfile.mkdtemp"}
    seen: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if watching[0] and (event in forbidden or (event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))):
            seen.append(f"{event} {arguments}")

    monkeypatch.setenv("PSDM", "/nowhere/psdm")
    monkeypatch.setenv("TMPDIR", "/nowhere")
    monkeypatch.setattr(tempfile, "TemporaryDirectory", None)
    sys.addaudithook(watch)
    try:
        assert two_link.calibrate(run.log, **QUICK).good
        assert two_link.calibrate_steps([("gravity", slow)]).covariance.size
    finally:
        watching[0] = False
    assert seen == []


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed (Debian's strace)")
def test_the_kernel_sees_no_child_and_no_file(tmp_path):
    """The same of the library's own calls."""
    program = """
import os
robot = psdm.Robot.shipped("two_link")
log = robot.simulate(4, inverse=True, reference="fourier", log=True, log_rate=100).log
os.path.exists("/from/here")
found = robot.calibrate(log, holdout=0.3)
os.path.exists("/to/here")
print(found.verdict)
"""
    trace = tmp_path / "trace"
    words = ["strace", "-f", "-o", str(trace), "-e", "trace=execve,execveat,fork,vfork,clone,clone3,open,openat,creat,mkdir,mkdirat,stat,newfstatat"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("strace may not trace here")
    environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*words, sys.executable, "-c", f"import psdm\n{program}"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip(), done.stderr
    lines = trace.read_text().splitlines()
    begin, end = (next(k for k, line in enumerate(lines) if where in line) for where in ("/from/here", "/to/here"))
    calls = [line for line in lines[begin + 1:end] if re.search(r"exec|fork|creat|mkdir|O_WRONLY|O_RDWR|O_CREAT", line) or ("clone" in line and "CLONE_THREAD" not in line)]
    assert end > begin and [line for line in calls if "resumed" not in line and "/dev/null" not in line] == []
