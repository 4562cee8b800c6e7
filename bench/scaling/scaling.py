#!/usr/bin/env python3
"""Evaluation time and operations against n: scaling.py PSDM ROBOTS FOLDER QUICK(0|1) FILE.json|"" (see run.sh). Prints a table."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import result  # noqa: E402

WORDS = {"kuka_kr6": "KR6", "kuka_lbr7": "LBR7", "fanuc_sr6ia": "SR-6iA", "two_link": "two-link"}
METHODS = {"recursive": "generated, recursion", "expanded": "generated, closed form", "library": "library, recursion", "textbook": "textbook Newton-Euler"}


def psdm(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr)
        sys.exit(1 if done.returncode == 1 else 2)
    return done.stdout


def operations_as_they_stand(tool, file, folder):
    """Of the closed form with nothing shared: each function a product of its factors, each torque a sum of functions times coefficients."""
    psdm(tool, "derive", file, "--export", folder / "model.json")
    model = json.loads((folder / "model.json").read_text())
    factors = [sum(map(int, row)) for row in model["E"]]
    terms = len({(function, joint) for function, joint, _, _ in model["P"]})
    return sum(max(f - 1, 0) for f in factors) + terms + max(terms - model["n"], 0)


def textbook_ns(file, folder, repeats):
    """None: the robot is not supported"""
    subprocess.run([folder / "peers", "--repeats", str(repeats), "--json", folder / "peers.json", file, f"recursions={folder}/psdm.so", f"textbook={folder}/textbook.so"],
                   check=True, stdout=subprocess.DEVNULL)
    times = json.loads((folder / "peers.json").read_text())["times"]
    return next((t["ns"] for t in times if t["label"] == "textbook" and t["function"] == "inverse"), None)


def measure(tool, file, folder, repeats):
    answer = json.loads(psdm(tool, "bench", file, "--functions", "inverse", "--method", "all", "--effort", "0", "--repeat", repeats, "--json"))
    inverse = answer["functions"]["inverse"]
    row = {"robot": answer["name"], "n": answer["n"], "plain": operations_as_they_stand(tool, file, folder), "ns": {"library": inverse["library_ns"]}, "operations": {}}
    for form in [inverse, *inverse["others"]]:
        row["ns"][form["method"]] = form["ns"]
        row["operations"][form["method"]] = form["mult"] + form["add"] + form["div"]
    textbook = textbook_ns(file, folder, repeats)
    return row if textbook is None else {**row, "ns": {**row["ns"], "textbook": textbook}}


def print_row(row):
    times = " ".join(f"{row['ns'].get(m, float('nan')):12.1f}" for m in METHODS)
    print(f"{row['robot']:16} {row['n']:2} {times}   {row['operations']['recursive']:9} {row['operations'].get('expanded', 0):9} {row['plain']:9}", flush=True)


def against_n(rows, pick, name):
    found = [(r["n"], pick(r)) for r in rows if pick(r) is not None]
    return result.curve(name, [n for n, _ in found], [y for _, y in found])


def published(robot, key, words):
    p = result.PUBLISHED[robot]
    return result.curve(words, [p["n"]], [p[key]], published=True)


def charts_of(robot, rows):
    """Figure 6 and its operations, for the first n links of a robot"""
    words = WORDS[robot]
    times = [against_n(rows, lambda r, m=m: r["ns"].get(m), name) for m, name in METHODS.items()] + [published(robot, "inverse_ns", "PSDM toolbox, published")]
    counts = [against_n(rows, lambda r: r["operations"].get("recursive"), "recursion"), against_n(rows, lambda r: r["operations"].get("expanded"), "closed form, nested"),
              against_n(rows, lambda r: r["plain"], "closed form as it stands"),
              published(robot, "optimised", "PSDM toolbox, published"), published(robot, "plain", "the same before optimization, published")]
    yield result.curves(f"Inverse dynamics of the first n links of the {words}", "joints n", "ns per call", times, figure="Figure 6" if robot == "kuka_lbr7" else None)
    yield result.curves(f"Operations of inverse dynamics, first n links of the {words}", "joints n", "multiplications + additions", counts)


def whole_robots(rows):
    """Figure 5"""
    names = [r["robot"] for r in rows]
    series = {name: [r["ns"].get(m) for r in rows] for m, name in METHODS.items()}
    series["PSDM toolbox, published"] = [result.PUBLISHED[n]["inverse_ns"] for n in names]
    return result.bars("Inverse dynamics of the paper's robots", "ns per call", [WORDS[n] for n in names], series, figure="Figure 5")


def chain(tool, robots, robot, folder, repeats, full):
    """rows of the first n links; the last one is the whole robot, which is already there"""
    last, rows = full[robot]["n"], []
    for n in range(1, last):
        file = folder / f"{robot}_{n}.yaml"
        psdm(tool, "convert", robots / f"{robot}.yaml", "--tip", f"link{n}", "--out", file)
        rows.append({**measure(tool, file, folder, repeats), "robot": f"{robot}, first {n}"})
        print_row({**rows[-1], "robot": f"{robot}:{n}"})
    return rows + [full[robot]]


def main():
    tool, robots, folder, quick, path = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4] == "1", sys.argv[5]
    repeats, full, charts, all_rows = 10 if quick else 50, {}, [], []
    print(f"inverse dynamics: ns per call, operations (best of {repeats})\n{'robot':16} {'n':>2} {'recursion':>12} {'closed form':>12} {'library':>12} {'textbook':>12}   {'recursion':>9} {'nested':>9} {'plain':>9}")
    for robot in WORDS:
        full[robot] = measure(tool, robots / f"{robot}.yaml", folder, repeats)
        print_row(full[robot])
    for robot in ["kuka_lbr7"] if quick else ["kuka_lbr7", "kuka_kr6"]:
        rows = chain(tool, robots, robot, folder, repeats, full)
        charts += charts_of(robot, rows)
        all_rows += rows[:-1]
    order = sorted(full.values(), key=lambda r: r["n"])
    if path:
        result.write(path, "bench/scaling", f"one thread, sine and cosine included, best of {repeats} over 64 states; published: Intel i7 at 3.2 GHz, mean of 10^8, {result.PAPER}",
                     [whole_robots(order)] + charts, quick, rows=order + all_rows,
                     notes=["the paper's two-link arm has assumptions about its inertias (p = 10), the one here has none (p = 18)",
                            "closed form as it stands: every function and every sum on its own, nothing shared; nested: what psdm codegen --method expanded writes"])


if __name__ == "__main__":
    main()
