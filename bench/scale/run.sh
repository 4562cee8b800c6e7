#!/usr/bin/env bash
# The same work by 1, 2, 4 ... threads, and by as many ranks if MPI is installed: bench/scale/run.sh [--rows N] [--json FILE]
#
# Calibration of a KR6 from N rows at 1 kHz in 64 logs (default 1000000; filter given, so that all time is spent on rows), excitation with 16 starts,
# verification of a reduced model. Wall-clock seconds, the better of two if short; answers of every row are compared byte by byte. $PSDM: default build/psdm.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
PSDM=$(realpath "${PSDM:-$root/build/psdm}")
rows=1000000 json=
while [ $# -gt 0 ]; do
  case $1 in
    --rows) rows=${2:?a number}; shift ;;
    --json) json=$(realpath "${2:?a file}"); shift ;;
    *) sed -n '2s/^# //p' "$0" >&2; exit 2 ;;
  esac
  shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OPENBLAS_NUM_THREADS=1
robot=$root/robots/kuka_kr6.yaml

quietly() { "$@" > words 2>&1 || { cat words >&2; exit 2; }; }

# one log of a 64th of the rows, then links to copies of it: each is read as a file of its own
seconds=$((rows / 64000 + 1))
quietly "$PSDM" excite "$robot" --seconds 10 --starts 1 --evaluations 20 --periods $((seconds / 10 + 1)) --out motion.csv
quietly "$PSDM" simulate "$robot" --inverse --reference motion.csv --ignore-extra --log whole.csv --log-rate 1000
head -n $((rows / 64 + 1)) whole.csv > log0.csv
[ "$(wc -l < log0.csv)" = $((rows / 64 + 1)) ] || { echo "bench/scale: the log is too short" >&2; exit 2; }
rm whole.csv
logs=(log0.csv)
for ((k = 1; k < 64; k++)); do cp log0.csv "log$k.csv"; logs+=("log$k.csv"); done

calibrate=(calibrate "$robot" --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --cache 65536 --quiet --log "${logs[@]}" --out)
excite=(excite "$robot" --seconds 10 --starts 16 --evaluations 100 --quiet --out)
reduce=(reduce "$robot" --profile fast --samples 2000000 --quiet --json)

timed() { # WORDS...: seconds; below five, the better of two
  local best=
  for _ in 1 2; do
    [ "${best%%.*}" -lt 5 ] 2> /dev/null || [ -z "$best" ] || break
    local begin=$EPOCHREALTIME
    "$@" > answer 2> words || { cat words >&2; return 1; }
    best=$(awk -v a="$begin" -v b="$EPOCHREALTIME" -v best="$best" 'BEGIN { t = b - a; print best == "" || t < best ? t : best }')
  done
  echo "$best"
}
same() { cmp -s "$1" "$2" || { echo "bench/scale: $1 and $2 differ" >&2; exit 1; }; }

# row KIND P PREFIX...: a line of the table, and of figures.csv
row() {
  local kind=$1 p=$2 a b c
  shift 2
  a=$(timed "$@" "$PSDM" "${calibrate[@]}" "params-$kind-$p.yaml")
  b=$(timed "$@" "$PSDM" "${excite[@]}" "motion-$kind-$p.csv")
  c=$(timed "$@" "$PSDM" "${reduce[@]}") && mv answer "model-$kind-$p.json"
  [ -n "${base:-}" ] || base="$a $b $c" first=$kind-$p
  same "params-$first.yaml" "params-$kind-$p.yaml"
  same "motion-$first.csv" "motion-$kind-$p.csv"
  same "model-$first.json" "model-$kind-$p.json"
  echo "$kind,$p,$a,$b,$c" >> figures.csv
  echo "$base $a $b $c" | awk -v kind="$kind" -v p="$p" '{ printf "%-8s %3d   %8.2f s %6.2fx   %8.2f s %6.2fx   %8.2f s %6.2fx\n", kind, p, $4, $1/$4, $5, $2/$5, $6, $3/$6 }'
}

echo "$rows rows of six joints in 64 logs; $(nproc) processors"
printf '%-12s   %-19s   %-19s   %-19s\n' "" "calibrate" "excite, 16 starts" "reduce, 2e6 states"
for ((p = 1; p <= $(nproc); p *= 2)); do row threads $p env OMP_NUM_THREADS=$p PSDM_RANKS=off; done
if command -v mpirun > /dev/null && [ -e "$(dirname "$(realpath "$PSDM")")/lib/psdm/psdm_mpi.so" ]; then
  for ((p = 2; p <= $(nproc); p *= 2)); do row ranks $p env OMP_NUM_THREADS=1 mpirun --allow-run-as-root --bind-to core -n $p; done
else
  echo "no mpirun, or no psdm_mpi.so: ranks are skipped"
fi
echo "all answers are the same bytes"
[ -z "$json" ] || PYTHONPATH=$root/bench/common python3 - figures.csv "$json" "$rows" <<'PY'
import csv
import sys

import result

rows = list(csv.reader(open(sys.argv[1])))
series = []
for kind in ("threads", "ranks"):
    for k, what in enumerate(("calibrate", "excite", "reduce")):
        mine = [r for r in rows if r[0] == kind or r[1] == "1"]
        series.append(result.curve(f"{what}, {kind}", [int(r[1]) for r in mine], [float(rows[0][2 + k]) / float(r[2 + k]) for r in mine]))
result.write(sys.argv[2], "bench/scale", f"{sys.argv[3]} rows of six joints in 64 logs; 16 starts; 2e6 states; seconds of the clock, best of two, against one thread",
             [result.curves("The same work by more processors", "threads or ranks", "times as fast", series, logarithmic="xy")])
PY
