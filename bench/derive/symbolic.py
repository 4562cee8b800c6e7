#!/usr/bin/env python3
"""The symbolic line of the plot: Lagrange's equations of the first n links of the KR6 in SymPy, seconds per n, one line each.
usage: symbolic.py MOST SECONDS: stops before a chain that would take longer than SECONDS, estimated from the one before."""
import sys
import time

import sympy as sp

ROWS = [(0.183, 0.025, -sp.pi / 2), (0, -0.315, 0), (0, -0.035, sp.pi / 2), (0.365, 0, -sp.pi / 2), (0, 0, sp.pi / 2), (0.080, 0, 0)]


def transform(q, d, a, alpha):
    c, s, ca, sa = sp.cos(q), sp.sin(q), sp.cos(alpha), sp.sin(alpha)
    return sp.Matrix([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])


def torques(n):
    q, qd, qdd = (sp.symbols(f"{name}1:{n + 1}") for name in ("q", "qd", "qdd"))
    T, energy = sp.eye(4), 0
    for k in range(n):
        T = (T * transform(q[k], *(sp.nsimplify(x) for x in ROWS[k]))).applyfunc(sp.expand)
        m, rx, ry, rz, *inertia = sp.symbols(f"m{k} rx{k} ry{k} rz{k} xx{k} xy{k} xz{k} yy{k} yz{k} zz{k}")
        p = (T * sp.Matrix([rx, ry, rz, 1]))[:3, :]
        v = sp.Matrix([sum(sp.diff(x, q[j]) * qd[j] for j in range(n)) for x in p])
        R = T[:3, :3]
        W = R.T * sum((sp.diff(R, q[j]) * qd[j] for j in range(n)), sp.zeros(3))
        w = sp.Matrix([W[2, 1], W[0, 2], W[1, 0]])
        xx, xy, xz, yy, yz, zz = inertia
        energy += m * v.dot(v) / 2 + (w.T * sp.Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * w)[0] / 2 - m * sp.Rational(981, 100) * p[2]
    energy = sp.expand(energy)
    result = []
    for i in range(n):
        momentum = sp.diff(energy, qd[i])
        rate = sum(sp.diff(momentum, q[j]) * qd[j] + sp.diff(momentum, qd[j]) * qdd[j] for j in range(n))
        result.append(sp.expand(rate - sp.diff(energy, q[i])))
    return result


def main():
    most, limit, before = int(sys.argv[1]), float(sys.argv[2]), 0.0
    for n in range(1, most + 1):
        if before * 20 > limit:
            break
        start = time.perf_counter()
        torques(n)
        before = time.perf_counter() - start
        print(n, f"{before:.3f}", flush=True)


if __name__ == "__main__":
    main()
