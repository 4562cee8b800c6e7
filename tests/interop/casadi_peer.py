"""Generated functions inside CasADi: values, sparsity, derivatives, threads, and an optimisation through them."""

import pathlib
import tempfile

import casadi as ca
import numpy as np

from peer import EPSILON, evaluate, expect, expect_below, finish, make, random, robot, tool, write_table

STATES = 8
# straight-line code and recursions differ by the rounding of some thousand operations, whose errors add up like a walk
TOLERANCE = 1e3 * EPSILON
FUNCTIONS = "inverse,gravity,bias,mass,forward,regressor,energy,jacobian,pose,inverse_mass"


def library(folder, name, *options):
    tool("codegen", robot(name), "--out", folder, "--prefix", "arm", "--effort", 0, "--wrap", "casadi", *options)
    make(folder, "casadi")
    return str(pathlib.Path(folder) / "libarm_casadi.so")


def states(folder, n):
    x = {key: random.uniform(-2, 2, (STATES, n)) for key in ("q", "qd", "qdd")}
    path = pathlib.Path(folder) / "states.csv"
    write_table(path, **x)
    return x, path


def over(function, *inputs):
    """All outputs at all states, row-major: (states x numbers)."""
    rows = []
    for k in range(len(inputs[0])):
        out = function(*(x[k] for x in inputs))
        rows.append(np.hstack([np.array(ca.DM(m).full()).ravel() for m in (out if isinstance(out, tuple) else (out,))]))
    return np.array(rows)


def differences(function, inputs, which, step):
    """Central differences by one input: (outputs x its length), of the first output."""
    columns = []
    for k in range(len(inputs[which])):
        moved = [[np.array(x, float) for x in inputs] for _ in range(2)]
        moved[0][which][k] += step
        moved[1][which][k] -= step
        plus, minus = (np.array(ca.DM(function(*x)).full()).ravel() for x in moved)
        columns.append((plus - minus) / (2 * step))
    return np.array(columns).T


def values(name):
    print(f"{name}: values and derivatives")
    with tempfile.TemporaryDirectory() as folder:
        path = library(folder, name, "--functions", FUNCTIONS)
        f = {key: ca.external(key, path) for key in FUNCTIONS.split(",") + ["linearize_inverse", "linearize_forward"]}
        n = f["inverse"].size1_in("q")
        x, table = states(folder, n)
        q, qd, qdd = x["q"], x["qd"], x["qdd"]
        tau = evaluate(name, "inverse", table)
        write_table(table, **x, tau=tau)
        expect("inverse", over(f["inverse"], q, qd, qdd), tau, TOLERANCE)
        expect("gravity", over(f["gravity"], q), evaluate(name, "gravity", table), TOLERANCE)
        expect("bias", over(f["bias"], q, qd), evaluate(name, "bias", table), TOLERANCE)
        expect("mass", over(f["mass"], q), evaluate(name, "mass", table), TOLERANCE)
        expect("regressor", over(f["regressor"], q, qd, qdd), evaluate(name, "regressor", table), TOLERANCE)
        expect("jacobian", over(f["jacobian"], q), evaluate(name, "jacobian", table), TOLERANCE)
        expect("pose", over(f["pose"], q), evaluate(name, "pose", table), TOLERANCE)
        # potential energy has any reference height
        energy, truth = over(f["energy"], q, qd), evaluate(name, "energy", table)
        expect("energy", energy - [0, energy[0, 1] - truth[0, 1]], truth, TOLERANCE)
        # results through the inverse of M lose accuracy by its condition number
        mass = evaluate(name, "mass", table).reshape(STATES, n, n)
        condition = max(np.linalg.cond(m) for m in mass)
        expect("forward", over(f["forward"], q, qd, tau), qdd, condition * TOLERANCE)
        expect("inverse_mass", over(f["inverse_mass"], q), [np.linalg.inv(m).ravel() for m in mass], condition * TOLERANCE)
        # CasADi's own derivatives of the functions, beside the linearization of the tool
        by_motion = over(ca.external("inverse", path).jacobian(), q, qd, qdd, tau)
        expect("d inverse", by_motion, evaluate(name, "linearize-inverse", table), TOLERANCE)
        expect("d forward", over(f["forward"].jacobian(), q, qd, tau, qdd), evaluate(name, "linearize-forward", table), condition * TOLERANCE)
        # central differences lose a third of the digits; steps of the cube root of epsilon
        step = EPSILON ** (1 / 3)
        s = ca.MX.sym("q", n), ca.MX.sym("qd", n)
        for key, inputs in (("gravity", [q]), ("bias", [q, qd]), ("pose", [q])):
            symbols = s[: len(inputs)]
            for which in range(len(inputs)):
                exact = ca.Function("d", symbols, [ca.jacobian(f[key](*symbols), symbols[which])])
                at = [x[0] for x in inputs]
                expect(f"d {key} by {'q qd'.split()[which]}", exact(*at).full(), differences(f[key], at, which, step), 1e3 * step**2)
        # structural zeros are not entries
        zeros = np.all(evaluate(name, "regressor", table) == 0, axis=0).reshape(n, -1)
        pattern = np.array(ca.DM(f["regressor"].sparsity_out(0), 1).full()) == 0
        expect("entries that are zero by structure", (pattern & ~zeros).sum(), 0, 0)
        expect("structural zeros are found", pattern.sum() > 0 or not zeros.any(), True, 0)


def arguments(name):
    """Torques are affine in the arguments: a central difference of any step is exact up to rounding."""
    print(f"{name}: theta, gravity and payload as arguments")
    with tempfile.TemporaryDirectory() as folder:
        path = library(folder, name, "--functions", "inverse,gravity,bias,forward", "--theta", "argument", "--gravity-argument", "--payload")
        for key in ("inverse", "gravity", "bias", "forward"):
            f = ca.external(key, path)
            symbols = [ca.MX.sym(f.name_in(k), f.size1_in(k)) for k in range(f.n_in())]
            # bodies of the file, a body at the tool, gravity from the side
            at = {"q": 1, "qd": 1, "qdd": 1, "tau": 10}
            x = [random.uniform(-at.get(f.name_in(k), 0), at.get(f.name_in(k), 0), f.size1_in(k)) for k in range(f.n_in())]
            x[f.name_in().index("theta")] = theta_of(folder)
            x[f.name_in().index("gravity")] = np.array([3.0, -4.0, -8.0])
            x[f.name_in().index("payload")] = np.array([2.0, 0.1, -0.2, 0.3, 0.2, 0.01, 0.02, 0.2, 0.03, 0.1])
            for which in range(f.n_in()):
                exact = ca.Function("d", symbols, [ca.jacobian(f(*symbols), symbols[which])])(*x).full()
                step = EPSILON ** (1 / 3)
                affine = key != "forward" and f.name_in(which) in ("theta", "gravity", "payload", "qdd")
                # accelerations depend on theta inversely to the smallest inertia: compared with differences of a step that is small relative to it
                scale = 1.0 if affine else step * (0.01 if key == "forward" and f.name_in(which) in ("theta", "payload") else 1)
                expect(f"d {key} by {f.name_in(which)}", exact, differences(f, x, which, scale), 1e-11 if affine else 1e-6)


def theta_of(folder):
    """The base parameters that the header lists: theta[0] = formula = value."""
    lines = (pathlib.Path(folder) / "arm.h").read_text().splitlines()
    return np.array([float(line.split(" = ")[-1]) for line in lines if line.startswith(" *   theta[")])


def threads(name):
    print(f"{name}: many threads at once")
    with tempfile.TemporaryDirectory() as folder:
        path = library(folder, name, "--functions", "forward")
        f = ca.external("forward", path)
        n, many = f.size1_in(0), 4000
        x = [ca.DM(random.uniform(-2, 2, (n, many))) for _ in range(3)]
        expect("four threads and one", f.map(many, "thread", 4)(*x).full(), f.map(many, "serial")(*x).full(), 0)


def optimise(name):
    """A swing from rest to rest with the least torque: trapezoids in time, accelerations from the external function, IPOPT."""
    print(f"{name}: an optimal motion through the external function")
    with tempfile.TemporaryDirectory() as folder:
        path = library(folder, name, "--functions", "inverse,forward")
        forward, inverse = ca.external("forward", path), ca.external("inverse", path)
        n, steps, h = forward.size1_in(0), 30, 1.0 / 30
        goal = np.array([1.0, -0.5])
        opti = ca.Opti()
        q, qd, tau = (opti.variable(n, steps + 1) for _ in range(3))
        a = [forward(q[:, k], qd[:, k], tau[:, k]) for k in range(steps + 1)]
        for k in range(steps):
            opti.subject_to(q[:, k + 1] == q[:, k] + h / 2 * (qd[:, k] + qd[:, k + 1]))
            opti.subject_to(qd[:, k + 1] == qd[:, k] + h / 2 * (a[k] + a[k + 1]))
        for end, at in ((0, np.zeros(n)), (steps, goal)):
            opti.subject_to(q[:, end] == at)
            opti.subject_to(qd[:, end] == 0)
        opti.minimize(h * ca.sumsqr(tau))
        opti.set_initial(q, np.linspace(0, 1, steps + 1)[None, :] * goal[:, None])
        for k in range(steps + 1):
            opti.set_initial(tau[:, k], inverse(goal * k / steps, np.zeros(n), np.zeros(n)))
        # second derivatives are not exported: IPOPT estimates them from the first
        opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory", "max_iter": 500, "tol": 1e-8})
        answer = opti.solve()
        q, qd, tau = (answer.value(x) for x in (q, qd, tau))
        residual = [q[:, -1] - goal, qd[:, -1]]
        for k in range(steps):
            acceleration = np.array([forward(q[:, i], qd[:, i], tau[:, i]).full().ravel() for i in (k, k + 1)])
            residual.append(qd[:, k + 1] - qd[:, k] - h / 2 * acceleration.sum(axis=0))
        expect("IPOPT converges", answer.stats()["success"], True, 0)
        expect_below(f"it obeys the dynamics ({answer.stats()['iter_count']} iterations)", np.abs(np.hstack(residual)).max(), 1e-7)


for each in ("kuka_kr6", "fanuc_sr6ia", "two_branch", "parallelogram"):
    values(each)
arguments("fanuc_sr6ia")
threads("kuka_kr6")
optimise("two_link")
finish("CasADi")
