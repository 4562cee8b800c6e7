#!/usr/bin/env bash
# Rows per second of the calibration's accumulation beside numpy's lstsq, memory of long logs, and the consistent fit: bench/calibrate/run.sh [--quick] [--long]
#
# All on one core, on the same rows of the KR6. Memory is a process's peak (VmHWM) while logs of 10^5 to 10^7 rows (--quick: 10^6, --long: 10^8,
# a file of 3 GB) were calibrated, with the usual cache and with a small one.
# Exit 0: timed and agreed, 1: answers differ, memory grew or a fit took a second, 2: something did not build, 77: numpy could not be installed (the rest is timed).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../common/setup.sh"

rows=20000 lengths=(100000 1000000 10000000)
while [ $# -gt 0 ]; do
  case $1 in
    --quick) rows=5000 lengths=(100000 1000000) ;;
    --long) lengths+=(100000000) ;;
    *) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
numpy=2.4.6 missing=0
build_library
quietly calibrate cc -std=c11 -O2 -Wall -Wextra "${includes[@]}" "$here/calibrate.c" "$build/harness.o" "${libraries[@]}" -o "$build/calibrate"
install "numpy==$numpy" || { echo "calibrate: SKIPPED numpy: could not be installed, see build/bench/numpy.log" >&2; missing=1; }
folder=$(mktemp -d "$build/calibrate.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
core=$(taskset -cp $$ | sed 's/.*[ ,-]//') # the last one that we may use

run_all() {
  taskset -c "$core" "$build/calibrate" rows "$root/robots/kuka_kr6.yaml" "$rows" "$folder"
  [ "$missing" = 1 ] || taskset -c "$core" "$venv/bin/python" "$here/solve.py" "$folder"
  local cache length line held first
  for cache in 65536 2000000; do
    echo "logs of one joint, at most $cache rows in memory: filter at 20 Hz, plain friction, all rows fitted"
    first=0
    for length in "${lengths[@]}"; do
      line=$(taskset -c "$core" "$build/calibrate" memory "$length" "$folder/long.csv" "$cache")
      echo "$line"
      held=$(sed 's/.* \([0-9]*\)\.[0-9] MB/\1/' <<< "$line")
      if [ "$length" -gt "$cache" ]; then
        [ "$first" = 0 ] && first=$held
        [ "$held" -le $((first + first / 10 + 2)) ] || { echo "calibrate: memory grows with the log" >&2; return 1; }
      fi
    done
  done
  taskset -c "$core" "$build/calibrate" fit "$root/robots/kuka_lbr7.yaml"
}
run_all | tee "$build/calibrate.txt"
exit $((missing * 77))
