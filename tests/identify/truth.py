"""truth.py: how often the truth lies within three standard deviations, with logs that psdm simulate made. Run by deep_truth.sh.

  truth.py PSDM FOLDER NAME SEEDS CABLE LEAST LABEL ESTIMATOR[,...] OPTION...

FOLDER has NAME_clean.csv (the simulated log: encoders in steps, torques without noise), NAME_truth.json (psdm params --json of the true robot) and
NAME_kinematics.yaml. Noise is a share of each joint's effort limit, by the tool's own generator, so that a log is the one that psdm simulate --log-noise --seed
writes. CABLE is a spring on the wrist (joints 4 to 6) that no model knows, as a share of the range of each one's torque. Prints a table per estimator. Exit 1
when less than the share LEAST of the cases is covered, or a consistent fit is not physically possible. LABEL `write` only writes the log of seed SEEDS.
"""
import concurrent.futures, csv, json, math, os, re, subprocess, sys

NOISE, WRIST, Z = 0.005, (3, 4, 5), 3


def gaussians(seed):
    """splitmix64 (Steele, Lea, Flood 2014), Box and Muller: as in cmd_simulate_reference.c"""
    state, mask = seed ^ 0x106, (1 << 64) - 1

    def uniform():
        nonlocal state
        state = x = (state + 0x9E3779B97F4A7C15) & mask
        x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ x >> 27) * 0x94D049BB133111EB) & mask
        return ((x ^ x >> 31) >> 11) * 2.0**-53

    while True:
        radius = math.sqrt(-2 * math.log(1 - uniform()))
        yield radius * math.cos(2 * math.pi * uniform())


def read_robot(folder, name):
    """effort and gear of each joint, for noise and cable"""
    text = open(f"{folder}/{name}_kinematics.yaml").read()
    return [float(x) for x in re.findall(r"effort: ([0-9.]+)", text)], [float(x) for x in re.findall(r"gear: ([0-9.]+)", text)]


class Log:
    def __init__(self, folder, name, cable):
        effort, gear = read_robot(folder, name)
        with open(f"{folder}/{name}_clean.csv") as file:
            rows = csv.reader(file)
            self.header = ",".join(next(rows))
            cells = list(rows)
        n = len(effort)
        self.begin = [",".join(r[: 1 + n]) for r in cells]
        self.tau = [[float(x) for x in r[1 + n :]] for r in cells]
        self.noise = [NOISE * e / g for e, g in zip(effort, gear)]
        for i in WRIST if cable else ():
            q = [float(r[1 + i]) for r in cells]
            torque = [t[i] for t in self.tau]
            gain = cable * (max(torque) - min(torque)) / max(abs(x) for x in q)
            for t, x in zip(self.tau, q):
                t[i] += gain * x

    def write(self, path, seed):
        noise, sigma = gaussians(seed), self.noise
        with open(path, "w") as file:
            file.write(self.header + "\n")
            for begin, tau in zip(self.begin, self.tau):
                file.write(begin + "," + ",".join(["%.17g" % (x + s * next(noise)) for x, s in zip(tau, sigma)]) + "\n")


def possible(pi):
    """every link's pseudo-inertia is positive definite, by its leading minors"""

    def determinant(a):
        return a[0][0] if len(a) == 1 else sum((-1) ** j * a[0][j] * determinant([r[:j] + r[j + 1 :] for r in a[1:]]) for j in range(len(a)))

    for k in range(1, 1 + sum(re.fullmatch(r"m[0-9]+", name) is not None for name in pi)):
        p = {name: pi[f"{name}{k}"] for name in ("m", "mx", "my", "mz", "XX", "XY", "XZ", "YY", "YZ", "ZZ")}
        half = (p["XX"] + p["YY"] + p["ZZ"]) / 2
        P = [[half - p["XX"], -p["XY"], -p["XZ"], p["mx"]], [-p["XY"], half - p["YY"], -p["YZ"], p["my"]],
             [-p["XZ"], -p["YZ"], half - p["ZZ"], p["mz"]], [p["mx"], p["my"], p["mz"], p["m"]]]
        if not all(determinant([r[:k] for r in P[:k]]) > 0 for k in range(1, 5)):
            return False
    return True


def one_seed(seed):
    tool, folder, name, estimators, options, log = job
    path = f"{folder}/{name}_{os.getpid()}.csv"
    log.write(path, seed)
    answers = []
    for estimator in estimators:
        words = [tool, "calibrate", f"{folder}/{name}_kinematics.yaml", "--log", path, "--estimator", estimator, "--json", *options]
        run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode:
            raise RuntimeError(" ".join(words) + ": " + run.stderr)
        answer = json.loads(run.stdout)
        answers.append(({p["name"]: (p["value"], p["sd"]) for p in answer["parameters"]}, possible(answer["standard_parameters"]) if estimator == "consistent" else True,
                        answer["train"]["global_rel"]))
    os.unlink(path)
    return answers


def table(title, truth, found, least):
    seeds, covered, farthest, bias = len(found), 0, 0, []
    print(f"\n{title}")
    print("%-10s %11s %11s %10s %10s %10s %8s" % ("parameter", "truth", "mean", "bias", "scatter", "reported", "covered"))
    for name, value in truth.items():
        x, sd = [f[0][name][0] for f in found], [f[0][name][1] for f in found]
        mean = sum(x) / seeds
        inside = sum(abs(a - value) <= Z * s for a, s in zip(x, sd))
        covered += inside
        farthest = max(farthest, max(abs(a - value) / s for a, s in zip(x, sd)))
        scatter = math.sqrt(sum((a - mean) ** 2 for a in x) / seeds)
        bias.append((abs(mean - value) * seeds / sum(sd), name))
        print("%-10.10s %11.5f %11.5f %10.2e %10.2e %10.2e %7.1f%%" % (name, value, mean, mean - value, scatter, sum(sd) / seeds, 100 * inside / seeds))
    cases, feasible, bias = seeds * len(truth), sum(f[1] for f in found), sorted(bias)
    print("covered: %d of %d, %.1f %%; farthest %.1f sd; possible: %d of %d; train error %.3f %%"
          % (covered, cases, 100 * covered / cases, farthest, feasible, seeds, 100 * sum(f[2] for f in found) / seeds))
    print("bias in reported sd: median %.2f; largest %s" % (bias[len(bias) // 2][0], ", ".join("%.1f (%s)" % b for b in bias[:-4:-1])), flush=True)
    if covered < least * cases:
        print(f"WRONG: fewer than {100 * least:g} % of the cases are covered")
    if feasible < seeds:
        print("WRONG: a fit is not physically possible")
    return covered < least * cases or feasible < seeds


def main():
    global job
    tool, folder, name, seeds, cable, least, label, estimators, *options = sys.argv[1:]
    job = tool, folder, name, estimators.split(","), options, Log(folder, name, float(cable))
    if label == "write":  # one log, to compare with the tool's own
        return job[-1].write(f"{folder}/{name}_noisy.csv", int(seeds))
    truth = {p["name"]: p["value"] for p in json.load(open(f"{folder}/{name}_truth.json"))["base_parameters"]}
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(one_seed, range(1, int(seeds) + 1)))
    wrong = False
    for k, estimator in enumerate(job[3]):
        title = f"{name}, {estimator}, {seeds} seeds, cable {100 * float(cable):g} %, {label}"
        wrong |= table(title, truth, [f[k] for f in found], float(least))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
