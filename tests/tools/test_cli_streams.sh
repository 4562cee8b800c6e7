# Standard streams, full disks, limits and signals: unwritten output gives exit code 2, and no temporary file remains.
. "$SOURCE/tests/tools/cli.sh"
two=$robots/two_link.yaml
no_leftovers() { checks=$((checks + 1)); find . "${TMPDIR:-/tmp}" -maxdepth 2 -user "$(id -u)" \( -name "*part-*" -o -name "psdm-report-*" \) -newer started 2> /dev/null | grep -q . && wrong "a temporary file is left: $1"; }
touch started
export TMPDIR=$work/tmp
mkdir tmp

# every command that writes to standard output: closed, and on a full disk
printf 'q1,q2,qd1,qd2,qdd1,qdd2\n0.1,0.2,0,0,0,0\n' > states.csv
"$PSDM" simulate "$two" --time 0.2 --no-code --out motion.csv --json > simulate.json 2> /dev/null
while IFS= read -r line; do
  eval "set -- $line"
  "$PSDM" "$@" > out 2> err < /dev/null
  code=$?
  checks=$((checks + 1)); [ "$code" -le 1 ] && [ -s out ] || wrong "no data, exit $code: $line"
  "$PSDM" "$@" >&- 2> err < /dev/null
  code=$?
  expect_code 2 "closed: $line"
  expect_in err "<stdout>: cannot be written"
  "$PSDM" "$@" > /dev/full 2> err < /dev/null
  code=$?
  expect_code 2 "full: $line"
  expect_in err "<stdout>: cannot be written: No space left on device"
done << LINES
--version
--help
help eval
eval --help
inspect $two
inspect $two --json
derive $two
derive $two --json
derive $two --export -
params $two
params $two --json
params $two --symbolic
eval $two inverse --in states.csv
eval $two mass --in states.csv --ignore-extra --json
codegen $two --out code --json
linearize $two --at states.csv --json
analyze $two --points 100
simulate $two --time 0.1 --no-code
simulate $two --time 0.1 --no-code --json
simulate $two --time 0.1 --no-code --out -
report simulate.json motion.csv --gnuplot /nowhere --out -
convert $two --to urdf
completion bash
reference markdown
LINES

# closed standard input and error: no file gets their descriptors, and only commands that read fail
"$PSDM" inspect - <&- > out 2> err; code=$?
expect_code 2 "closed stdin is read"
for shut in '<&-' '2>&-' '<&- 2>&-'; do
  eval "\"\$PSDM\" derive \"\$two\" --export model.json > out $shut"; code=$?
  expect_code 0 "derive $shut"
  checks=$((checks + 1)); head -c 1 model.json | grep -q '{' || wrong "derive $shut: the model is not whole"
done

# a full disk and a limit on the size of files
ln -s /dev/full full.mat
run derive "$two" --export full.mat
expect_code 2 ".mat on a full disk"
expect_in err "No space left on device"
for name in model.mat model.json; do
  (ulimit -f 1; "$PSDM" derive "$robots/kuka_kr6.yaml" --export "big-$name" > out 2> err)
  code=$?
  expect_code 2 "$name beyond the limit of sizes"
  expect_in err "File too large"
  expect_absent "big-$name"
done

# the reader of a pipe ends while a file is being written
(trap - PIPE; timeout 30 "$PSDM" simulate "$two" --time 20000 --no-code --out gone.csv --log - --log-rate 100 2> err; echo $? > pipe_code) | head -n 1 > out
expect_in pipe_code 141
expect_absent gone.csv
for signal in HUP TERM INT; do
  "$PSDM" simulate "$two" --time 100000 --no-code --out gone.csv --log gone-log.csv > out 2> err &
  child=$!
  for _ in $(seq 100); do ls gone.csv.part-* > /dev/null 2>&1 && break; sleep 0.05; done
  kill -$signal $child
  sleep 0.1
  kill -$signal $child
  for _ in $(seq 100); do kill -0 $child || break; sleep 0.05; done
  kill -KILL $child && wrong "$signal does not end a run"
  wait $child
done 2> /dev/null
no_leftovers signals

# an endless run is refused with its number
while IFS='|' read -r words count; do
  eval "set -- $words"
  timeout 20 "$PSDM" "$@" > out 2> err < /dev/null
  code=$?
  expect_code 2 "$words"
  expect_in err "$count"
done << LINES
simulate $two --time 1 --no-code --output 1e-300|would take 1e+300 rows
simulate $two --time 1e300 --no-code|would take 1e+302 rows
simulate $two --time 1 --no-code --integrator rk4 --step 1e-200|would take 1e+200 steps
simulate $two --time 1 --no-code --control pd --rate 1e200|would take 1e+200 samples of the controller
simulate $two --inverse --reference sines --time 1 --output 1e-300|would take 1e+300 rows
LINES
finish
