#!/bin/bash
# Real MPI: 1, 2, 4 and 8 ranks give the same bytes; a bad file ends the run with its name, once; a killed rank or an interrupt leaves parts from which the next run continues,
# and which are removed when the answer is written; memory does not grow with the log; IPOPT and MPI in one process do not disturb each other.
set -eu
command -v mpirun > /dev/null || { echo "SKIPPED: mpirun is missing; install openmpi-bin and libopenmpi-dev"; exit 77; }
[ -e "$BUILD/lib/psdm/psdm_mpi.so" ] || { echo "SKIPPED: this build has no psdm_mpi.so; install libopenmpi-dev and configure again"; exit 77; }
[ -z "${SANITIZE:-}" ] || { echo "SKIPPED: MPI's own leaks hide what a sanitizer would report"; exit 77; }
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

# ---- estimators that go through the rows again, and decimated rows ----
given=(calibrate "$robot" --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --quiet)
few=(--log $(many 3))
ways=('robust --estimator robust --cache 65536' 'energy --estimator energy --cache 65536' 'iv --estimator iv' 'didim --estimator didim' 'sieve --estimator wls --decimate 50 --cache 65536')
for way in "${ways[@]}"; do
  read -ra words_of <<< "$way"
  "$PSDM" "${given[@]}" "${words_of[@]:1}" "${few[@]}" --out alone_way.yaml 2> words
  for n in 2 4; do
    ranks $n "${given[@]}" "${words_of[@]:1}" "${few[@]}" --out "ranks$n.yaml" 2> words
    same alone_way.yaml "ranks$n.yaml" "${words_of[0]} on $n ranks"
  done
done
echo "robust, energy, iv, didim and decimated rows: the same bytes on 1, 2, 4 ranks"
for way in "${ways[0]}" "${ways[4]}"; do
  read -ra words_of <<< "$way"
  small=$(peak "$PSDM" "${given[@]}" "${words_of[@]:1}" --log $(many 3) --out few_way.yaml)
  large=$(peak "$PSDM" "${given[@]}" "${words_of[@]:1}" --log $(many 6) --out few_way.yaml)
  echo "most memory, ${words_of[0]}: $small kB of 150 thousand rows, $large kB of 300 thousand"
  [ "$large" -lt $((small + small / 20 + 2000)) ] || wrong "memory grows with the log: ${words_of[0]}"
done

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

# ---- a bad file: its name and line, once, and the exit code of a single process ----
printf 't,q1,q2,tau1,torque\n0,1,2,3,4\n' > bad.csv
code=0
"$PSDM" calibrate "$robot" --log log.csv log.csv bad.csv --out no.yaml 2> alone || code=$?
[ "$code" = 3 ] || wrong "exit $code of a bad file"
code=0
ranks 3 calibrate "$robot" --log log.csv log.csv bad.csv --out no.yaml 2> together || code=$?
[ "$code" = 3 ] || wrong "exit $code of a bad file on three ranks"
[ "$(grep -c 'psdm: error: bad.csv:1:' together)" = 1 ] || wrong "the bad file is not reported once: $(cat together)"
[ "$(grep 'psdm: error' alone)" = "$(grep 'psdm: error' together)" ] || wrong "ranks tell another error"
[ ! -e no.yaml ] || wrong "a file was written"
code=0
ranks 2 calibrate nowhere.yaml --log log.csv 2> together || code=$?
[ "$code" = 2 ] && [ "$(grep -c 'psdm: error' together)" = 1 ] || wrong "a robot that is not there: exit $code, $(cat together)"
echo "a bad file ends all ranks with exit 3 and one message"

# ---- one of many is bad: the same message on any number of ranks ----
head -n 3000 log.csv > good.csv
cut -d, -f1-4 good.csv > missing.csv
head -n 1 good.csv > empty.csv
for bad in missing.csv empty.csv gone.csv; do
  for n in 1 2 4; do
    code=0
    ranks $n "${given[@]}" --estimator wls --log good.csv good.csv "$bad" good.csv good.csv --out no.yaml 2> words || code=$?
    grep '^psdm: error' words > "reported$n" || wrong "$bad on $n ranks: nothing was reported"
    echo "exit $code" >> "reported$n"
    [ "$code" != 0 ] && [ ! -e no.yaml ] || wrong "$bad on $n ranks: exit $code"
    same reported1 "reported$n" "$bad on $n ranks"
  done
done
# bad rows are reported with file and line, and omitted
awk 'NR == 1500 { print "1.5,x,2,3,4"; next } 1' good.csv > text.csv
(cat good.csv; printf '3.0,1.2') > short.csv
gzip -c good.csv | head -c 20000 > cut.csv.gz
for n in 1 2 4; do
  ranks $n "${given[@]}" --estimator wls --log good.csv text.csv short.csv cut.csv.gz good.csv --json 2> words | grep -v '"seconds"' > "reported$n"
  same reported1 "reported$n" "bad rows on $n ranks"
done
grep -q "text.csv: line 1500: field 2 is 'x'" reported1 && grep -q 'short.csv: line 3001: 2 fields' reported1 && grep -q 'cut.csv.gz: line .*truncated' reported1 || wrong "faults: $(cat reported1)"
echo "a bad file among good ones: the same message and the same exit code on 1, 2, 4 ranks"

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
cp -r parts parts2
cp -r parts parts3
ranks 2 "${long[@]/--quiet/--verbose}" --checkpoint parts --out resumed.yaml > report 2> words
grep -q 'parts reused from an earlier run: [1-9]' words || wrong "nothing was taken: $(cat words)"
same alone.yaml resumed.yaml "the run that goes on"
[ -z "$(ls -A parts)" ] || wrong "parts remain after an answer: $(ls -A parts)"
"$PSDM" "${long[@]}" --checkpoint parts2 --out again.yaml 2> words
same alone.yaml again.yaml "one process that goes on"
[ -z "$(ls -A parts2)" ] || wrong "parts remain after the answer of one process"
"$PSDM" "${long[@]:0:23}" --checkpoint parts3 --out few2.yaml 2> words
grep -q "parts of other logs, settings or versions, not used: $left" words || wrong "stale parts are not reported: $(cat words)"
same few.yaml few2.yaml "stale parts"
[ "$(find parts3 -name '*.part' | wc -l)" = "$left" ] || wrong "parts of others were touched"
echo "a killed rank left $left parts; the next run took them, has the same bytes, and removed them"

# ---- an interrupt: all ranks end, files are complete, and the next run continues ----
robust=(calibrate "$robot" --estimator robust --kinematics q --cutoff 20 --delay 0 --plain-friction --rest none --cache 65536 --quiet --log $(many 6))
"$PSDM" "${robust[@]}" --out alone.yaml 2> words
interrupt() { # WHOM: "mpirun", or the rank that gets the signal
  rm -rf parts stopped.yaml
  timeout 300 mpirun --allow-run-as-root --oversubscribe -n 2 "$PSDM" "${robust[@]}" --checkpoint parts --out stopped.yaml 2> words &
  local job=$! found=0 whom=
  for ((k = 0; k < 3000; k++)); do
    compgen -G 'parts/*-robust-*.part' > /dev/null && found=1 && break
    kill -0 $job 2> /dev/null || break
    sleep 0.01
  done
  [ $found = 1 ] || wrong "no part of a pass was finished: $(cat words)"
  if [ "$1" = mpirun ]; then
    whom=$(pgrep -P $job -x mpirun)
  else
    for process in $(pgrep -x psdm); do
      grep -qz "^OMPI_COMM_WORLD_RANK=$1\$" "/proc/$process/environ" 2> /dev/null && [ "$(readlink "/proc/$process/cwd")" = "$work" ] && whom=$process
    done
  fi
  kill -INT "$whom"
  code=0
  wait $job || code=$?
  for process in $(pgrep -x psdm); do
    [ "$(readlink "/proc/$process/cwd")" != "$work" ] || wrong "a rank remains after an interrupt of $1"
  done
  compgen -G '*.yaml?*' > /dev/null && wrong "a half-written file remains: $(ls)"
  [ ! -e stopped.yaml ] || tail -c 1 stopped.yaml | cmp -s - <(echo) || wrong "the written file is not complete"
  compgen -G 'parts/*-robust-*.part' > /dev/null || wrong "an interrupt took the parts"
}
interrupt 0
[ "$code" = 130 ] && [ -s stopped.yaml ] && grep -q 'interrupted' words || wrong "an interrupt of rank 0: exit $code, $(cat words)"
interrupt mpirun # it has its own exit code, and waits a second or so
[ "$code" != 0 ] || wrong "an interrupt of mpirun: exit 0"
ranks 2 "${robust[@]}" --checkpoint parts --out resumed.yaml 2> words
same alone.yaml resumed.yaml "the run behind an interrupt"
[ -z "$(ls -A parts)" ] || wrong "parts remain"
echo "an interrupt ends all ranks, and the next run has the same bytes"

# ---- both plug-ins in one process; commands that do not use ranks run once ----
if [ -e "$BUILD/lib/psdm/psdm_ipopt.so" ]; then
  "$PSDM" plan "$robot" time --from 0,0 --to 1,1 --effort 60,30 --velocity 3 --out alone.csv > alone 2> words
  ranks 2 plan "$robot" time --from 0,0 --to 1,1 --effort 60,30 --velocity 3 --out together.csv > together 2> words
  same alone.csv together.csv "plan on two ranks"
  [ "$(wc -l < alone)" = "$(wc -l < together)" ] || wrong "two ranks speak twice"
  echo "IPOPT under MPI: the same motion"
fi

# ---- processes that are to stay apart ----
[ "$(ranks 3 --version | wc -l)" = 1 ] || wrong "three ranks tell their version more than once"
[ "$(PSDM_RANKS=off ranks 3 --version | wc -l)" = 3 ] || wrong "PSDM_RANKS=off does not keep ranks apart"
code=0
PSDM_PLUGINS=$work ranks 2 --version 2> words || code=$?
[ "$code" = 2 ] && [ "$(grep -c 'psdm_mpi.so is missing' words)" = 1 ] || wrong "without the plug-in: exit $code, $(cat words)"
