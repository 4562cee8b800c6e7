#!/bin/bash
# Real MPI: 1, 2, 4 and 8 ranks give the same bytes; a bad file ends the run with its name, once; a killed rank leaves parts from which the next run goes on; memory does
# not grow with the log; IPOPT and MPI in one process do not disturb each other.
set -eu
command -v mpirun > /dev/null || { echo "SKIPPED: mpirun is not there; install openmpi-bin and libopenmpi-dev"; exit 77; }
[ -e "$BUILD/lib/psdm/psdm_mpi.so" ] || { echo "SKIPPED: this build has no psdm_mpi.so; install libopenmpi-dev and configure again"; exit 77; }
[ -z "${SANITIZE:-}" ] || { echo "SKIPPED: MPI's own leaks drown what a sanitizer would say"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
robot=$SOURCE/robots/two_link.yaml
ranks() { # N WORDS...
  local n=$1
  shift
  timeout 300 mpirun --allow-run-as-root --oversubscribe -n "$n" "$PSDM" "$@"
}
wrong() {
  echo "WRONG: $*"
  exit 1
}
same() { cmp "$1" "$2" || wrong "$1 and $2 differ: $3"; }

"$PSDM" excite "$robot" --seconds 10 --starts 2 --evaluations 40 --periods 5 --out motion.csv > words 2>&1
"$PSDM" simulate "$robot" --inverse --reference motion.csv --ignore-extra --log log.csv --log-rate 1000 > words 2>&1
[ "$(wc -l < log.csv)" -gt 50000 ] || wrong "the log is short"

# ---- the same bytes: all choices, rows in memory ----
"$PSDM" calibrate "$robot" --log log.csv log.csv --holdout 0.3 --out alone.yaml --quiet 2> words
for n in 2 4 8; do
  ranks $n calibrate "$robot" --log log.csv log.csv --holdout 0.3 --out "ranks$n.yaml" --quiet 2> words
  same alone.yaml "ranks$n.yaml" "calibrate on $n ranks"
done
OMP_NUM_THREADS=2 ranks 2 calibrate "$robot" --log log.csv log.csv --holdout 0.3 --out both.yaml --quiet 2> words
same alone.yaml both.yaml "two ranks of two threads"
echo "calibrate, choices from memory: the same bytes on 1, 2, 4, 8 ranks"

# ---- the same bytes: long logs that are read again ----
many() { for ((k = 0; k < $1; k++)); do printf 'log.csv '; done; }
long=(calibrate "$robot" --estimator wls --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --cache 65536 --quiet --log $(many 12))
peak() { # WORDS...: kilobytes at most
  python3 - "$@" <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}
small=$(peak "$PSDM" "${long[@]:0:23}" --out few.yaml) # six logs
large=$(peak "$PSDM" "${long[@]}" --out alone.yaml)
echo "most memory: $small kB of 300 thousand rows, $large kB of 600 thousand"
[ "$large" -lt $((small + small / 20 + 2000)) ] || wrong "memory grows with the log"
for n in 2 4 8; do
  ranks $n "${long[@]}" --out "ranks$n.yaml" 2> words
  same alone.yaml "ranks$n.yaml" "long logs on $n ranks"
done
echo "calibrate, logs that are read: the same bytes on 1, 2, 4, 8 ranks"

# ---- excite and reduce ----
"$PSDM" excite "$robot" --seconds 5 --starts 5 --evaluations 60 --out alone.csv > words 2>&1
"$PSDM" reduce "$SOURCE/robots/kuka_kr6.yaml" --profile slow --error 0.05 --samples 20000 --json > alone.json 2> words
for n in 2 4; do
  ranks $n excite "$robot" --seconds 5 --starts 5 --evaluations 60 --out "ranks$n.csv" > words 2>&1
  same alone.csv "ranks$n.csv" "excite on $n ranks"
  ranks $n reduce "$SOURCE/robots/kuka_kr6.yaml" --profile slow --error 0.05 --samples 20000 --json > "ranks$n.json" 2> words
  same alone.json "ranks$n.json" "reduce on $n ranks"
done
echo "excite and reduce: the same bytes on 1, 2, 4 ranks"

# ---- a bad file: its name and line, once, and the exit code of one process ----
printf 't,q1,q2,tau1,torque\n0,1,2,3,4\n' > bad.csv
code=0
"$PSDM" calibrate "$robot" --log log.csv log.csv bad.csv --out no.yaml 2> alone || code=$?
[ "$code" = 3 ] || wrong "exit $code of a bad file"
code=0
ranks 3 calibrate "$robot" --log log.csv log.csv bad.csv --out no.yaml 2> together || code=$?
[ "$code" = 3 ] || wrong "exit $code of a bad file on three ranks"
[ "$(grep -c 'psdm: error: bad.csv:1:' together)" = 1 ] || wrong "the bad file is not told once: $(cat together)"
[ "$(grep 'psdm: error' alone)" = "$(grep 'psdm: error' together)" ] || wrong "ranks tell another error"
[ ! -e no.yaml ] || wrong "a file was written"
code=0
ranks 2 calibrate nowhere.yaml --log log.csv 2> together || code=$?
[ "$code" = 2 ] && [ "$(grep -c 'psdm: error' together)" = 1 ] || wrong "a robot that is not there: exit $code, $(cat together)"
echo "a bad file ends all ranks with exit 3 and one sentence"

# ---- a killed rank, and the next run ----
timeout 300 mpirun --allow-run-as-root --oversubscribe -n 2 "$PSDM" "${long[@]}" --checkpoint parts --out killed.yaml 2> words &
job=$!
for ((k = 0; k < 3000; k++)); do
  compgen -G 'parts/*-gather-*.part' > found && break
  kill -0 $job 2> /dev/null || break
  sleep 0.01
done
[ -s found ] || wrong "no part was finished: $(cat words)"
victim=
for process in $(pgrep -x psdm); do # the helper of this very run
  grep -qz '^OMPI_COMM_WORLD_RANK=1$' "/proc/$process/environ" 2> /dev/null && [ "$(readlink "/proc/$process/cwd")" = "$work" ] && victim=$process
done
[ -n "$victim" ] || wrong "the other rank was gone already"
kill -9 "$victim"
code=0
wait $job || code=$?
[ "$code" != 0 ] && [ ! -e killed.yaml ] || wrong "a killed rank: exit $code"
left=$(find parts -name '*.part' | wc -l)
ranks 2 "${long[@]}" --checkpoint parts --out resumed.yaml 2> words
grep -q 'parts of an earlier run that were taken from there: [1-9]' words || wrong "nothing was taken: $(cat words)"
same alone.yaml resumed.yaml "the run that goes on"
"$PSDM" "${long[@]}" --checkpoint parts --out again.yaml 2> words
same alone.yaml again.yaml "one process that goes on"
"$PSDM" "${long[@]:0:23}" --checkpoint parts --out few2.yaml 2> words
grep -q 'parts of other logs or settings, or of another version, that were not used: [1-9]' words || wrong "stale parts are not told: $(cat words)"
same few.yaml few2.yaml "stale parts"
echo "a killed rank left $left parts; the next run took them, and has the same bytes"

# ---- both plug-ins in one process; commands that are not spread run once ----
if [ -e "$BUILD/lib/psdm/psdm_ipopt.so" ]; then
  "$PSDM" plan "$robot" time --from 0,0 --to 1,1 --effort 60,30 --velocity 3 --out alone.csv > alone 2> words
  ranks 2 plan "$robot" time --from 0,0 --to 1,1 --effort 60,30 --velocity 3 --out together.csv > together 2> words
  same alone.csv together.csv "plan on two ranks"
  [ "$(wc -l < alone)" = "$(wc -l < together)" ] || wrong "two ranks speak twice"
  echo "IPOPT under MPI: the same motion"
fi

# ---- processes that want to be apart ----
[ "$(ranks 3 --version | wc -l)" = 1 ] || wrong "three ranks tell their version more than once"
[ "$(PSDM_RANKS=off ranks 3 --version | wc -l)" = 3 ] || wrong "PSDM_RANKS=off does not keep ranks apart"
code=0
PSDM_PLUGINS=$work ranks 2 --version 2> words || code=$?
[ "$code" = 2 ] && [ "$(grep -c 'psdm_mpi.so is not there' words)" = 1 ] || wrong "without the plug-in: exit $code, $(cat words)"
