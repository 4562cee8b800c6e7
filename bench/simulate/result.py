#!/usr/bin/env python3
"""Makes a JSON result from the tables that simulate prints: result.py TABLES.txt FILE.json QUICK(0|1)"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import result  # noqa: E402

SCHEMES = {"rk4": "Runge-Kutta 4", "euler": "semi-implicit Euler"}
HEAD = re.compile(r"(\S+): free motion from q = 0, .* best of (\d+)$")
ROW = re.compile(r"(rk4|euler)\s+(\S.*?)\s+(\d+)\s+([\d.]+)\s+(\S+)x\s+(\S+)\s+(.*)$")


def read(lines):
    """one row per time, and the number of repeats"""
    robot, repeats, rows = None, 0, []
    for line in lines:
        if head := HEAD.match(line):
            robot, repeats = head.group(1), int(head.group(2))
        elif row := ROW.match(line):
            rows.append({"robot": robot, "integrator": row.group(1), "label": row.group(2), "microseconds": float(row.group(4)), "apart": float(row.group(6)), "way": row.group(7)})
    return rows, repeats


def main():
    rows, repeats = read(pathlib.Path(sys.argv[1]).read_text().splitlines())
    if not rows:
        sys.exit("simulate: the tables have no row")
    charts = []
    for robot in dict.fromkeys(r["robot"] for r in rows):
        mine = [r for r in rows if r["robot"] == robot]
        labels = sorted(dict.fromkeys(r["label"] for r in mine), key=lambda label: label != "libpsdm")
        times = {(r["integrator"], r["label"]): r["microseconds"] for r in mine}
        charts.append(result.bars(f"Simulated steps of {robot}, free motion, 1 ms", "µs per step", list(SCHEMES.values()), {label: [times.get((s, label)) for s in SCHEMES] for label in labels}, x="integrator"))
    result.write(sys.argv[2], "bench/simulate", f"microseconds per step, one thread, in turns, best of {repeats}; all end at the same state to 1e-9", charts, sys.argv[3] == "1", rows=rows)


if __name__ == "__main__":
    main()
