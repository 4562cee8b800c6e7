#!/usr/bin/env python3
"""docs/reproduction.md: what five papers print beside our numbers.

reproduction.py check [--all]   computes the numbers anew and compares the document with them
reproduction.py write           writes the document
reproduction.py times           measures times on this machine: times.json

PSDM is the command. The template, reproduction.md beside this file, has expressions in double braces, of the functions below:
{{x}} must be the same text, {{~x}} the same number within 5 %, {{deep: x}} is compared with --all alone, {{time: x}} comes from times.json.
The functions fail when our number is not what the sentence around them says."""
import itertools
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import printed

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAPER_ROBOTS = ("kuka_kr6", "kuka_lbr7", "fanuc_sr6ia", "two_link")
PLANE = "ry1=0,rz1=0,Ixx1=0,Iyy1=0,Ixy1=0,Ixz1=0,Iyz1=0,ry2=0,rz2=0,Ixx2=0,Iyy2=0,Ixy2=0,Ixz2=0,Iyz2=0"
GRAVITY = 9.81


class Wrong(Exception):
    pass


def agree(condition, claim):
    if not condition:
        raise Wrong(claim)


# ---- the tool ----

work = tempfile.TemporaryDirectory()
answers = {}


def psdm(*words, text=None):
    """a command's standard output; each runs once"""
    if (words, text) not in answers:
        done = subprocess.run([os.environ["PSDM"], *words], input=text, capture_output=True, text=True, cwd=work.name)
        if done.returncode:
            raise Wrong(f"psdm {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        answers[words, text] = done.stdout
    return answers[words, text]


def answer(*words):
    return json.loads(psdm(*words, "--json"))


def robot_of(name):
    """a shipped robot, or a file written before"""
    path = ROOT / "robots" / f"{name}.yaml"
    return str(path) if path.exists() else name


def file_of(name, text):
    path = pathlib.Path(work.name) / name
    if not path.exists():
        path.write_text(text)
    return str(path)


def assumed(robot):
    return ("--assume", PLANE) if robot == "two_link" else ()


def derived(robot):
    return answer("derive", robot_of(robot), *assumed(robot))


def model(robot, *options):
    path = pathlib.Path(work.name) / f"{robot}{len(options)}.json"
    psdm("derive", robot_of(robot), *assumed(robot), *options, "--export", path.name)
    return json.loads(path.read_text())


def evaluated(robot, function, columns, *options):
    """columns: {"q": rows, ...}; the rows of the answer"""
    names = [f"{name}{i + 1}" for name, rows in columns.items() for i in range(len(rows[0]))]
    lines = [",".join(repr(x) for rows in columns.values() for x in rows[k]) for k in range(len(next(iter(columns.values()))))]
    out = psdm("eval", robot_of(robot), function, *options, text="\n".join([",".join(names), *lines]) + "\n")
    return [[float(x) for x in line.split(",")] for line in out.splitlines()[1:]]


def states(n, count, q=math.pi, qd=1.0, qdd=10.0, seed=1):
    draw = random.Random(seed)
    return {key: [[draw.uniform(-x, x) for _ in range(n)] for _ in range(count)] for key, x in (("q", q), ("qd", qd), ("qdd", qdd))}


def norm(row):
    return math.sqrt(sum(x * x for x in row))


def distance(a, b):
    return max(norm([x - y for x, y in zip(r, s)]) for r, s in zip(a, b)) / max(map(norm, b))


def below(value, bound):
    agree(value < bound, f"{value} is not below {bound}")
    digits, power = f"{bound:.0e}".split("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"below {'' if digits == '1' else digits + '·'}10{raised}"


def grouped(n):
    return f"{n:,.0f}"


# ---- Lloyd, Irani, Ahmadi (2021) ----


def monomials(order, joints="rr"):
    """distinct products of powers of sine and cosine, or of the position of a sliding joint, up to this order in each joint"""
    each = {"r": [(a, b) for a in range(order + 1) for b in range(order + 1 - a)], "p": [(a, 0) for a in range(order + 1)]}
    return len(set(itertools.product(*(each[j] for j in joints))))


def example_3():
    """equation 22 with the numbers of robots/two_link.yaml"""
    a1, a2, m1, m2, x1, x2, I1, I2 = 1.2, 1.1, 1, 2, -1.3, -1.2, 0.5, 0.3
    t = {11: I1 + I2 + m1 * (a1 + x1)**2 + m2 * (a2 + x2)**2 + a1**2 * m2, 21: 2 * m2 * a1 * (a2 + x2), 31: m2 * (a2 + x2)**2 + I2, 81: -m2 * (a2 + x2), 91: m2 * a1 + m1 * (a1 + x1)}
    theta = [[t[11], t[21], t[31], t[21] / 2, 0, -t[21] / 2, -t[21], t[81], t[91], -t[81]], [t[31], t[21] / 2, t[31], 0, t[21] / 2, 0, 0, t[81], 0, -t[81]]]
    rows, want = states(2, 100), []
    for q, v, a in zip(*rows.values()):
        c1, s1, c2, s2 = math.cos(q[0]), math.sin(q[0]), math.cos(q[1]), math.sin(q[1])
        y = [a[0], c2 * a[0], a[1], c2 * a[1], s2 * v[0]**2, s2 * v[1]**2, s2 * v[0] * v[1], s1 * s2 * GRAVITY, c1 * GRAVITY, c1 * c2 * GRAVITY]
        want.append([sum(x * c for x, c in zip(y, column)) for column in theta])
    return below(distance(evaluated("two_link", "inverse", rows), want), 1e-13)


def example_4():
    found = set(model("two_link")["E"])
    agree(found == set(printed.E_P), "E_p of Example 4")
    return f"the same {len(found)} columns"


def equation_54():
    """entries of P_1 and P_2: printed rows belong to functions in another order, columns to theta2, theta3, theta4, theta1 of ours"""
    m = model("two_link", "--basis", "echelon")
    P = {(m["E"][f], i, j): x for f, i, j, x in m["P"]}
    column, count = (1, 2, 3, 0), 0
    for i, matrix in enumerate((printed.P_1, printed.P_2)):
        for f, row in zip(printed.ROWS_OF_54, matrix):
            for j, x in enumerate(row):
                agree(abs(P.get((f, i, column[j]), 0) - x) < 1e-12, f"P_{i + 1}, {f}, {j}")
                count += 1
    return f"all {count} entries"


def example_6():
    """D from the printed theta1 ... theta4: our mass matrix at random positions, with theta of the file's bodies"""
    m2, a1, a2, x2 = 2, 1.2, 1.1, -1.2
    theta2, theta3, theta4 = 0.5 + 0.3 + 1 * (a1 - 1.3)**2 + m2 * (a2 + x2)**2 + a1**2 * m2, m2 * (a2 + x2)**2 + 0.3, -m2 * (a2 + x2)
    q = states(2, 100)["q"]
    want = []
    for _, q2 in q:
        across = theta3 - a1 * math.cos(q2) * theta4
        want.append([theta2 - 2 * a1 * math.cos(q2) * theta4, across, across, theta3])
    return below(distance(evaluated("two_link", "mass", {"q": q}), want), 1e-13)


def table_1(robot):
    """rows of the robot's file that are the printed ones"""
    text = (ROOT / "robots" / f"{robot}.yaml").read_text()
    joints = re.findall(r"theta: (\S+), *d: (\S+), *a: (\S+), *alpha: ([^},]+)", text)
    links = re.findall(r"mass: (\S+), com: \[(.*?)\], *inertia: \{(.*?)\}", text)
    rows = [line.split() for line in printed.TABLE_1[robot].split("\n") if line]
    agree(len(rows) == len(joints) == len(links), f"rows of {robot}")
    for row, (theta, d, a, alpha), (m, r, inertia) in zip(rows, joints, links):
        agree(row[0][0] == "q" or float(row[0]) == float(theta), f"theta, {row}")
        agree(float(theta) == 0 and (row[1][0] == "q" or abs(float(row[1]) / 1000 - float(d)) < 1e-9) and abs(float(row[2]) / 1000 - float(a)) < 1e-9 and row[3] == alpha, f"geometry, {row}")
        body = dict(re.findall(r"(\w\w): ([^,]+)", inertia))
        ours = [m, *(1000 * float(x) for x in r.split(",")), *(body[k] for k in ("xx", "yy", "zz", "xy", "xz", "yz"))]
        agree(all(abs(float(x) - float(y)) < 1e-9 for x, y in zip(ours, row[4:])), f"body, {row}")
    return f"{len(rows)} of {len(rows)} rows"


def impossible(robot):
    """links whose inertias no body has"""
    said = subprocess.run([os.environ["PSDM"], "inspect", robot_of(robot)], capture_output=True, text=True).stderr
    return ", ".join(sorted(set(re.findall(r"link 'link(\d)': inertia", said))))


def free(key):
    """of the two-link arm without assumptions"""
    return answer("derive", robot_of("two_link"))[key]


def t(robot):
    return grouped(derived(robot)["plain"]["candidates"])


def plain(robot, key):
    return grouped(derived(robot)["plain"][key])


def four_filters(robot):
    """Section 3.1.2 to the letter: no squared sines; gravity of order one; no first joint but in gravity; velocities from the derivatives of the
    monomials that the accelerations have"""
    m = model(robot)
    n, E = m["n"], m["E"]
    joints = "".join("p" if robot == "fanuc_sr6ia" and j == 2 else "r" for j in range(n))
    gravity, system = math.prod(3 if j == "r" else 2 for j in joints), math.prod(5 if j == "r" else 3 for j in joints[1:])
    kept = {tuple(e[j::n][:3] for j in range(n)) for e in E if "1" in e[4 * n:]}
    # of one joint, exponents of q, sin, cos without squared sines: s' = c, c' = -s, (sc)' = 2cc - 1, (cc)' = -2sc; q' = 1, (qq)' = 2q
    derivative = {"000": (), "010": ("001",), "001": ("010",), "011": ("002", "000"), "002": ("011",), "100": ("000",), "200": ("100",)}
    derivatives = {(*v[:j], d, *v[j + 1:]) for v in kept for j in range(1, n) for d in derivative[v[j]]}
    return grouped(gravity + n * system + n * (n + 1) // 2 * len(derivatives))


def searched(robot):
    return grouped(answer("derive", robot_of(robot), *assumed(robot), "--method", "dense")["searched"])


def generated(robot, method, function="inverse"):
    return answer("codegen", robot_of(robot), "--functions", function, "--method", method, "--out", f"{robot}_{method}_{function}")["functions"][function]


def operations(robot, method, key):
    return grouped(generated(robot, method)[key])


def counts(robot, function):
    f = generated(robot, "recursive", function)
    return f"{f['mult']} + {f['add']}"


def chain(n, method):
    """operations of the first n links of the LBR7"""
    f = answer("codegen", robot_of("kuka_lbr7"), "--tip", f"link{n}", "--functions", "inverse", "--method", method, "--effort", "0", "--out", f"chain{n}{method}")["functions"]["inverse"]
    return f["mult"] + f["add"]


def chain_plain(n):
    p = answer("derive", robot_of("kuka_lbr7"), "--tip", f"link{n}")["plain"]
    return grouped(p["mult"] + p["add"])


def mean_error(robot, function):
    """of 1000 random states, as the paper measures it: mean 2-norm of the difference between model and recursion"""
    n = derived(robot)["n"]
    rows = states(n, 1000)
    if function == "forward":
        torques = evaluated(robot, "inverse", rows)
        rows = {"q": rows["q"], "qd": rows["qd"], "tau": torques}
    ours, exact = evaluated(robot, function, rows, "--via", "expanded", *assumed(robot)), evaluated(robot, function, rows)
    return sum(norm([x - y for x, y in zip(a, b)]) for a, b in zip(ours, exact)) / len(ours)


def reduced(robot):
    return answer("reduce", robot_of(robot), "--table", "--figures", "--samples", "100000")


def figure_2(robot, profile, which, power):
    """share of the functions whose contribution is below a power of ten, in per cent"""
    f = next(f for f in reduced(robot)["figures"] if f["profile"] == profile)
    c = f["contributions"]
    low = sum(count for count, edge in zip(c[which], c["log10_edges"][1:]) if edge <= power + 1e-9) + c[f"{which}_below"]
    return f"{100 * low / f['functions']:.0f} %"


def cell(robot, profile, error, confidence):
    """of Table 3: functions kept and operations"""
    c = next(c for c in reduced(robot)["table"] if c["profile"] == profile and abs(c["error_wanted"] - error) < 1e-9 and abs(c["confidence"] - confidence) < 1e-9)
    agree(c["reached"] and c["error"] <= error, "Table 3")
    return f"{grouped(c['functions'])} functions, {grouped(c['operations'])} operations"


# ---- Jain and Rodriguez (1991) ----

COSTS = {  # multiplications and additions of algorithm k for n joints
    1: (lambda n: 320 * n - 159, lambda n: 303 * n - 149),
    2: (lambda n: 21 * n**2 + 333 * n - 132, lambda n: 47 * n**2 / 2 + 605 * n / 2 - 145),
    3: (lambda n: n**3 / 6 + 3 * n**2 / 2 + 952 * n / 3 - 153, lambda n: n**3 / 6 + n**2 + 1805 * n / 6 - 147),
    4: (lambda n: 17 * n**3 / 6 + 43 * n**2 / 2 + 998 * n / 3 - 132, lambda n: 17 * n**3 / 6 + 20 * n**2 + 1819 * n / 6 - 145),
    5: (lambda n: 259 * n - 129, lambda n: 232 * n - 123),
    6: (lambda n: 36 * n**2 + 781 * n - 225, lambda n: 33 * n**2 + 773 * n - 255),
}


def cost(k, n):
    m, a = COSTS[k]
    return f"{m(n):.0f} + {a(n):.0f}"


def cheaper_from(fast, slow):
    """the least number of joints from which the one algorithm needs fewer operations than the other"""
    total = lambda k, n: COSTS[k][0](n) + COSTS[k][1](n)  # noqa: E731
    return next(n for n in range(1, 1000) if all(total(fast, m) < total(slow, m) for m in range(n, 1001)))


def lemma_4_1():
    """derivatives of forward dynamics are -M^-1 times those of inverse dynamics, at 50 states of the LBR7"""
    n, rows = 7, states(7, 50)
    inverse = evaluated("kuka_lbr7", "linearize_inverse", rows)
    forward = evaluated("kuka_lbr7", "linearize_forward", {"q": rows["q"], "qd": rows["qd"], "tau": evaluated("kuka_lbr7", "inverse", rows)})
    worst = 0
    for a, b in zip(inverse, forward):
        for block in range(2):
            A, B = a[block * n * n:(block + 1) * n * n], b[block * n * n:(block + 1) * n * n]
            product = [sum(a[2 * n * n + i * n + k] * B[k * n + j] for k in range(n)) + A[i * n + j] for i in range(n) for j in range(n)]
            worst = max(worst, norm(product) / norm(A))
    return below(worst, 1e-12)


# ---- Gautier (1991) ----


def puma(*options):
    return answer("params", robot_of("puma560"), *options)


def formulas():
    return {b["name"]: b["formula"] for b in puma()["base_parameters"]}


def table_i():
    text = (ROOT / "robots/puma560.yaml").read_text()
    rows = re.findall(r"alpha: ([^,]+), *a: ([^,]+), *theta: 0, d: ([^,]+),", text)
    angle = {"0": 0, "pi/2": 90, "-pi/2": -90}
    agree([(angle[x], float(d), float(r)) for x, d, r in rows] == printed.TABLE_I, "Table I")
    return f"{len(rows)} of {len(rows)} rows"


def table_ii(key):
    """of the three sampled models by both solvers: ranks, columns, decades between the groups"""
    found = [puma("--model", x, "--solver", y) for x in ("d", "d0", "h") for y in ("qr", "svd")]
    ranks = {f["decisions"][by]["rank"] for f in found for by in ("T", "R", "sigma")}
    agree(ranks == {40} and {f["columns"] for f in found} == {55}, "ranks of Table II")
    if key == "rank":
        return "40 in all 18 cases"
    gap = min(math.log10(f["decisions"][by]["gap"]) for f in found for by in ("T", "R", "sigma"))
    agree(gap > 11, f"gap {gap}")
    return "more than 11"


def zero_rows():
    """rows of V2 that are zero"""
    found = {len([r for r in puma("--model", x, "--solver", "svd")["table"] if abs(r["V2N"]) < 1e-9]) for x in ("d", "d0", "h")}
    agree(len(found) == 1, "zero rows of V2")
    return found.pop()


def table_iii():
    printed_rows = [row.split() for row in printed.TABLE_III.split(",")]
    base = {b["name"]: b["value"] for b in puma()["base_parameters"]}
    agree([r[0] for r in printed_rows] == [b["name"] for b in puma()["base_parameters"]], "names of Table III")
    for name, _, value in printed_rows:
        agree(abs(base[name] - float(value)) < 5.1e-5, f"{name}: {base[name]}, printed {value}")
    return f"{len(printed_rows)} of {len(printed_rows)}"


def given_iii():
    """X1 and X2 of the robot's file"""
    text = (ROOT / "robots/puma560.yaml").read_text()
    ours = {f"{k}{i + 1}": float(x) for i, body in enumerate(re.findall(r"standard: \{(.*?)\}", text)) for k, x in re.findall(r"(\w+): ([^,]+)", body)}
    ours.update({f"Ia{i + 1}": float(x) for i, x in enumerate(re.findall(r"drive_inertia: ([^}]+)\}", text))})
    given = [(r.split()[0], r.split()[1]) for r in (printed.TABLE_III + "," + printed.X2).split(",")]
    for name, value in given:
        agree(abs(ours.get(name, 0) - float(value)) < 1e-12, name)
    return f"{len(given)} of {len(given)}"


def table_iv():
    """coefficients of the regrouped parameters, from Table V's relations at Table I's lengths"""
    regrouped = [x.split()[0] for x in printed.X2.split(",")]
    every = regrouped + list(formulas())
    entries = 0
    for name, relation in printed.TABLE_V.items():
        for k in regrouped:
            want = eval(relation, {"__builtins__": {}}, {**dict.fromkeys(every, 0.0), "R3": 0.2, "D3": 0.5, "R4": 0.6, "D4": 0.02, k: 1.0})
            agree(abs(formulas()[name].get(k, 0) - want) < 1e-12, f"beta, {name}, {k}")
            entries += 1
    return f"{entries} of {entries}"


def table_v_symbols():
    """the formulas in symbols, at random lengths"""
    found = {b["name"]: b["symbolic"] for b in puma("--symbolic", "--rename", "d3=R3,a3=D3,d4=R4,a4=D4")["base_parameters"]}
    every = [f"{p}{k}" for p in "XX XY XZ YY YZ ZZ mx my mz m Ia".split() for k in range(1, 7)]
    draw = random.Random(1)
    for name, relation in printed.TABLE_V.items():
        for _ in range(20):
            values = {x: draw.uniform(-1, 1) for x in every + ["R3", "D3", "R4", "D4"]}
            a, b = (eval(x.replace("^", "**"), {"__builtins__": {}}, values) for x in (relation, found[name]))
            agree(abs(a - b) < 1e-12, f"{name}: {found[name]}")
    return f"{len(printed.TABLE_V)} of {len(printed.TABLE_V)}"


def fates():
    kept = formulas()
    regrouped = {k for f in kept.values() for k in f} - set(kept)
    unchanged = [k for k, f in kept.items() if len(f) == 1]
    agree(set(unchanged) == set(printed.UNCHANGED) and regrouped == {x.split()[0] for x in printed.X2.split(",")}, "fates")
    agree(not (set(printed.NO_EFFECT) & (set(kept) | regrouped)) and len(kept) + len(regrouped) + len(printed.NO_EFFECT) == 66, "no effect")
    return f"{66 - len(kept) - len(regrouped)}, {len(regrouped)}, {len(kept) - len(unchanged)}, {len(unchanged)}"


def spread(sampling, scaled):
    """the power of ten nearest to S"""
    return f"10{str(round(math.log10(puma('--model', sampling, *(('--samples', '55') if scaled else ()))['spread' if scaled else 'spread_random']))).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def hitachi():
    m = answer("params", robot_of("hitachi_hpr"))
    sampled = {answer("params", robot_of("hitachi_hpr"), "--model", x)["l"] for x in ("d", "d0", "h")}
    agree(sampled == {m["l"]}, f"Hitachi: {m['l']} and {sampled}")
    return m["l"]


# ---- Lloyd, Irani, Ahmadi (2022) ----


def denso(*options):
    return answer("derive", robot_of("denso_vs6556g"), *options)


def denso_table_1():
    text = (ROOT / "robots/denso_vs6556g.yaml").read_text()
    rows = re.findall(r"d: (\S+), *a: (\S+), *alpha: ([^,]+),", text)
    for (d, a, alpha), want in zip(rows, printed.DENSO_TABLE_1, strict=True):
        agree((round(1000 * float(d)), round(1000 * float(a)), alpha) == want, f"Denso Table 1, {want}")
    return f"{len(rows)} of {len(rows)} rows"


def denso_table_2():
    text = (ROOT / "robots/denso_vs6556g.yaml").read_text()
    rows = re.findall(r"torque_constant: ([^,]+),\s+friction: \{coulomb: ([^,]+), static: ([^,]+), stribeck: ([^,]+), viscous: ([^,]+), exponent: ([^,]+), sigma0: ([^,]+), sigma1: ([^}]+)\}", text)
    unit = (1, 1, 1, 1000, 1, 1, 0.001, 1)
    for row, want in zip(rows, printed.DENSO_TABLE_2, strict=True):
        agree(all(abs(float(x) * u - w) < 1e-9 for x, u, w in zip(row, unit, want)), f"Denso Table 2, {want}")
    return f"{sum(map(len, rows))} of {sum(map(len, rows))} numbers"


LENGTHS = {"a1": 0.075, "a2": -0.27, "a3": -0.09, "d4": 0.295}
DENSO_ZERO = "Ixz4 Iyz4 rx5 Ixy5 Ixz5 Iyz5 m6 rx6 ry6 rz6 Ixx6 Iyy6 Izz6 Ixy6 Ixz6 Iyz6".split()


def bodies(draw, links, zero):
    """random masses, centres and moments of inertia about them, with some zero"""
    names = [f"{p}{k}" for k in range(1, links + 1) for p in "m rx ry rz Ixx Iyy Izz Ixy Ixz Iyz Im".split()]
    return {x: 0.0 if x in zero else draw.uniform(-1, 1) for x in names}


def standard(body, links):
    """standard parameters, about the frames"""
    s = {}
    for k in range(1, links + 1):
        m, x, y, z = (body[f"{p}{k}"] for p in ("m", "rx", "ry", "rz"))
        about = {"XX": y * y + z * z, "YY": x * x + z * z, "ZZ": x * x + y * y, "XY": -x * y, "XZ": -x * z, "YZ": -y * z}
        s.update({f"m{k}": m, f"mx{k}": m * x, f"my{k}": m * y, f"mz{k}": m * z, f"Ia{k}": body[f"Im{k}"]})
        s.update({f"{axes}{k}": body[f"I{axes.lower()}{k}"] + m * more for axes, more in about.items()})
    return s


def solve(rows, right):
    """least squares by normal equations"""
    n = len(rows[0])
    M = [[sum(r[i] * r[j] for r in rows) for j in range(n)] + [sum(r[i] * y for r, y in zip(rows, right))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(M[r][i]))
        M[i], M[pivot] = M[pivot], M[i]
        for r in range(n):
            if r != i:
                f = M[r][i] / M[i][i]
                M[r] = [x - f * y for x, y in zip(M[r], M[i])]
    return [M[i][n] / M[i][i] for i in range(n)]


class Combinations:
    """which functions of the bodies are combinations of a robot's base parameters"""

    def __init__(self, base, links, zero, lengths):
        draw = random.Random(1)
        self.bodies = [bodies(draw, links, zero) for _ in range(2 * len(base) + 5)]
        self.lengths = lengths
        self.theta = []
        for b in self.bodies:
            s = standard(b, links)
            self.theta.append([sum(c * s[name] for name, c in f["formula"].items()) for f in base])

    def coefficients(self, expression):
        """None: no combination"""
        right = [eval(expression, {"__builtins__": {}}, {**b, **self.lengths}) for b in self.bodies]
        x = solve(self.theta, right)
        off = max(abs(sum(c * y for c, y in zip(x, row)) - r) for row, r in zip(self.theta, right)) / max(map(abs, right))
        agree(off < 1e-9 or off > 1e-3, f"{expression}: {off}")
        return x if off < 1e-9 else None


def rank(rows):
    rows, found = [list(r) for r in rows], 0
    for j in range(len(rows[0])):
        pivot = max(range(found, len(rows)), key=lambda r: abs(rows[r][j]), default=None)
        if pivot is None or abs(rows[pivot][j]) < 1e-9:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            f = rows[r][j] / rows[found][j]
            rows[r] = [x - f * y for x, y in zip(rows[r], rows[found])]
        found += 1
        if found == len(rows):
            break
    return found


def denso_combinations():
    if "denso" not in answers:
        answers["denso"] = Combinations(answer("params", robot_of("denso_vs6556g"))["base_parameters"], 6, DENSO_ZERO, LENGTHS)
    return answers["denso"]


def table_4_holds():
    c = denso_combinations()
    wrong = [k for k, x in printed.DENSO_TABLE_4.items() if c.coefficients(x) is None]
    agree(wrong == sorted(printed.DENSO_TABLE_4_CORRECTED), f"Table 4: {wrong}")
    return f"{len(printed.DENSO_TABLE_4) - len(wrong)} of {len(printed.DENSO_TABLE_4)}"


def table_4_corrected():
    """with five corrections all are combinations, and together they determine the base parameters"""
    c = denso_combinations()
    rows = [c.coefficients(x) for x in {**printed.DENSO_TABLE_4, **printed.DENSO_TABLE_4_CORRECTED}.values()]
    agree(None not in rows and rank(rows) == 32, "Table 4, corrected")
    return f"rank {rank(rows)}"


def denso_gravity():
    """base parameters that gravity determines: those of our functions of positions alone, and the printed nine in their span"""
    m = model("denso_vs6556g")
    n, base = m["n"], answer("params", robot_of("denso_vs6556g"))["base_parameters"]
    ours = sorted({j for f, _, j, _ in m["P"] if set(m["E"][f][3 * n:]) == {"0"}})
    rows = [denso_combinations().coefficients(printed.DENSO_TABLE_4[k]) for k in printed.DENSO_GRAVITY]
    agree(all(abs(x) < 1e-9 for row in rows for j, x in enumerate(row) if j not in ours) and rank(rows) == len(ours), "gravity parameters")
    agree(len(base) - len(ours) == 23, "the others")
    return len(ours)


# ---- De Luca, Robotics 2 ----

PATTERNS = {
    "cartesian": """{name: cartesian, gravity: [0, 0, -9.81], convention: dh, joints: [{name: x, type: prismatic, alpha: pi/2}, {name: y, type: prismatic}],
                     links: [{mass: 2, com: [0.1, 0, 0]}, {mass: 1, com: [0.1, 0, 0]}]}""",
    "skew": """{name: skew, gravity: [0, 0, -9.81], convention: dh, joints: [{name: x, type: prismatic, alpha: 1}, {name: y, type: prismatic}],
                links: [{mass: 2, com: [0.1, 0, 0]}, {mass: 1, com: [0.1, 0, 0]}]}""",
    "pr": """{name: pr, gravity: [0, 0, -9.81], convention: dh, joints: [{name: x, type: prismatic, alpha: pi/2}, {name: turn, a: 0.5}],
              links: [{mass: 2, com: [0, 0, 0]}, {mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}]}""",
    "2r": """{name: 2r, gravity: [0, -9.81, 0], convention: dh, joints: [{name: a, a: 0.5}, {name: b, a: 0.5}],
              links: [{mass: 2, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}, {mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}]}""",
    "3r": """{name: 3r, gravity: [0, 0, -9.81], convention: dh, joints: [{name: waist, d: 0.4, alpha: pi/2}, {name: shoulder, a: 0.4}, {name: elbow, a: 0.3}],
              links: [{mass: 5, com: [0, -0.2, 0], inertia: {xx: 0.1, yy: 0.05, zz: 0.1}}, {mass: 4, com: [-0.2, 0, 0], inertia: {xx: 0.01, yy: 0.08, zz: 0.08}},
                      {mass: 2, com: [-0.1, 0, 0], inertia: {xx: 0.005, yy: 0.03, zz: 0.03}}]}""",
    "rrp": """{name: rrp, gravity: [0, 0, -9.81], convention: dh, joints: [{name: turn, alpha: -pi/2}, {name: lift, alpha: pi/2}, {name: slide, type: prismatic}],
               links: [{mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}, {mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}, {mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}]}""",
}


def pattern(name):
    """M as analyze finds it: each entry 0, constant, or what it depends on"""
    found = answer("analyze", file_of(f"{name}.yaml", PATTERNS[name]), "--no-bounds")["M"]
    rows = []
    for i, row in enumerate(found):
        cells = []
        for j, e in enumerate(row):
            q = ", ".join(f"q{k}" for k in e["depends"])
            cells.append("0" if e["zero"] else f"m{min(i, j) + 1}{max(i, j) + 1}" + (f"({q})" if q else ""))
        rows.append(" ".join(cells))
    return " ; ".join(rows)


def parallelogram():
    """M and g of the slides with the numbers of the file"""
    l1, l2, m, lc, I = 0.5, 0.3, (2.0, 1.1, 0.7, 1.6), (0.22, 0.14, 0.26, 0.21), (0.041, 0.010, 0.0145, 0.031)
    q = states(2, 100)["q"]
    M, g = [], []
    for q1, q2 in q:
        c = (m[2] * l2 * lc[2] - m[3] * l1 * lc[3]) * math.cos(q2 - q1)
        M.append([I[0] + m[0] * lc[0]**2 + I[2] + m[2] * lc[2]**2 + m[3] * l1**2, c, c, I[1] + m[1] * lc[1]**2 + I[3] + m[3] * lc[3]**2 + m[2] * l2**2])
        g.append([GRAVITY * (m[0] * lc[0] + m[2] * lc[2] + m[3] * l1) * math.cos(q1), GRAVITY * (m[1] * lc[1] + m[2] * l2 - m[3] * lc[3]) * math.cos(q2)])
    return below(max(distance(evaluated("parallelogram", "mass", {"q": q}), M), distance(evaluated("parallelogram", "gravity", {"q": q}), g)), 1e-13)


def decoupled():
    """mx3 - r mx4 = 0 with r = l1/l2, which is m3 l2 lc3 = m4 l1 lc4"""
    text = psdm("analyze", robot_of("parallelogram"), "--no-bounds")
    found = re.search(r"mx3 - ([0-9.]+) mx4 = 0 \(m12", text)
    agree(found and abs(float(found[1]) - 0.5 / 0.3) < 1e-9, "decoupling condition")
    return "m3 lc3 = (l1/l2) m4 lc4"


def square_of_s():
    found = answer("analyze", file_of("rrp.yaml", PATTERNS["rrp"]))
    return f"{found['bounds']['coriolis_square']:.3f}"


def grows():
    """|c| at q3 = 10, 20, 40 m"""
    rows = evaluated(file_of("rrp.yaml", PATTERNS["rrp"]), "bias", {"q": [[0, 0.8, x] for x in (10, 20, 40)], "qd": [[1, 1, 0]] * 3}, "--gravity", "0,0,0")
    return f"{abs(rows[2][0]) / abs(rows[1][0]):.2f}"


ARM = {"a1": 1.2, "l1": 1.2}
ARM_ZERO = "ry1 rz1 Ixx1 Iyy1 Ixy1 Ixz1 Iyz1 ry2 rz2 Ixx2 Iyy2 Ixy2 Ixz2 Iyz2 Im1 Im2".split()
DISTANCES = {"d1": "(1.2 + rx1)", "d2": "(1.1 + rx2)"}


def two_r(expression):
    """whether this combination of the slides' parameters is one of our four base parameters; frames of the file are at the far ends of the links"""
    for name, text in DISTANCES.items():
        expression = expression.replace(name, text)
    base = answer("params", robot_of("two_link"), "--assume", PLANE)["base_parameters"]
    return Combinations(base, 2, ARM_ZERO, ARM).coefficients(expression) is not None


def coefficients_2r():
    holds = ["Izz1 + m1*d1**2 + Izz2 + m2*d2**2 + m2*l1**2", "m2*d2", "Izz2 + m2*d2**2", "m1*d1 + m2*l1", "Izz1 + m1*d1**2 + m2*l1**2"]
    agree(all(map(two_r, holds)) and derived("two_link")["l"] == 4, "coefficients of the 2R arm")
    agree(not two_r("Izz1 + m1*d1**2 + m1*l1**2"), "a2 as printed")
    return derived("two_link")["l"]


def lwr():
    """base parameters of a seven-joint arm of this shape: all, and those in gravity"""
    m = model("kuka_lbr7")
    n = m["n"]
    gravity = {j for f, _, j, _ in m["P"] if set(m["E"][f][3 * n:]) == {"0"}}
    return f"{derived('kuka_lbr7')['l'] - len(gravity)} and {len(gravity)}"


def scaling():
    """the slides' example: 0.5 s and 1 s, torques recomputed and by the rule"""
    draw = states(2, 100)
    slow = {"q": draw["q"], "qd": [[x / 2 for x in r] for r in draw["qd"]], "qdd": [[x / 4 for x in r] for r in draw["qdd"]]}
    tau, g = evaluated("two_link", "inverse", draw), evaluated("two_link", "gravity", {"q": draw["q"]})
    rule = [[(a - b) / 4 + b for a, b in zip(r, s)] for r, s in zip(tau, g)]
    return below(distance(evaluated("two_link", "inverse", slow), rule), 1e-13)


def at_rest():
    """linearization at an equilibrium: the columns of velocities vanish, and the others are the derivative of g"""
    q, h = states(7, 20)["q"], 1e-5
    zero = [[0.0] * 7] * len(q)
    found = evaluated("kuka_lbr7", "linearize_inverse", {"q": q, "qd": zero, "qdd": zero})
    worst = 0
    for j in range(7):
        up, down = ([[x + s * h * (i == j) for i, x in enumerate(r)] for r in q] for s in (1, -1))
        a, b = evaluated("kuka_lbr7", "gravity", {"q": up}), evaluated("kuka_lbr7", "gravity", {"q": down})
        for r, x, y in zip(found, a, b):
            worst = max(worst, max(abs(r[7 * i + j] - (x[i] - y[i]) / (2 * h)) for i in range(7)))
    agree(all(abs(x) < 1e-12 for r in found for x in r[49:98]), "no velocity, no damping")
    return below(worst, 1e-8)


# ---- times ----


def measured():
    return json.loads((HERE / "times.json").read_text())


def seconds(x):
    return f"{1000 * x:.2g} ms" if x < 1 else f"{x:.2g} s"


def derivation(robot):
    return seconds(measured()["derivation"][robot])


def nanoseconds(robot, function, key="ns"):
    return f"{measured()['bench'][robot][function][key]:.0f} ns"


def reduce_time(robot, code):
    return f"{measured()['reduce'][robot][code]:.0f} ns"


def cell_time(robot, profile, error, confidence):
    """of Table 3: the time, and how much less than of the full closed form"""
    times = measured()["reduce"][robot]
    ns = times[f"{profile} {error:g} {confidence:g}"]
    less = 100 * (1 - ns / times["full"])
    return f"{ns:.0f} ns ({'−' if less >= 0 else '+'}{abs(less):.0f} %)"


def timed_reduction(d):
    return {"full": d["full"]["ns"], "recursion": d["recursion"]["ns"], **{f"{c['profile']} {c['error_wanted']:g} {c['confidence']:g}": c["ns"] for c in d["table"]}}


def measure():
    rows = {"derivation": {}, "bench": {}, "reduce": {}}
    for robot in (*PAPER_ROBOTS, "denso_vs6556g"):
        rows["derivation"][robot] = min(json.loads(subprocess.run([os.environ["PSDM"], "derive", robot_of(robot), *assumed(robot), "--json"], capture_output=True, text=True, check=True).stdout)["seconds"]
                                        for _ in range(20))
    for robot in (*PAPER_ROBOTS, "denso_vs6556g"):
        b = answer("bench", robot_of(robot), "--functions", "inverse,forward,regressor", "--method", "all", "--repeat", "15")
        rows["processor"], rows["date"] = b["processor"], b["date"]
        rows["bench"][robot] = {}
        for name, f in b["functions"].items():
            rows["bench"][robot][name] = {"ns": f["ns"], "library_ns": f.get("library_ns"), **{o["method"]: o["ns"] for o in f["others"]}}
    for robot in ("kuka_kr6", "kuka_lbr7"):
        rows["reduce"][robot] = timed_reduction(answer("reduce", robot_of(robot), "--table", "--times", "--samples", "30000"))
    (HERE / "times.json").write_text(json.dumps(rows, indent=1) + "\n")


# ---- the document ----

SPOT = re.compile(r"\{\{(~|deep:|time:)?\s*(.+?)\s*\}\}")


def value(expression):
    return str(eval(expression, globals()))


def write():
    template = (HERE / "reproduction.md").read_text()
    (ROOT / "docs/reproduction.md").write_text(SPOT.sub(lambda m: value(m[2]), template))


def number(text):
    found = re.search(r"-?[\d,]*\.?\d+", text)
    return float(found[0].replace(",", "")) if found else math.nan


def same(kind, ours, document):
    if kind in ("~", "deep:") and not math.isnan(number(ours)):
        return abs(number(ours) - number(document)) <= 0.05 * abs(number(ours)) + 1.01 * (kind == "deep:")
    return ours == document


def check(everything):
    template, document = (HERE / "reproduction.md").read_text(), (ROOT / "docs/reproduction.md").read_text()
    parts, wrong, compared = SPOT.split(template), 0, 0
    pattern_of = "".join(re.escape(x) if i % 3 == 0 else "(.*?)" if i % 3 == 2 else "" for i, x in enumerate(parts))
    found = re.fullmatch(pattern_of, document, re.S)
    if not found:
        print("WRONG: docs/reproduction.md does not follow tests/reproduction/reproduction.md; write it: make reproduction")
        return 1
    for kind, expression, text in zip(parts[1::3], parts[2::3], found.groups()):
        if kind == "time:" or (kind == "deep:" and not everything):
            continue
        compared += 1
        try:
            ours = value(expression)
        except Wrong as error:
            ours = f"({error})"
        if not same(kind, ours, text):
            wrong += 1
            print(f"WRONG: {expression} is {ours}, docs/reproduction.md has {text}")
    print(f"{compared} numbers compared, {wrong} wrong")
    return wrong > 0 or compared < 100


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what not in ("check", "write", "times") or "PSDM" not in os.environ:
        sys.exit(__doc__)
    if what == "check":
        sys.exit(check("--all" in sys.argv))
    write() if what == "write" else measure()


if __name__ == "__main__":
    main()
