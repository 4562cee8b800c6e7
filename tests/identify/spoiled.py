"""Spoiled logs: the findings of psdm calibrate for logs with one fault, and for good ones.

    spoiled.py PSDM [--quick] [--only NAME ...] [--markdown FILE] [--data FOLDER]

Clean logs are simulated by the tool itself; each variant changes one thing. Expectation of each: `pass` (verdict good or usable, exit 0), `fail` (poor or useless, exit 1; or bad
input, exit 3), or `any` where other bodies explain the torques; with a word that must be named. Exits 1 where one is not met.
"""

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

ARM = """name: arm
gravity: [0, 0, -9.81]
convention: modified-dh
joints:
  - {name: base, d: 0.4, drive_inertia: 0.6, friction: {coulomb: 4, viscous: 6}, limits: {lower: -3.1, upper: 3.1, velocity: 4, effort: 120}}
  - {name: shoulder, alpha: pi/2, drive_inertia: 0.5, friction: {coulomb: 5, viscous: 4}, limits: {lower: -3.1, upper: 3.1, velocity: 4, effort: 120}}
  - {name: elbow, a: 0.5, friction: {coulomb: 2, viscous: 1.5}, limits: {lower: -3.1, upper: 3.1, velocity: 4, effort: 40}}
  - {name: flange, type: fixed, a: 0.4}
links:
  - {mass: 10, com: [0, 0.02, -0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.08}}
  - {mass: 8, com: [0.22, 0.01, 0.05], inertia: {xx: 0.05, yy: 0.25, zz: 0.24}}
  - {mass: 5, com: [0.18, -0.01, 0.02], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}
  - {mass: 0}
"""

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "kr6.yaml")) as file:
    KR6 = re.sub(r"^#.*\n|, gear: 100|, limits: {[^}]*}", "", file.read())

SCARA = """name: scara
gravity: [0, 0, -9.81]
convention: dh
joints:
  - {name: s1, d: 0.3, a: 0.35, friction: {coulomb: 3, viscous: 2}, drive_inertia: 0.4}
  - {name: s2, a: 0.25, alpha: pi, friction: {coulomb: 2, viscous: 1}, drive_inertia: 0.1}
  - {name: s3, type: prismatic, friction: {coulomb: 10, viscous: 20}, drive_inertia: 2}
  - {name: s4, d: 0.1, friction: {coulomb: 0.3, viscous: 0.1}, drive_inertia: 0.01}
links:
  - {mass: 8, com: [-0.17, 0, 0], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}
  - {mass: 6, com: [-0.1, 0, 0.02], inertia: {xx: 0.02, yy: 0.06, zz: 0.06}}
  - {mass: 2, com: [0, 0, -0.1], inertia: {xx: 0.02, yy: 0.02, zz: 0.002}}
  - {mass: 1, com: [0.02, 0, 0.03], inertia: {xx: 0.002, yy: 0.002, zz: 0.001}}
"""


def bare(text, limits=False):
    """The robot without the parameters to identify."""
    text = text.split("links:")[0]
    text = re.sub(r"drive_inertia: [0-9.]+", "drive_inertia: unknown", text)
    text = re.sub(r", friction: {[^}]*}", "", text)
    return text if limits else re.sub(r", limits: {[^}]*}", "", text)


class Log:
    """A table: names, columns, and texts that replace single cells when written."""

    def __init__(self, names, columns):
        self.names, self.columns = list(names), [list(c) for c in columns]

    def copy(self):
        return Log(self.names, self.columns)

    def __getitem__(self, name):
        return self.columns[self.names.index(name)]

    def __setitem__(self, name, values):
        if name in self.names:
            self.columns[self.names.index(name)] = list(values)
        else:
            self.names.append(name)
            self.columns.append(list(values))

    def group(self, letter):
        return [n for n in self.names if re.fullmatch(letter + r"\d+", n)]

    def rows(self):
        return len(self.columns[0])

    def take(self, index):
        return Log(self.names, [[c[k] for k in index] for c in self.columns])

    def text(self, separator=",", number=lambda x: x if isinstance(x, str) else repr(x)):
        lines = [separator.join(self.names)]
        for k in range(self.rows()):
            lines.append(separator.join(number(c[k]) for c in self.columns))
        return "\n".join(lines) + "\n"


def rates(log):
    """with qd by central differences"""
    new, t = log.copy(), log["t"]
    last = len(t) - 1
    for name in log.group("q"):
        q = log[name]
        new["qd" + name[1:]] = [(q[min(k + 1, last)] - q[max(k - 1, 0)]) / (t[min(k + 1, last)] - t[max(k - 1, 0)]) for k in range(last + 1)]
    return new


def scale(group, factor, joints=None):
    def change(log):
        new = log.copy()
        for k, name in enumerate(log.group(group)):
            if joints is None or k in joints:
                new[name] = [factor * x for x in log[name]]
        return new
    return change


def shift(name, by):
    def change(log):
        new = log.copy()
        new[name] = [x + by for x in log[name]]
        return new
    return change


def swap(a, b):
    def change(log):
        new = log.copy()
        new[a], new[b] = log[b], log[a]
        return new
    return change


def spikes(count, size, seed=1):
    def change(log):
        new, rng = log.copy(), random.Random(seed)
        for _ in range(count):
            name = rng.choice(log.group("tau"))
            k = rng.randrange(20, log.rows() - 20)
            new[name][k] += rng.choice((-1, 1)) * size
        return new
    return change


def delay(seconds):
    def change(log):
        new, t = log.copy(), log["t"]
        shift = round(seconds / (t[1] - t[0]))
        for name in log.group("tau"):
            new[name] = [log[name][max(k - shift, 0)] for k in range(log.rows())]
        return new
    return change


def noise(share, only=False, seed=2):
    def change(log):
        new, rng = log.copy(), random.Random(seed)
        for name in log.group("tau"):
            size = math.sqrt(sum(x * x for x in log[name]) / log.rows())
            new[name] = [(0 if only else x) + rng.gauss(0, share * size) for x in log[name]]
        return new
    return change


def each(group, change):
    def all_of(log):
        new = log.copy()
        for name in log.group(group):
            new[name] = change(log[name])
        return new
    return all_of


def stuck(name, first, last):
    def change(log):
        new = log.copy()
        a, b = int(first * log.rows()), int(last * log.rows())
        new[name] = [log[name][a] if a <= k < b else x for k, x in enumerate(log[name])]
        return new
    return change


def cells(text, count, seed=3):
    def change(log):
        new, rng = log.copy(), random.Random(seed)
        for _ in range(count):
            new[rng.choice(new.names[1:])][rng.randrange(log.rows())] = text
        return new
    return change


def dropped(share, seed=4):
    def change(log):
        rng = random.Random(seed)
        return log.take([k for k in range(log.rows()) if rng.random() > share])
    return change


def clock(change_of):
    def change(log):
        new = log.copy()
        new["t"] = change_of(log["t"])
        return new
    return change


def jitter(share, seed=5):
    rng = random.Random(seed)
    return clock(lambda t: [x + rng.uniform(-share, share) * (t[1] - t[0]) for x in t])


def shuffled(log):
    new, rng = log.copy(), random.Random(6)
    for _ in range(log.rows() // 10):
        k = rng.randrange(1, log.rows() - 1)
        new["t"][k], new["t"][k + 1] = new["t"][k + 1], new["t"][k]
    return new


def smooth(width):
    def low(x):
        return [sum(x[max(k - width, 0):k + width + 1]) / len(x[max(k - width, 0):k + width + 1]) for k in range(len(x))]
    return low


def both(*changes):
    def change(log):
        for one in changes:
            log = one(log)
        return log
    return change


def still(log):
    new, rng = log.copy(), random.Random(7)
    for name in log.group("q"):
        new[name] = [log[name][0] + rng.gauss(0, 1e-6) for _ in range(log.rows())]
    for name in log.group("tau"):
        new[name] = [log[name][0] + rng.gauss(0, 0.1) for _ in range(log.rows())]
    return new


DEGREE = 180 / math.pi


def variants():
    """name, base log, change, expectation, word that must be named ('' none), robot change, text change"""
    a, k, s = "arm", "kr6", "scara"
    plain = None
    table = [
        # good or harmless: no false alarm
        ("clean", a, [], "pass", ""),
        ("clean, 6 joints", k, [], "pass", ""),
        ("clean, SCARA", s, [], "pass", ""),
        ("clean, with qd", a, [rates], "pass", ""),
        ("noise of 5 %", a, [noise(0.05)], "pass", ""),
        ("noise of 10 %", a, [noise(0.10)], "pass", ""),
        ("6 joints, noise of 5 %", k, [noise(0.05)], "pass", ""),
        ("short: 4 s", a, [lambda g: g.take(range(400))], "pass", ""),
        ("coarse encoders, 1 mrad", a, [each("q", lambda x: [round(v * 1000) / 1000 for v in x])], "pass", ""),
        ("5 % of the rows missing", a, [dropped(0.05)], "pass", ""),
        ("duplicated rows", a, [lambda g: g.take([r for r in range(g.rows()) for _ in range(1 + (r % 10 == 0))])], "pass", ""),
        ("gap of 1 s", a, [lambda g: g.take([r for r in range(g.rows()) if not 400 <= r < 500])], "pass", ""),
        ("jittered clock, 20 %", a, [jitter(0.2)], "pass", ""),
        ("filtered torques", a, [each("tau", smooth(2))], "pass", ""),
        ("20 empty cells", a, [cells("", 20)], "pass", "faults"),
        ("20 NaN and Inf cells", a, [cells("nan", 10), cells("inf", 10, 8)], "pass", "faults"),
        ("semicolons", a, [], "pass", "", plain, lambda g: g.text(";")),
        ("decimal commas, semicolons", a, [], "pass", "decimal commas", plain, lambda g: g.text(";", lambda x: repr(x).replace(".", ","))),
        ("CRLF and a byte-order mark", a, [], "pass", "", plain, lambda g: "\ufeff" + g.text().replace("\n", "\r\n")),
        ("last line cut off", a, [], "pass", "fields", plain, lambda g: g.text()[:-40]),
        ("angles wrapped at pi", a, [shift("q1", 2.6),
                                     each("q", lambda x: [math.remainder(v, 2 * math.pi) for v in x])], "pass", "full turn"),
        ("delay of 20 ms", a, [delay(0.02)], "pass", "delay"),
        ("delay of 50 ms", a, [delay(0.05)], "pass", "50 ms late"),
        ("3 spikes of 1e6 Nm", a, [spikes(3, 1e6)], "pass", "spike"),
        ("20 spikes of 500 Nm", a, [spikes(20, 500)], "pass", "spike"),
        ("qd in degrees, q not", a, [rates, scale("qd", DEGREE)], "pass", "degrees"),
        ("one joint stands still", a, [], "pass", "hardly moves", plain, plain, "still"),
        ("slow: gravity only", a, [], "pass", "prior", plain, plain, "slow"),
        ("torque of one joint saturated", a, [lambda g: (lambda n: (n.__setitem__("tau2", [max(min(x, 40), -40) for x in g["tau2"]]), n)[1])(g.copy())], "pass", "its largest"),
        ("torque sensor stuck for 10 %", a, [stuck("tau2", 0.5, 0.6)], "pass", "stays at"),
        ("position sensor stuck for 10 %", a, [stuck("q2", 0.5, 0.6)], "pass", "stays at"),
        ("last encoder off: another frame", a, [shift("q3", 0.5)], "pass", ""),
        # wrong: must not pass
        ("q in degrees", a, [scale("q", DEGREE)], "fail", "degrees"),
        ("q in degrees, no limits in the file", k, [scale("q", DEGREE)], "fail", "degrees"),
        ("torques in mNm", a, [scale("tau", 1000)], "fail", "mNm", "nolimits"),
        ("torques in mNm, limits in the file", a, [scale("tau", 1000)], "fail", "limit"),
        ("torques in kNm", k, [scale("tau", 1e-3)], "fail", "kNm"),
        ("currents as torques, masses in the file", a, [scale("tau", 0.05)], "fail", "heavy", "masses"),
        ("torques of joints 1 and 2 swapped", a, [swap("tau1", "tau2")], "fail", "joint"),
        ("q of joints 1 and 2 swapped", a, [swap("q1", "q2")], "fail", ""),
        ("6 joints, torques of 2 and 3 swapped", k, [swap("tau2", "tau3")], "fail", "joint"),
        ("q and tau swapped", a, [swap("q1", "tau1"), swap("q2", "tau2"), swap("q3", "tau3")], "fail", ""),
        ("sign of one joint's torque", a, [scale("tau", -1, [1])], "fail", ""),
        ("sign of all torques", a, [scale("tau", -1)], "fail", ""),
        ("sign of one joint's position", a, [scale("q", -1, [1])], "fail", ""),
        ("one log of two flipped", a, [scale("tau", -1)], "fail", "second.csv", plain, plain, "second"),
        ("one log of two in mNm", a, [scale("tau", 1000)], "fail", "second.csv", plain, plain, "second"),
        ("logs of 100 and 50 Hz", a, [lambda g: g.take(range(0, g.rows(), 2))], "fail", "rate", plain, plain, "second"),
        ("noise only", a, [noise(1, True)], "fail", ""),
        ("300 spikes of 1e6 Nm", a, [spikes(300, 1e6)], "fail", "reaches"),
        ("t in milliseconds", a, [clock(lambda t: [1000 * x for x in t])], "fail", "milliseconds"),
        ("wrong rate, with qd", a, [rates, clock(lambda t: [2 * x for x in t])], "fail", "rate of q"),
        ("time runs back every 25 rows", a, [clock(lambda t: [x - 10 * (t[1] - t[0]) if k % 25 == 24 else x for k, x in enumerate(t)])], "fail", "t runs back"),
        ("time runs back often", a, [shuffled], "fail", "t runs back"),
        ("torques late by 200 ms", a, [delay(0.2)], "pass", "200 ms late"),
        ("torques of another motion", a, [each("tau", lambda x: x[::-1])], "fail", ""),
        ("gravity upside down", a, [], "fail", "gravity", "gravity"),
        ("6 joints, encoder of A3 off by 0.5 rad", k, [shift("q3", 0.5)], "any", ""),
        ("6 joints, encoder of A3 off by 90 degrees", k, [shift("q3", math.pi / 2)], "any", ""),
        ("another robot's log", a, [], "fail", "", "other"),
        ("too short: 0.3 s", a, [lambda g: g.take(range(30))], "fail", ""),
        ("nothing moves", a, [still], "fail", ""),
        ("no torque of joint 3", a, [lambda g: Log([n for n in g.names if n != "tau3"], [g[n] for n in g.names if n != "tau3"])], "fail", "tau3"),
        ("torque of joint 3 is zero", a, [scale("tau", 0, [2])], "fail", ""),
        ("header missing", a, [], "fail", "header", plain, lambda g: g.text().split("\n", 1)[1]),
        ("decimal commas, commas", a, [], "fail", "decimal commas", plain, lambda g: g.text(",", lambda x: repr(x).replace(".", ","))),
        ("torques drift by 100 %", a, [lambda g: (lambda n: (n.__setitem__("tau2", [x * (1 + 2 * r / g.rows()) for r, x in enumerate(g["tau2"])]), n)[1])(g.copy())], "any", ""),
    ]
    return table


SEED = "4"
QUICK = ("q in degrees", "torques in mNm", "torques of joints 1 and 2 swapped", "3 spikes of 1e6 Nm")


class Bench:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.logs = tool, folder, {}
        for name, text in (("arm", ARM), ("kr6", KR6), ("scara", SCARA)):
            self.write(f"{name}.yaml", re.sub(r", limits: {[^}]*}", "", text))
            self.write(f"{name}_bare.yaml", bare(text, limits=True))
            self.write(f"{name}_nolimits.yaml", bare(text))
        self.write("arm_masses.yaml", ARM)
        self.write("arm_gravity.yaml", bare(ARM).replace("-9.81", "9.81"))
        self.write("arm_other.yaml", bare(ARM).replace("a: 0.5", "a: 0.2").replace("alpha: pi/2", "alpha: pi/3, a: 0.3"))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def call(self, *words):
        return subprocess.run([self.tool, *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def clean(self, robot, kind=""):
        """The log of a robot along a Fourier series, or the motion of `kind`."""
        if (robot, kind) in self.logs:
            return self.logs[robot, kind]
        name = f"{robot}{kind}.csv"
        amplitude, period, seconds, seed = {"": ("1.2", "10", "10", SEED), "second": ("1", "8", "8", "5"), "slow": ("0.3", "60", "20", SEED), "still": ("0,1,0.8", "", "10", SEED)}[kind]
        low = ["--log-noise", "0.2"] if robot != "scara" else ["--log-noise", "0.1"]
        if robot == "scara":
            amplitude = "0.5"
        motion = ["--reference", "fourier", "--period", period] if period else ["--reference", "sines", "--frequency", "0.3,0.37,0.45"]
        made = self.call("simulate", f"{robot}.yaml", "--time", seconds, "--friction", "coulomb", "--control", "computed-torque", "--compensate", "--amplitude", amplitude, *motion, "--seed", seed, "--initial", "reference", "--rate", "1000", "--log", name, "--log-rate", "100", *low)
        if made.returncode:
            sys.exit(f"simulate: {made.stderr}")
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            lines = file.read().split("\n")
        rows = [[float(x) for x in line.split(",")] for line in lines[1:] if line]
        self.logs[robot, kind] = Log(lines[0].split(","), zip(*rows))
        return self.logs[robot, kind]

    def spoil(self, variant):
        name, robot, changes, expected, word, *rest = variant
        model, text, kind = (rest + [None] * 3)[:3]
        log = self.clean(robot, kind or "").copy()
        for change in changes:
            log = change(log)
        self.write("spoiled.csv", text(log) if text else log.text())
        logs = ["spoiled.csv"]
        if kind == "second":
            os.replace(os.path.join(self.folder, "spoiled.csv"), os.path.join(self.folder, "second.csv"))
            self.clean(robot)
            logs = [f"{robot}.csv", "second.csv"]
        file = f"{robot}_{model or 'bare'}.yaml"
        return name, expected, word, self.judge(file, logs)

    def judge(self, file, logs, *options):
        done = self.call("calibrate", file, "--log", *logs, "--json", "--threads", "1", *options)
        found = json.loads(done.stdout) if done.stdout.startswith("{") else None
        if found is None:
            return {"code": done.returncode, "verdict": "-", "error": math.nan, "text": done.stderr.strip(), "named": done.stderr.strip().split("\n")[0]}
        verdict = found["verdict"]
        lines = [f"{f['verdict']}: {f['text']}" for f in verdict["findings"]]
        faults = found["fault_lines"]
        text = "\n".join(lines + faults + found["reasons"] + (["faults"] if faults else []))
        causes = [f"{f['verdict']}: {f['text']}" for f in verdict["findings"] if f["rule"] not in ("error", "no-model")]
        named = causes[:1] + lines[:1] + faults[:1] + [""]
        return {"code": done.returncode, "verdict": verdict["word"], "error": verdict["error"], "text": text, "named": named[0]}


def met(expected, word, got):
    right = {"pass": got["code"] == 0 and got["verdict"] in ("good", "usable"), "fail": got["code"] in (1, 3) and got["verdict"] not in ("good", "usable"), "any": got["code"] in (0, 1, 3)}[expected]
    return right and word in got["text"]


# log and arguments for each real arm; its file is tests/support/NAME.yaml
REAL = {
    "ur10": ("ur10/ur10_exciting.csv", ["--holdout", "0.3"]),
    "panda": ("panda/panda_exciting.csv", ["--holdout", "0.3"]),
    "tx40": ("tx40/tx40_motor_5khz.csv", ["--holdout", "blocks:0.5/4"]),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--skip", choices=("even", "odd"))
    parser.add_argument("--markdown")
    parser.add_argument("--data")
    options = parser.parse_args()
    table = variants()
    if options.quick:
        table = [v for v in table if v[0] in QUICK]
    if options.only:
        table = [v for v in table if any(word in v[0] for word in options.only)]
    if options.skip:
        table = [v for k, v in enumerate(table) if k % 2 == (options.skip == "even")]
    wrong, lines = 0, []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(options.tool), folder)
        done = [bench.spoil(v) for v in table]
        for name, (path, words) in REAL.items() if options.data else ():
            if os.path.exists(os.path.join(options.data, path)):
                robot = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", f"{name}.yaml")
                done.append((f"{name}, as measured", "pass", "", bench.judge(robot, [os.path.abspath(os.path.join(options.data, path))], *words)))
    for name, expected, word, got in done:
        good = met(expected, word, got)
        wrong += not good
        error = "-" if not got["error"] == got["error"] else f"{100 * got['error']:.1f} %"
        print(f"{'ok   ' if good else 'WRONG'} {expected:4} {got['code']} {got['verdict']:8} {error:>9}  {name}: {got['named'][:150]}")
        if not good:
            print("\n".join("        " + line for line in got["text"].split("\n")[:8]))
        named = got["named"].replace("|", "\\|")
        lines.append(f"| {name} | {got['verdict']} | {got['code']} | {error} | {named} |")
    print(f"{len(done)} logs, {wrong} not as expected")
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write("\n".join(["| log | verdict | exit | error | named first |", "|---|---|---|---|---|", *lines]) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
