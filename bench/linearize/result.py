#!/usr/bin/env python3
"""Makes a JSON result of the table that linearize prints: result.py TABLE.txt FILE.json"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import result  # noqa: E402

WORDS = ["inverse, along", "inverse, matrices", "forward, along, dense", "forward, matrices, dense", "forward, along", "forward, matrices"]


def main():
    rows = [line.split() for line in pathlib.Path(sys.argv[1]).read_text().splitlines()[1:]]
    n = [int(row[0]) for row in rows if row[0].isdigit()]
    slopes = [float(x) for x in next(row for row in rows if row[0] == "slope")[1:1 + len(WORDS)]]
    seconds = [[1e-6 * float(row[1 + a]) for row in rows if row[0].isdigit()] for a in range(len(WORDS))]
    series = [result.curve(f"{a + 1}: {words} (order {slopes[a]:.2f})", n, seconds[a]) for a, words in enumerate(WORDS)]
    result.write(sys.argv[2], "bench/linearize", "serial chains, one thread, best of the repeats of 0.1 s; order: slope from 16 joints on",
                 [result.curves("Linearization algorithms", "joints n", "seconds per call", series, logarithmic="xy")], slopes=slopes)


if __name__ == "__main__":
    main()
