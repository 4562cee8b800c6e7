#!/usr/bin/env bash
# KR6 from rest to rest, quickest and least strenuous, beside the same program through CasADi and Pinocchio: bench/plan/run.sh [--json FILE]
#
# The same polynomial pieces, points, limits, weights and solver (IPOPT) on both sides, one run, best of three; both begin with a quintic, each with a
# duration of its own. CasADi enforces
# velocity limits at the points alone and solves once; psdm plan also between them, and its time includes solving again on finer grids. CasADi has exact second derivatives and
# evaluates in its virtual machine. Its time is for the solution alone; the time to build the program is in parentheses. Exit 0: timed and agreed, 1:
# otherwise, 2: something did not build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common/setup.sh"
only_json "$@"
robot=$root/robots/kuka_kr6.yaml from=0,-1.57,1.57,0,0.3,0 to=1,-0.7,0.6,0.5,-0.5,1 velocity=6,6,6,6,6,6 effort=150,150,80,20,20,10 pieces=40
build_library
quietly tool cmake --build "$build" --target psdm_tool psdm_ipopt -j "$(nproc)"
peer=
if install_pinocchio && build_tracer; then
  quietly trace "$build/trace_casadi" "$robot" "$build/plan_kr6.c" "$build/plan_kr6.casadi" && peer=yes
else
  echo "SKIPPED: CasADi and Pinocchio could not be installed, see build/bench/casadi.log"
fi

# WHAT OPTION...: best of three of ours
ours() {
  local k
  for k in 1 2 3; do
    "$build/psdm" plan "$robot" "$@" --from $from --to $to --velocity $velocity --effort $effort --nodes $pieces --json 2> "$build/plan.log" || { cat "$build/plan.log" >&2; return 1; }
  done
}

ours time > "$build/plan_time.json"
least=$(python3 -c 'import json, sys; d = json.JSONDecoder(); print(1.2 * d.raw_decode(open(sys.argv[1]).read())[0]["seconds"])' "$build/plan_time.json")
ours energy --duration "$least" > "$build/plan_energy.json"
for what in time energy; do
  : > "$build/peer_$what.json"
  [ -z "$peer" ] || for _ in 1 2 3; do "$venv/bin/python" "$here/peer.py" "$build/plan_kr6.casadi" $what "$least" $from $to $velocity $effort $pieces >> "$build/peer_$what.json"; done
done
python3 - "$build" "$common" "$json" <<'PY' | tee "$build/plan.txt"
import json, sys
sys.path.insert(0, sys.argv[2])
import result
wrong, rows = [], []


def read(path):
    text, out, d = open(path).read(), [], json.JSONDecoder()
    while text.strip():
        x, end = d.raw_decode(text.lstrip())
        out.append(x)
        text = text.lstrip()[end:]
    return out


print("KR6, 40 pieces      seconds of motion  sum tau^2 dt   iterations     time to solve   (to build)")
for what in ("time", "energy"):
    ours, peer = read(f"{sys.argv[1]}/plan_{what}.json"), read(f"{sys.argv[1]}/peer_{what}.json")
    mine = min(o["wall"] for o in ours)
    o = ours[0]
    print("%-8s psdm plan     %9.6f %19.6g %12d %13.3f s" % (what, o["seconds"], o["energy"], o["iterations"], mine))
    rows.append({"problem": what, "seconds": o["seconds"], "iterations": o["iterations"], "solve": mine, "peer": None})
    if not o["converged"]: wrong.append(f"{what} did not converge")
    if peer:
        p, theirs = peer[0], min(x["solve"] for x in peer)
        print("%-8s CasADi        %9.6f %19s %12d %13.3f s  %.2f s, %s: %.1f times as long" % (what, p["seconds"], "", p["iterations"], theirs, min(x["build"] for x in peer), p["words"], theirs / mine))
        rows[-1]["peer"] = {"seconds": p["seconds"], "iterations": p["iterations"], "solve": theirs, "build": min(x["build"] for x in peer), "words": p["words"]}
        if p["words"] == "solved" and what == "time" and abs(p["seconds"] / o["seconds"] - 1) > 0.01: wrong.append("the two least times differ")
for w in wrong:
    print("WRONG:", w)
if sys.argv[3]:
    solved = [r["peer"]["solve"] if r["peer"] else None for r in rows]
    chart = result.bars("Optimal motions of the KR6, time to solve", "seconds", ["least time", "least effort"], {"psdm plan": [r["solve"] for r in rows], **({"CasADi, Pinocchio, IPOPT": solved} if any(solved) else {})}, x="goal")
    result.write(sys.argv[3], "bench/plan", "40 pieces, rest to rest, the same program and solver, best of three; CasADi's time is for the solution alone", [chart], rows=rows)
sys.exit(bool(wrong))
PY
