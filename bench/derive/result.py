#!/usr/bin/env python3
"""Makes a JSON result from run.sh's measurements: result.py FOLDER FILE.json QUICK(0|1)."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import result  # noqa: E402


def pairs(path):
    """lines "n milliseconds" as two lists, in seconds"""
    rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return [int(r[0]) for r in rows], [float(r[1]) / 1000 for r in rows]


def robots(path):
    keys = ("p", "l", "entries")
    for line in path.read_text().splitlines()[1:]:
        name, *numbers, milliseconds, megabytes = line.split()
        yield {"robot": name, **dict(zip(keys, map(int, numbers))), "seconds": float(milliseconds) / 1000, "megabytes": float(megabytes)}


def main():
    folder, path, quick = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
    chains = {robot: pairs(folder / f"{robot}.txt") for robot in ("kuka_kr6", "kuka_lbr7")}
    symbolic = pairs(folder / "sympy.txt")
    full = [("kuka_kr6", "KR6"), ("kuka_lbr7", "LBR7")]
    series = [result.curve(f"libpsdm, {words}", *chains[robot]) for robot, words in full]
    series.append(result.curve("SymPy, Lagrange, KR6", *symbolic))
    series.append(result.curve("PSDM toolbox, published", *zip(*((p["n"], p["derivation"]) for p in result.PUBLISHED.values())), published=True))
    chart = result.curves("Derivation time of the first n links", "joints n", "seconds", series, figure="Figure 4")
    ours = {r["robot"]: r["seconds"] for r in robots(folder / "warm.txt")}
    names = [name for name in result.PUBLISHED if name in ours]
    bars = result.bars("Derivation time of whole robots", "seconds", names, {"libpsdm": [ours[n] for n in names], "PSDM toolbox, published": [result.PUBLISHED[n]["derivation"] for n in names]}, figure="Table 2")
    dense = [float(x) for x in (folder / "dense.txt").read_text().split()] if (folder / "dense.txt").exists() else []
    notes = ["the paper's symbolic derivation of the LBR7 failed after five days, for lack of memory; its two-link arm has assumptions about its inertias (p = 10), the one here has none"]
    if not symbolic[0]:
        notes.append("no symbolic derivation was timed")
    result.write(path, "bench/derive", "warm, one thread, best of 20; published: Intel i7 at 3.2 GHz, median of 100, " + result.PAPER, [chart, bars], quick, robots=list(robots(folder / "warm.txt")),
                 dense={"robot": "kuka_kr6", "seconds": dense[0]} if dense else None, notes=notes)


if __name__ == "__main__":
    main()
