#!/usr/bin/env bash
# Excitation of KR6 and LBR7: time, condition numbers beside random motions and beside three sines per joint: bench/excite/run.sh [--quick]
#
# Limits are the defaults of psdm excite; a period is 10 s, eight starts (--quick: two), one run each. Condition numbers of the scaled stack (docs/excite.md) and, behind a
# slash, of the base regressor alone, nothing scaled (eq. 23 of Lloyd, Irani, Ahmadi 2022). Random: best and median of 100 motions scaled up to the same limits.
# Three sines are eq. 22 of that paper, by this planner, with its goal, the condition number.
# Exit 0: timed, every limit verified, two minutes kept, 1: otherwise, 2: something did not build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common/setup.sh"
starts=8
while [ $# -gt 0 ]; do
  case $1 in
    --quick) starts=2 ;;
    *) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
quietly configure cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPSDM_TESTS=OFF
quietly tool cmake --build "$build" --target psdm_tool -j "$(nproc)"
folder=$(mktemp -d "$build/excite.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# ROBOT NAME OPTION...: one row of the table
row() {
  local robot=$1 name=$2
  shift 2
  "$build/psdm" excite "$root/robots/$robot.yaml" --starts "$starts" --out "$folder/motion.csv" --json "$@" > "$folder/answer.json" 2> "$folder/words" || { cat "$folder/words" >&2; return 1; }
  python3 - "$folder/answer.json" "$name" <<'PY'
import json, sys
j = json.load(open(sys.argv[1]))
r, worst = j["random"], max(v["worst"] for v in j["verified"].values())
pair = lambda a, b: "%.4g / %.4g" % (a, b)
print("  %-24s %6.1f s %18s %18s %18s %8.2f %8.2f %9.2f %%" % (sys.argv[2], j["wall_seconds"], pair(j["condition"], j["condition_plain"]), pair(r["best"], r["plain_best"]),
      pair(r["median"], r["plain_median"]), j["times_better"]["best"], j["times_better"]["median"], 100 * worst))
if worst > 1 or j["wall_seconds"] > 120: sys.exit(f"excite: {sys.argv[2]}: limits or time are exceeded")
PY
}

run_all() {
  local robot
  echo "excitation on $(nproc) threads, $starts starts; condition numbers scaled / plain (eq. 23)"
  for robot in kuka_kr6 kuka_lbr7; do
    printf '%s\n  %-24s %8s %18s %18s %18s %8s %8s %11s\n' "$robot" "" "time" "found" "random: best" "median" "x best" "x median" "of a limit"
    row $robot "Fourier, log det" --goal logdet || return 1
    row $robot "Fourier, condition" || return 1
    row $robot "three sines, log det" --shape sines --goal logdet || return 1
    row $robot "three sines, condition" --shape sines || return 1
  done
}
run_all | tee "$build/excite.txt"
