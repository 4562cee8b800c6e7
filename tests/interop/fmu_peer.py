"""A generated FMU inside FMPy: the description is valid, co-simulation takes the same Runge-Kutta steps as psdm simulate, model exchange has the same derivatives."""

import ctypes
import pathlib
import tempfile

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.validation import validate_fmu

from peer import EPSILON, evaluate, expect, expect_below, finish, make, random, read_table, robot, tool, write_table


def build(folder, name, *options):
    tool("codegen", robot(name), "--out", folder, "--prefix", "arm", "--effort", 0, "--functions", "forward", "--wrap", "fmu", *options)
    make(folder, "fmu")
    return str(pathlib.Path(folder) / "arm.fmu")


def start(kind, path, values=()):
    """An instance, initialised; and the value references by name."""
    description = fmpy.read_model_description(path)
    unpacked = fmpy.extract(path)
    which = description.coSimulation if kind is FMU2Slave else description.modelExchange
    fmu = kind(guid=description.guid, unzipDirectory=unpacked, modelIdentifier=which.modelIdentifier, instanceName="arm")
    reference = {v.name: v.valueReference for v in description.modelVariables}
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    for name, value in dict(values).items():
        fmu.setReal([reference[name]], [value])
    fmu.exitInitializationMode()
    return fmu, reference


def vector(fmu, reference, key, n):
    return np.array(fmu.getReal([reference[f"{key}[{k + 1}]"] for k in range(n)]))


def starts(q, qd):
    return {f"q_start[{k + 1}]": x for k, x in enumerate(q)} | {f"qd_start[{k + 1}]": x for k, x in enumerate(qd)}


def simulate(name):
    """Free motion, and motion under constant torques, in steps of 1 ms."""
    print(f"{name}: co-simulation beside psdm simulate")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = build(folder, name)
        problems = validate_fmu(path)
        expect_below("problems that FMPy finds in it: " + "; ".join(problems), len(problems), 0)
        description = fmpy.read_model_description(path)
        n = sum(v.name.startswith("tau[") for v in description.modelVariables)
        q, qd = random.uniform(-0.5, 0.5, n), random.uniform(-0.5, 0.5, n)
        tau = random.uniform(-0.2, 0.2, n) + evaluate_one(folder, name, "gravity", q)
        write_table(folder / "initial.csv", q=q[None], qd=qd[None])
        torques = np.column_stack([[0.0, 1.0], np.vstack([tau, tau])])
        np.savetxt(folder / "torques.csv", torques, delimiter=",", header=",".join(["t"] + [f"tau{k + 1}" for k in range(n)]), comments="", fmt="%.17g")
        tool("simulate", robot(name), "--time", 0.3, "--initial", folder / "initial.csv", "--integrator", "rk4", "--step", 0.001, "--output", 0.01,
             "--control", "torque", "--torque", folder / "torques.csv", "--out", folder / "motion.csv")
        names, rows = read_table((folder / "motion.csv").read_text())
        fmu, reference = start(FMU2Slave, path, starts(q, qd))
        fmu.setReal([reference[f"tau[{k + 1}]"] for k in range(n)], list(tau))
        got = [np.hstack([vector(fmu, reference, key, n) for key in ("q", "qd")])]
        for k in range(len(rows) - 1):
            fmu.doStep(k * 0.01, 0.01)
            got.append(np.hstack([vector(fmu, reference, key, n) for key in ("q", "qd")]))
        columns = [names.index(f"{key}{k + 1}") for key in ("q", "qd") for k in range(n)]
        # the same formula with sums in another order: rounding, carried through some hundred steps
        expect("q, qd after each 10 steps", got, rows[:, columns], 1e5 * EPSILON)
        expect("qdd", vector(fmu, reference, "qdd", n), accelerations(folder, name, got[-1], tau), 1e6 * EPSILON)
        kept = fmu.getFMUstate()
        fmu.doStep(0.3, 0.05)
        first = vector(fmu, reference, "q", n)
        fmu.setFMUstate(kept)
        fmu.doStep(0.3, 0.05)
        expect("the same again from a saved state", vector(fmu, reference, "q", n), first, 0)
        data = fmu.serializeFMUstate(kept)
        fmu.setFMUstate(fmu.deSerializeFMUstate(data))
        fmu.doStep(0.3, 0.05)
        expect("and from bytes", vector(fmu, reference, "q", n), first, 0)
        fmu.freeFMUstate(kept)
        fmu.terminate()
        fmu.freeInstance()
        exchange(folder, name, path, q, qd, tau)


def evaluate_one(folder, name, function, q):
    write_table(folder / "one.csv", q=np.atleast_2d(q))
    return evaluate(name, function, folder / "one.csv")[0]


def accelerations(folder, name, state, tau, *options):
    n = len(tau)
    write_table(folder / "one.csv", q=state[None, :n], qd=state[None, n:], tau=tau[None])
    return evaluate(name, "forward", folder / "one.csv", *options)[0]


def exchange(folder, name, path, q, qd, tau):
    """Derivatives and directional derivatives at a state, and FMPy's own integrator through the model-exchange interface."""
    n = len(q)
    fmu, reference = start(FMU2Model, path, starts(q, qd))
    fmu.enterContinuousTimeMode()
    fmu.setReal([reference[f"tau[{k + 1}]"] for k in range(n)], list(tau))
    x, dx = np.zeros(2 * n), np.zeros(2 * n)
    pointer = lambda a: a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    fmu.getContinuousStates(pointer(x), 2 * n)
    fmu.getDerivatives(pointer(dx), 2 * n)
    expect("states", x, np.hstack([q, qd]), 0)
    expect("derivatives", dx, np.hstack([qd, accelerations(folder, name, x, tau)]), 1e5 * EPSILON)
    unknown = [reference[f"qdd[{k + 1}]"] for k in range(n)]
    known = [reference[f"{key}[{k + 1}]"] for key in ("q", "qd", "tau") for k in range(n)]
    write_table(folder / "one.csv", q=q[None], qd=qd[None], tau=tau[None])
    linear = evaluate(name, "linearize-forward", folder / "one.csv")[0].reshape(3, n, n)
    seed = random.uniform(-1, 1, 3 * n)
    want = sum(linear[k] @ seed[k * n:(k + 1) * n] for k in range(3))
    expect("directional derivatives", fmu.getDirectionalDerivative(unknown, known, list(seed)), want, 1e6 * EPSILON)
    fmu.terminate()
    fmu.freeInstance()
    # FMPy integrates by CVode to about 1e-8: both interfaces agree to that
    both = [fmpy.simulate_fmu(path, fmi_type=kind, stop_time=0.3, output_interval=0.01, relative_tolerance=1e-8, start_values=starts(q, qd),
                              output=[f"q[{k + 1}]" for k in range(n)]) for kind in ("CoSimulation", "ModelExchange")]
    last = [np.array([r[f"q[{k + 1}]"][-1] for k in range(n)]) for r in both]
    expect("model exchange by CVode, and co-simulation", last[1], last[0], 1e-5)


def parameters(name):
    print(f"{name}: gravity, payload, wrench and theta are parameters and inputs")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = build(folder, name, "--gravity-argument", "--payload", "--wrench", "--theta", "argument")
        problems = validate_fmu(path)
        expect_below("problems that FMPy finds in it: " + "; ".join(problems), len(problems), 0)
        fmu, reference = start(FMU2Slave, path, {"gravity[1]": 1.0, "gravity[2]": 2.0, "gravity[3]": -3.0})
        n = sum(key.startswith("tau[") for key in reference)
        want = accelerations(folder, name, np.zeros(2 * n), np.zeros(n), "--gravity", "1,2,-3")
        expect("another gravity", vector(fmu, reference, "qdd", n), want, 1e5 * EPSILON)
        before = vector(fmu, reference, "qdd", n)
        fmu.setReal([reference["payload[1]"]], [1.0])
        expect_below("a payload changes the motion", -np.abs(vector(fmu, reference, "qdd", n) - before).max(), -1e-3)
        fmu.setReal([reference["payload[1]"]], [0.0])
        expect("and removing it restores it", vector(fmu, reference, "qdd", n), before, 0)
        fmu.setReal([reference["wrench[2]"]], [5.0])
        expect_below("a wrench changes the motion", -np.abs(vector(fmu, reference, "qdd", n) - before).max(), -1e-3)
        for key in ("q_start[1]", "qd[1]"):
            try:
                fmu.setReal([reference[key]], [1.0])
                expect_below(f"{key} cannot be set any more", 1, 0)
            except fmpy.fmi1.FMICallException:
                expect_below(f"{key} cannot be set any more", 0, 0)
        fmu.terminate()
        fmu.freeInstance()


for each in ("kuka_kr6", "fanuc_sr6ia", "two_branch"):
    simulate(each)
parameters("two_link")
finish("FMPy")
