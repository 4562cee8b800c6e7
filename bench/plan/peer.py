"""peer.py: the optimal motions of psdm plan through CasADi and Pinocchio: the same pieces, points, limits, weights and solver.

  peer.py INVERSE.casadi time|energy DURATION FROM TO VELOCITY EFFORT PIECES     (lists as a,b,...)

Quintic pieces that share q and qd at nodes and have accelerations of their own at both ends; torques by Pinocchio's inverse dynamics at five Lobatto points of each; exact
derivatives by CasADi; IPOPT with its MUMPS, tolerance 1e-8. Prints a JSON object.
"""
import json, sys, time
import casadi as ca

file, what, duration, *rest = sys.argv[1:]
start, end, velocity, effort = ([float(x) for x in r.split(",")] for r in rest[:4])
pieces, n = int(rest[4]), len(start)
began = time.time()
inverse = ca.Function.load(file)
points = [0, (1 - (3 / 7) ** 0.5) / 2, 0.5, (1 + (3 / 7) ** 0.5) / 2, 1]
weights = [1 / 20, 49 / 180, 16 / 45, 49 / 180, 1 / 20]


def hermite(s, order):
    """values of the derivative of the six quintic basis functions of q0 v0 a0 q1 v1 a1 at s"""
    x = ca.SX.sym("x")
    basis = [1 - 10 * x**3 + 15 * x**4 - 6 * x**5, x - 6 * x**3 + 8 * x**4 - 3 * x**5, (x**2 - 3 * x**3 + 3 * x**4 - x**5) / 2,
             10 * x**3 - 15 * x**4 + 6 * x**5, -4 * x**3 + 7 * x**4 - 3 * x**5, (x**3 - 2 * x**4 + x**5) / 2]
    for _ in range(order):
        basis = [ca.jacobian(b, x) for b in basis]
    return [float(ca.Function("b", [x], [b])(s)) for b in basis]


opti = ca.Opti()
q, v = opti.variable(n, pieces + 1), opti.variable(n, pieces + 1)
left, right = opti.variable(n, pieces), opti.variable(n, pieces)
T = opti.variable() if what == "time" else float(duration)
h = T / pieces
opti.subject_to(q[:, 0] == start)
opti.subject_to(q[:, -1] == end)
opti.subject_to(v[:, 0] == 0)
opti.subject_to(v[:, -1] == 0)
energy = 0
for k in range(pieces):
    knot = (q[:, k], v[:, k] * h, left[:, k] * h**2, q[:, k + 1], v[:, k + 1] * h, right[:, k] * h**2)
    for s, w in zip(points, weights):
        z = [sum(b * c for b, c in zip(hermite(s, order), knot)) / h**order for order in range(3)]
        tau = inverse(*z) / effort
        opti.subject_to(opti.bounded(-1, tau, 1))
        if 0 < s < 1:
            opti.subject_to(opti.bounded(-1, z[1] / velocity, 1))
        energy += h * w * ca.sumsqr(tau)
    opti.subject_to(opti.bounded(-1, v[:, k] / velocity, 1))
opti.minimize(T if what == "time" else energy)
# quintic from rest to rest
T0 = max(max(abs(b - a) * 1.875 / s for a, b, s in zip(start, end, velocity)), 0.3) if what == "time" else float(duration)
if what == "time":
    opti.subject_to(T >= 0.01)
    opti.set_initial(T, T0)
for k in range(pieces + 1):
    s = k / pieces
    for i in range(n):
        d = end[i] - start[i]
        opti.set_initial(q[i, k], start[i] + d * (10 * s**3 - 15 * s**4 + 6 * s**5))
        opti.set_initial(v[i, k], d * (30 * s**2 - 60 * s**3 + 30 * s**4) / T0)
        for a, at in ((left, k), (right, k - 1)):
            if 0 <= at < pieces:
                opti.set_initial(a[i, at], d * (60 * s - 180 * s**2 + 120 * s**3) / T0**2)
opti.solver("ipopt", {"print_time": False, "expand": True}, {"print_level": 0, "sb": "yes", "tol": 1e-8, "max_iter": 3000})
built = time.time()
try:
    solution, words = opti.solve(), "solved"
except RuntimeError as error:
    solution, words = opti.debug, str(error).splitlines()[-1][:80]
done = time.time()
seconds = float(solution.value(T)) if what == "time" else T
print(json.dumps({"seconds": seconds, "objective": float(solution.value(opti.f)), "energy": float(solution.value(energy)), "build": built - began, "solve": done - built,
                  "iterations": opti.stats()["iter_count"], "words": words}))
