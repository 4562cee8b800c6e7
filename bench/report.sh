#!/usr/bin/env bash
# The benchmarks of this machine as one page: bench/report.sh [--full] [OUT]
# Runs psdm bench and psdm reduce on the KR6 and the scripts in this folder, each of which writes a JSON result into OUT (default build/bench),
# and makes OUT/report.html from them. Without --full, scripts run with --quick if they have it, and without peers that need compiling
# (--full: Pinocchio, MuJoCo, KDL, CasADi from PyPI; a quarter of an hour). PSDM is build/psdm unless it is set.
# Exit 0: all ran, 1: one failed (the page has the rest), 2: something is missing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
full='' out=''
for word; do
  case $word in
    --full) full=yes ;;
    -*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
    *) out=$word ;;
  esac
done
out=${out:-$root/build/bench}
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
psdm=${PSDM:-$root/build/psdm}
[ -x "$psdm" ] || make -C "$root" build || exit 2
results=() failed=0

# result NAME COMMAND...: a command that leaves OUT/NAME.json; 77 is an unavailable peer
result() {
  local name=$1 status=0
  shift
  echo "== $name" >&2
  rm -f "$out/$name.json"
  "$@" || status=$?
  [ $status = 0 ] || [ $status = 77 ] || { echo "report: $name failed with exit code $status" >&2; failed=1; }
  [ ! -s "$out/$name.json" ] || results+=("$out/$name.json")
}

# json NAME ARGUMENT...: psdm's output
json() {
  local name=$1
  shift
  "$psdm" "$@" --json > "$out/$name.json"
}

quick=--quick
[ -z "$full" ] || quick=
result bench_kr6 json bench_kr6 bench "$root/robots/kuka_kr6.yaml"
if [ -n "$full" ]; then
  result reduce_kr6 json reduce_kr6 reduce "$root/robots/kuka_kr6.yaml" --figures --table
else
  result reduce_scara json reduce_scara reduce "$root/robots/fanuc_sr6ia.yaml" --figures --table --samples 20000
fi
# shellcheck disable=SC2086 # an empty word disappears
{
  result derive bash "$here/derive/run.sh" $quick --json "$out/derive.json"
  result scaling bash "$here/scaling/run.sh" $quick --json "$out/scaling.json"
}
if [ -n "$full" ]; then
  result linearize bash "$here/linearize/run.sh" --json "$out/linearize.json"
  result simulate bash "$here/simulate/run.sh" --json "$out/simulate.json"
  result plan bash "$here/plan/run.sh" --json "$out/plan.json"
  result peers bash "$here/peers/run.sh" --json "$out/peers.json"
fi
[ ${#results[@]} -gt 0 ] || { echo "report: nothing was measured" >&2; exit 2; }
"$psdm" report "${results[@]}" --out "$out/report.html" --title "Benchmarks of libpsdm" || exit 2
exit $failed
