# The 1 kHz loop: builds with strict warnings, counts every period, tracks, and neither allocates nor prints inside. No time is asserted.
. "$SOURCE/tests/tools/cli.sh"
: "${CC:=cc}"
build() { make -s -C "$SOURCE/examples/loop" PSDM="$PSDM" OUT="$work/$1" CC="$CC" ROBOT="$2" CFLAGS="-std=c11 -O2 -Wall -Wextra -Wshadow -Wvla -Werror -pedantic" > out 2> err || wrong "the loop does not build for $2"; }
# number KEY FILE: the first number after a key
number() { sed -n "s/.*\"$1\": *\([-0-9.e+]*\).*/\1/p" "$2"; }
# below WHAT VALUE LIMIT
below() { checks=$((checks + 1)); awk -v x="$2" -v y="$3" 'BEGIN { exit !(x != "" && x + 0 <= y + 0) }' || wrong "$1: $2 is not below $3"; }
above() { checks=$((checks + 1)); awk -v x="$2" -v y="$3" 'BEGIN { exit !(x != "" && x + 0 >= y + 0) }' || wrong "$1: $2 is not above $3"; }

checks=$((checks + 1))
build kr6 "$robots/kuka_kr6.yaml"
loop() { "$work/kr6/loop" "$@" > out 2> err; code=$?; }

# one second: all periods are counted, in the text, in CSV and in JSON
loop --seconds 1 --csv loop.csv --json loop.json
expect_code 0 "the loop"
expect_in out "1000 periods at 1000 Hz"
expect_in out "woken late by, us:"
expect_in out "####"
checks=$((checks + 2))
[ "$(wc -l < loop.csv)" = 1001 ] || wrong "the CSV has not a row for each period"
python3 -c '
import json
r = json.load(open("loop.json"))
assert r["command"] == "loop" and r["periods"] == 1000 and r["joints"] == 6, r
for key in ("lateness_us", "computation_us"):
    q = [r[key][k] for k in ("min", "median", "p99", "p99_9", "max")]
    assert q == sorted(q) and q[0] >= 0, (key, q)
assert r["scheduler"] in ("SCHED_FIFO", "SCHED_OTHER") and len(r["tracking"]["rms"]) == 6
' > out 2> err || wrong "JSON"
# computed torque on the true model: the remaining error comes from holding torques for a period, and is of first order in it. The arm is simulated in step with the
# loop, so that this does not depend on the clock
below "largest error" "$(number largest loop.json)" 1e-3
slow=$(number largest loop.json)
loop --seconds 1 --rate 2000 --json loop.json
expect_code 0 "at 2 kHz"
ratio=$(awk -v a="$(number largest loop.json)" -v b="$slow" 'BEGIN { print a / b }')
above "error at twice the rate, of the error" "$ratio" 0.4
below "error at twice the rate, of the error" "$ratio" 0.6

# an unknown body costs accuracy, and feedback holds the arm; so do gravity compensation and PD
loop --seconds 0.5 --payload 1 --json loop.json
expect_code 0 "with a payload"
above "error with a payload" "$(number largest loop.json)" 1e-3
below "error with a payload" "$(number largest loop.json)" 0.1
loop --seconds 0.5 --control gravity-pd --json loop.json
expect_code 0 "gravity and PD"
below "error of gravity and PD" "$(number largest loop.json)" 0.1

# nothing inside the loop allocates, waits for files or prints
for part in cycle controller simulated_arm arm_model arm_plant; do
  checks=$((checks + 1))
  nm -u "$work/kr6/$part.o" > out
  grep -E ' (malloc|calloc|realloc|free|printf|fprintf|puts|fopen|fwrite)$' out > err && wrong "$part allocates or prints"
done

# refusals
loop --seconds now
expect_code 2 "bad number"
expect_err "loop: error: --seconds: invalid or missing value"
loop --control pid
expect_code 2 "bad controller"
finish
