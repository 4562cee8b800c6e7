# Ctrl-C on a terminal: the best result so far is kept and named, and the exit code is 130; a second Ctrl-C ends at once; no temporary file ever remains. And the progress line.
. "$SOURCE/tests/tools/cli.sh"
python3=$(command -v /usr/bin/python3 || command -v python3)
two=$robots/two_link.yaml kr6=$robots/kuka_kr6.yaml
export TERM=dumb
# press SECONDS[,SECONDS] WORDS...: the command on a terminal, with Ctrl-C after this time
press() {
  local keys=()
  for second in ${1//,/ }; do keys+=(--key "$second"); done
  shift
  "$python3" "$SOURCE/tests/tools/terminal.py" "${keys[@]}" --limit 60 --lines err -- "$PSDM" "$@" > out
  code=$?
}
no_leftovers() { checks=$((checks + 1)); find . -name '*part-*' | grep -q . && wrong "a temporary file is left: $1"; }

# simulate: rows until then, and a line with the remaining time; no progress without a terminal
"$PSDM" simulate "$two" --time 30000 --no-code --out other.csv > /dev/null 2> piped &
beside=$!
press 2.9 simulate "$two" --time 30000 --no-code --out motion.csv
expect_code 130 simulate
expect_in err "interrupted at t = "
expect_in err "of 30000 s; the motion until then is written to motion.csv"
checks=$((checks + 1)); grep -qE '^  \[#* *\] +[0-9]+ %  [0-9]+ s simulated, .* left' err || wrong "no line of progress with the time that is left"
checks=$((checks + 1)); [ "$(wc -l < motion.csv)" -gt 2 ] || wrong "no rows were kept"
expect_in out "interrupted"
kill -INT $beside; wait $beside; code=$?
expect_code 130 "simulate, in the background"
checks=$((checks + 1)); grep -q ' left' piped && wrong "progress goes to a file"
no_leftovers simulate

press 0.7 excite "$two" --seconds 5 --starts 1000 --wall 50 --out excitation.csv
if grep -q "NLopt" err; then echo "no NLopt here"; else
  expect_code 130 excite
  expect_in err "interrupted: this is the best so far"
  checks=$((checks + 1)); [ -s excitation.csv ] || wrong "excite kept nothing"
fi

press 1 reduce "$two" --samples 4000000000 --out small
expect_code 130 reduce
expect_in err "interrupted: this is the best so far, verified at "
expect_in out "functions"
checks=$((checks + 1)); [ -s small/model.json ] || wrong "reduce kept nothing"

# pictures and tables may be missing, but not the reduced model
press 2 reduce "$two" --samples 1000000 --table --figures --json
if [ "$code" = 130 ]; then
  checks=$((checks + 1)); "$python3" -c 'import json; j = json.load(open("out")); assert j["stopped"] is True and j["p"] > 0' 2> asked || wrong "reduce --figures: $(tail -n 1 asked)"
fi

press 0.7 codegen "$robots/kuka_lbr7.yaml" --out lbr7 --functions all --effort 100000
expect_code 130 codegen
expect_in err "interrupted: the code is complete and correct"
checks=$((checks + 1)); [ -s lbr7/Makefile ] || wrong "codegen wrote nothing"

# no wait for unfinished code: SIGTERM ends at once, and leaves no file
"$PSDM" codegen "$robots/kuka_lbr7.yaml" --out killed --functions all --effort 100000 > out 2> err &
beside=$!
sleep 0.7
kill -TERM $beside; wait $beside; code=$?
expect_code 143 "codegen, SIGTERM"
expect_in err "nothing was written"
expect_absent killed

press 0.7 analyze "$robots/puma560.yaml" --points 2000000000
expect_code 130 analyze
expect_in err "interrupted: these bounds hold"
checks=$((checks + 1)); grep -A1 'interrupted: stopping' err | grep -q ' left' && wrong "an interrupted job tells how long it would take"
expect_in out "||M|| at most"

run bench "$two" --functions gravity --method recursive --repeat 1 # so that the code is in the cache
if [ "$code" = 0 ]; then
  press 1 bench "$two" --functions gravity --method recursive --repeat 1000000
  expect_code 130 bench
  expect_in err "interrupted: these are the best times of "
  expect_in out "gravity"
fi

press 0.5 derive "$kr6" --method dense --export dense.json
expect_code 130 derive
expect_in err "interrupted: nothing was written"
expect_absent dense.json

press 0.6 plan "$kr6" time --to 1 --velocity 3 --acceleration 10 --effort 200 --nodes 400 --out plan.csv
if grep -q IPOPT err && [ "$code" = 3 ]; then echo "no IPOPT here"; else
  expect_code 130 plan
  checks=$((checks + 1))
  if [ -e plan.csv ]; then grep -q "interrupted: this motion respects the limits" err; else grep -q "interrupted: .*nothing was written" err; fi || wrong "plan does not say what it left"
fi

# SIGTERM acts the same, except for the exit code
for words in "simulate $two --time 100000 --no-code --out term.csv" "codegen $robots/kuka_lbr7.yaml --out term --functions all --effort 100000" "excite $two --seconds 5 --starts 1000 --wall 50 --out term_excite.csv"; do
  "$PSDM" $words > out 2> err &
  beside=$!
  sleep 1
  kill -TERM $beside; wait $beside; code=$?
  grep -q NLopt err || expect_code 143 "SIGTERM: $words"
  grep -q NLopt err || expect_in err "interrupted"
done
no_leftovers SIGTERM

# a second Ctrl-C ends at once; eval, whose file is complete or absent, ends at the first
press 0.4,0.2 derive "$kr6" --method dense --export dense.json
expect_code 130 "twice"
expect_absent dense.json
mkfifo endless
(printf 'q1,q2\n'; while printf '0.1,0.2\n' 2> /dev/null; do sleep 0.01; done) > endless &
feeder=$!
press 0.6 eval "$two" gravity --in endless --out torques.csv
expect_code 130 eval
expect_in err "psdm: interrupted: unfinished files are removed"
expect_absent torques.csv
kill $feeder 2> /dev/null
no_leftovers "in the end"
finish
