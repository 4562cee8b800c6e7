#!/usr/bin/env python3
"""Makes one table and one JSON from the robots' results: table.py FOLDER OUT FLAGS CORE REPEATS QUICK(0|1), with FOLDER/*.json from peers_main and
FOLDER/*.note from run.sh; writes OUT.md (and stdout) and OUT.json, which psdm report draws."""
import json
import pathlib
import platform
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import result  # noqa: E402

OURS = "generated"
COLUMNS = {OURS: "psdm codegen", "libm": "psdm codegen, libm's sine", "recursions": "libpsdm recursions", "pinocchio": "Pinocchio", "casadi": "Pinocchio, generated (CasADi)",
           "mujoco": "MuJoCo", "kdl": "KDL", "textbook": "textbook Newton–Euler", "atkeson": "Atkeson"}
FUNCTIONS = {"inverse": "Inverse dynamics tau(q, qd, qdd)", "mass": "Mass matrix M(q)", "forward": "Forward dynamics qdd(q, qd, tau)",
             "regressor": "Regressor Y(q, qd, qdd): base parameters from psdm codegen, 10 per link from the others",
             "linearize_inverse": "Linearized inverse dynamics: dtau_dq, dtau_dqd and M(q, qd, qdd)",
             "linearize_forward": "Linearized forward dynamics: dqdd_dq, dqdd_dqd and Minv(q, qd, tau)",
             "inverse_mass": "Inverse of the mass matrix Minv(q)",
             "inverse_batch": "Inverse dynamics, many states in one call (vectors of eight), ns per state",
             "linearize_inverse_batch": "Linearized inverse dynamics, many states in one call (vectors of eight), ns per state",
             "linearize_forward_batch": "Linearized forward dynamics, many states in one call (vectors of eight), ns per state"}


def fastest(robot, function, label):
    times = [t for t in robot["times"] if t["function"] == function and t["label"] == label]
    return min(times, key=lambda t: t["ns"], default=None)


def cell(robot, function, label):
    best, ours = fastest(robot, function, label), fastest(robot, function, OURS)
    if not best:
        return "–"
    ns = f"{best['ns']:.1f}" if best["ns"] < 100 else f"{best['ns']:.0f}"
    return ns if label == OURS or not ours else f"{ns} ({best['ns'] / ours['ns']:.1f}x)"


def captions(robots, flags, core, repeats):
    """Each label's compilers: one line per label, with all its variants."""
    yield (f"ns per call, and how many times ours: best of {repeats} interleaved repeats over 64 random states, one state at a time, sine and cosine "
           f"included, one thread on core {core} of {result.processor()} ({platform.system()} {platform.machine()}). Code that was compiled here is the faster of the "
           f"compilers named, at `{flags}` where no other flags are; every result was first compared with libpsdm's recursions (1e-9). "
           "psdm codegen inlines a polynomial sine unless `--sincos libm`; CasADi's code calls libm, its batch glibc's vector sine.")
    for label, title in COLUMNS.items():
        found = [p for r in robots for p in r["peers"] if p["label"] == label]
        if found:
            compilers = dict.fromkeys(p["compiler"].strip() for p in found)
            yield f"* {title}: {found[0]['name']}; {'; '.join(compilers)}"


def notes(robots, skipped):
    for robot in robots:
        reasons = {COLUMNS[p["label"]]: p["refusal"] for p in robot["peers"] if p["refusal"]}
        for title, reason in reasons.items():
            yield f"* {robot['robot']}, {title}: – ({reason})"
    yield from (f"* {line}" for line in skipped)


def markdown(robots, skipped, flags, core, repeats):
    lines = list(captions(robots, flags, core, repeats)) + [""]
    for function, title in FUNCTIONS.items():
        labels = [label for label in COLUMNS if any(fastest(r, function, label) for r in robots)]
        lines += [f"### {title}", "", "| robot | n | " + " | ".join(COLUMNS[label] for label in labels) + " |", "|---|---|" + "---|" * len(labels)]
        lines += [f"| {r['robot']} | {r['n']:g} | " + " | ".join(cell(r, function, label) for label in labels) + " |" for r in robots] + [""]
    return "\n".join(lines + ["– : the peer has no such function, or:", ""] + (list(notes(robots, skipped)) or ["* nothing else was left out"])) + "\n"


def bars(robots, function, title):
    """one group per robot, one bar per peer, libpsdm first"""
    labels = [label for label in COLUMNS if any(fastest(r, function, label) for r in robots)]
    names = [r["robot"] for r in robots if any(fastest(r, function, label) for label in labels)]
    known = {r["robot"]: r for r in robots}
    times = {COLUMNS[label]: [t["ns"] if (t := fastest(known[name], function, label)) else None for name in names] for label in labels}
    return result.bars(title, "ns per state" if "batch" in function else "ns per call", names, times)


def main():
    folder, out, flags, core, repeats, quick = sys.argv[1:]
    robots = [json.loads(f.read_text()) for f in sorted(pathlib.Path(folder).glob("*.json"))]
    skipped = [line for f in sorted(pathlib.Path(folder).glob("*.note")) for line in f.read_text().splitlines()]
    text = markdown(robots, skipped, flags, core, repeats)
    pathlib.Path(out + ".md").write_text(text)
    best = [{"robot": r["robot"], "function": f, "label": label, **{k: t[k] for k in ("ns", "way", "compiler", "difference")},
             "ratio": t["ns"] / ours["ns"] if (ours := fastest(r, f, OURS)) else None}
            for r in robots for f in FUNCTIONS for label in COLUMNS if (t := fastest(r, f, label))]
    charts = [bars(robots, f, title) for f, title in FUNCTIONS.items() if any(t["function"] == f for r in robots for t in r["times"])]
    how = f"ns per call, one thread, sine and cosine included, best of {repeats} interleaved repeats over 64 states; code compiled here is the faster of gcc and clang at {flags}"
    result.write(out + ".json", "bench/peers", how, charts, quick == "1", flags=flags, repeats=int(repeats), skipped=skipped, best=best, robots=robots)
    print(text, end="")


if __name__ == "__main__":
    main()
