"""steps.py: the Denso in four steps, over noise seeds: R2 of each step, how often the truth is within three standard deviations, friction curves. Run by deep_steps.sh.

  steps.py PSDM FOLDER SEEDS

FOLDER has truth.yaml, truth_1.2.yaml and truth_3.5.yaml (with the masses), arm.yaml (what a user knows), truth.json, and the motions of the four experiments. Exit 1 when
a target is missed.
"""
import concurrent.futures, json, math, os, re, subprocess, sys

Z, QUANTUM = 3, "%.17g" % (2 * math.pi / 131072)
COM, SLOW, FAST = "0.06,0,0.08", "200", "1000"  # Hz of slow and of quick experiments
NUMBERS = ("coulomb", "static", "stribeck", "viscous", "exponent", "sigma0", "sigma1")
LOGS = (("empty", "truth", "motor", SLOW), ("light", "truth_1.2", "motor", SLOW), ("heavy", "truth_3.5", "motor", SLOW), ("gravity", "truth", "gravity", SLOW),
        ("friction", "truth", "friction", FAST), ("inertia", "truth", "inertia", FAST))


def run(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(" ".join(words) + ": " + done.stderr[-2000:])
    return done.stdout


def record(robot, motion, path, rate, seed):
    """what a recorder logs of a robot along a motion"""
    tool, folder = job
    run([tool, "simulate", f"{folder}/{robot}.yaml", "--inverse", "--reference", f"{folder}/{motion}.csv", "--friction", "lugre", "--ignore-extra", "--motor", "--current",
         "--quantum", QUANTUM, "--log", path, "--log-rate", rate, "--log-noise", "0.005", "--seed", str(seed)])


def one_load(seed, path, params):
    """the mass of 3.5 kg as a load, from logs with and without it"""
    tool, folder = job
    loaded = f"{folder}/loaded_{seed}.csv"
    record("truth_3.5", "inertia", loaded, FAST, 10 * seed + 9)
    answer = [json.loads(run([tool, "payload", f"{folder}/arm.yaml", "--params", params, "--log", loaded, "--json", *more])) for more in ([], ["--empty", path["inertia"]])]
    os.unlink(loaded)
    return answer


def one_seed(seed):
    tool, folder = job
    path = {name: f"{folder}/{name}_{seed}.csv" for name, *_ in LOGS}
    params = f"{folder}/params_{seed}.yaml"
    for k, (name, robot, motion, rate) in enumerate(LOGS):
        record(robot, motion, path[name], rate, 10 * seed + k)
    answer = json.loads(run([tool, "calibrate", f"{folder}/arm.yaml", "--route", "steps", "--json", "--out", params, "--log", *(f"motor:{path[p]}" for p in ("empty", "light", "heavy")),
                             *(f"{p}:{path[p]}" for p in ("gravity", "friction", "inertia")), "--weight", f"{path['light']}=1.2,{COM}", f"{path['heavy']}=3.5,{COM}"]))
    answer["payload"] = one_load(seed, path, params)
    for p in (*path.values(), params):
        os.unlink(p)
    return answer


def steady(f, v):
    return f["coulomb"] + (f["static"] - f["coulomb"]) * math.exp(-((v / f["stribeck"]) ** 2)) + f["viscous"] * v ** f["exponent"]


def read_truth(folder):
    """torque constants and friction as truth.yaml has them"""
    text = open(f"{folder}/truth.yaml").read()
    constants = [float(x) for x in re.findall(r"torque_constant: ([0-9.]+)", text)]
    friction = [{k: float(v) for k, v in re.findall(r"(\w+): ([0-9.e]+)", body)} for body in re.findall(r"friction: {([^}]*)}", text)]
    return constants, friction


def coverage(title, cases):
    """cases: (name, truth, [(value, sd), ...])"""
    print(f"\n{title}\n%-8s %11s %11s %10s %10s %8s" % ("number", "truth", "mean", "scatter", "reported", "covered"))
    inside = total = 0
    for name, truth, found in cases:
        hit = sum(abs(x - truth) <= Z * sd for x, sd in found)
        mean = sum(x for x, _ in found) / len(found)
        scatter = math.sqrt(sum((x - mean) ** 2 for x, _ in found) / len(found))
        print("%-8s %11.5g %11.5g %10.2e %10.2e %7.1f%%" % (name, truth, mean, scatter, sum(sd for _, sd in found) / len(found), 100 * hit / len(found)))
        inside, total = inside + hit, total + len(found)
    print("covered: %d of %d, %.1f %%" % (inside, total, 100 * inside / total), flush=True)
    return inside / total


def main():
    global job
    tool, folder, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    job = tool, folder
    constants, friction = read_truth(folder)
    truth = {p["name"]: p["value"] for p in json.load(open(f"{folder}/truth.json"))["base_parameters"]}
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(one_seed, range(1, seeds + 1)))
    n, wrong = len(constants), []

    print(f"{seeds} seeds; least R2 of the rows that were held out")
    print("%-6s %9s %9s %9s %9s %9s" % ("joint", "motor", "gravity", "friction", "inertia", "all"))
    for j in range(n):
        r2 = {s: min(f["steps"][s]["joints"][j]["r2"] for f in found) for s in ("motor", "gravity", "friction", "inertia")}
        r2["all"] = min(f["all"][j]["r2"] for f in found)
        if j == n - 1:
            del r2["gravity"]  # link 6 is massless: gravity shows nothing there
        print("%-6s" % f"J{j + 1}", *("%9s" % ("%.5f" % r2[s] if s in r2 else "-") for s in ("motor", "gravity", "friction", "inertia", "all")))
        wrong += [f"R2 of {s} at joint {j + 1} is {x:.4f}" for s, x in r2.items() if x < (0.98 if s in ("motor", "gravity", "friction") else 0.95 if s == "all" else -1)]

    motor = [(f"Kt{j + 1}", constants[j], [(f["steps"]["motor"]["joints"][j]["constant"], f["steps"]["motor"]["joints"][j]["sd"]) for f in found]) for j in range(n)]
    theta = [(p["name"], truth[p["name"]], [(f["parameters"][k]["value"], f["parameters"][k]["sd"]) for f in found])
             for k, p in enumerate(found[0]["parameters"]) if p["sd"] > 0]
    if len(theta) != 32:
        wrong.append(f"{len(theta)} base parameters have a doubt; 32 were expected")
    for title, cases in (("torque constants", motor), ("base parameters of gravity", [c for c, p in zip(theta, [p for p in found[0]["parameters"] if p["sd"] > 0]) if p["gravity"]]),
                         ("the other base parameters", [c for c, p in zip(theta, [p for p in found[0]["parameters"] if p["sd"] > 0]) if not p["gravity"]])):
        share = coverage(title, cases)
        if share < 0.95:
            wrong.append(f"{title}: covered {100 * share:.1f} %")
    coverage("friction (not linear: told, not asked for)",
             [(f"{name}{j + 1}"[:8], friction[j][name], [(f["friction"][j][name], f["friction"][j]["sd"][name]) for f in found]) for j in range(n) for name in NUMBERS])

    print("\nfriction curve, largest difference from the true torque, from 1 mrad/s to the largest tested speed")
    for j in range(n):
        worst = 0
        for f in found:
            fit = f["friction"][j]
            for k in range(201):
                v = 1e-3 * (fit["speed"] / 1e-3) ** (k / 200)
                worst = max(worst, abs(steady(fit, v) / steady(friction[j], v) - 1))
        print("J%d %.3f %%" % (j + 1, 100 * worst))
        if worst > 0.02:
            wrong.append(f"friction curve of joint {j + 1} is {100 * worst:.2f} % off")

    print("\n3.5 kg at 60, 0, 80 mm as a load: largest error of mass and centre")
    for k, name in enumerate(("calibration alone", "beside a log without it")):
        mass = max(abs(f["payload"][k]["load"]["mass"] / 3.5 - 1) for f in found)
        centre = max(math.dist(f["payload"][k]["load"]["com"], (0.06, 0, 0.08)) for f in found)
        print("%-24s %.3f %% %.3f mm" % (name, 100 * mass, 1000 * centre))
        if mass > 0.01 or centre > 0.002:
            wrong.append(f"load, {name}: {100 * mass:.2f} %, {1000 * centre:.2f} mm")
    for w in wrong:
        print("WRONG:", w)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
