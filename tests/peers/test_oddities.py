"""Who reads what: the table of docs/peers.md."""

import os
import subprocess

import numpy as np
import pytest

import judges
import oddities
import tool
from cases import SCRATCH


def path_of(name):
    path = SCRATCH / f"odd{list(oddities.FILES).index(name)}.urdf"
    path.write_text(oddities.FILES[name][0])
    return path


@pytest.fixture(scope="session")
def kdl_parser():
    """{name: reads}, through a program of ten lines; needs libkdl-parser-dev."""
    program = SCRATCH / "kdl_parser_reads"
    source = os.path.join(os.path.dirname(__file__), "kdl_parser_reads.cpp")
    libraries = ["-lkdl_parser", "-lorocos-kdl", "-lurdf", "-lurdfdom_model"]
    if subprocess.run(["g++", "-I/usr/include/eigen3", source, "-o", program, *libraries], capture_output=True).returncode:
        return None
    answer = subprocess.run([program, *map(path_of, oddities.FILES)], capture_output=True, text=True, check=True).stdout.split()
    return {name: word == "reads" for name, word in zip(oddities.FILES, answer)}


def reads(peer, path):
    if peer == "psdm":
        done = tool.run("inspect", path)
        assert done.returncode in (0, 3) and (done.returncode == 0 or f"{path}" in done.stderr), done.stderr
        return done.returncode == 0
    try:
        judges.pin.buildModelFromUrdf(str(path)) if peer == "pinocchio" else judges.mujoco.MjModel.from_xml_path(str(path))
        return True
    except (ValueError, RuntimeError):
        return False


@pytest.mark.parametrize("peer", ["psdm", "pinocchio", "mujoco", "kdl"])
@pytest.mark.parametrize("name", oddities.FILES)
def test_reads(name, peer, need, kdl_parser):
    expected = peer in oddities.FILES[name][1].split()
    if peer == "kdl":
        if kdl_parser is None:
            pytest.skip("PEER MISSING: kdl_parser (Debian's libkdl-parser-dev and g++)")
        assert kdl_parser[name] == expected
        return
    if peer != "psdm":
        need(peer)
    assert reads(peer, path_of(name)) == expected


# ---- differences in reading ----

def test_mass_from_shapes(need):
    """A link with a shape but no <inertial>: MuJoCo computes its mass from the shape, in psdm it is unknown."""
    need("mujoco")
    path = path_of("no <inertial>, but a <collision>")
    assert judges.mujoco.MjModel.from_xml_path(str(path)).body("lower").mass[0] == 1000
    assert "'lower'" in tool.run("inspect", path).stderr and tool.run("eval", path, "gravity", text="q1,q2\n0,0\n").returncode == 3
    assert tool.inspect(path)["parameters"]["m2"] == 0  # --missing-inertia zero


def test_mimic_degrees_of_freedom(need):
    """psdm couples; Pinocchio does on request; MuJoCo keeps the joint and adds a soft constraint."""
    path = path_of("mimic")
    assert tool.inspect(path)["n"] == 2
    need("pinocchio")
    assert judges.pin.buildModelFromUrdf(str(path)).nv == 3
    assert judges.pin.buildModelFromXML(oddities.FILES["mimic"][0], True).nv == 2
    need("mujoco")
    model = judges.mujoco.MjModel.from_xml_path(str(path))
    assert model.nv == 3 and model.neq == 1


def test_negative_mass(need):
    """psdm warns and computes with it; Pinocchio's sum of inertias fails."""
    need("pinocchio")
    path = path_of("negative mass")
    assert "mass is negative" in tool.run("inspect", path).stderr
    ours = tool.evaluate(path, "mass", {"q": np.zeros((1, 2))})[0, 3]
    assert abs(ours - (0.01 - 0.1 ** 2)) < 1e-15
    model = judges.pin.buildModelFromUrdf(str(path))
    assert abs(judges.pin.crba(model, model.createData(), np.zeros(2))[1, 1]) > 1e10


def test_zero_axis(need):
    """Pinocchio reads a joint without a direction as one without any torque."""
    need("pinocchio")
    model = judges.pin.buildModelFromUrdf(str(path_of("zero axis")))
    assert judges.pin.crba(model, model.createData(), np.zeros(2))[1, 1] == 0


def test_not_a_number(need):
    """MuJoCo reads NaN, and everything becomes NaN."""
    need("mujoco")
    model = judges.mujoco.MjModel.from_xml_path(str(path_of("NaN")))
    assert np.isnan(model.body("lower").pos).any()
