# The Octave example evaluates exported models of several robots like psdm eval: turning and sliding joints, a tree, coupled joints.
. "$SOURCE/tests/tools/cli.sh"
command -v octave-cli > /dev/null || { echo "octave: SKIPPED, the package octave is missing" >&2; exit 77; }
export LC_ALL=C

# random states in the tool's format; the seed is printed
states() { # JOINTS COUNT
  awk -v n="$1" -v count="$2" 'BEGIN {
    srand(11); split("q qd qdd", key, " ")
    for (c = 1; c <= 3; c++) for (k = 1; k <= n; k++) printf "%s%s%d", (c * k > 1 ? "," : ""), key[c], k
    print ""
    for (i = 0; i < count; i++) { for (k = 1; k <= 3 * n; k++) printf "%s%.15g", (k > 1 ? "," : ""), 4 * rand() - 2; print "" }
  }' > states.csv
}
echo "seed 11"
calls=
for robot in kuka_kr6 fanuc_sr6ia two_branch parallelogram; do
  run derive "$robots/$robot.yaml" --export "$robot.mat" --json
  expect_code 0 "derive $robot"
  states "$(sed -n 's/.*"n": *\([0-9]*\).*/\1/p' out | head -n 1)" 200
  mv states.csv "$robot.csv"
  run eval "$robots/$robot.yaml" inverse --in "$robot.csv" --out "$robot-tau.csv"
  expect_code 0 "eval $robot"
  calls="$calls compare_torques('$robot.mat', '$robot.csv', '$robot-tau.csv');"
done
# a wrong model is told apart from a right one
cp two_branch-tau.csv moved.csv
sed -i '2s/^[^,]*/1.5/' moved.csv
calls="$calls try, compare_torques('two_branch.mat', 'two_branch.csv', 'moved.csv'); disp('UNSEEN'); catch, disp('seen'); end"
octave-cli --no-init-file --path "$SOURCE/examples/octave" --eval "$calls" > out 2> err < /dev/null
code=$?
expect_code 0 "octave"
expect_in out "seen"
checks=$((checks + 1))
grep -q UNSEEN out && wrong "a torque that was moved is not seen"
cat out
finish
