# The output of --json obeys the schema of psdm reference schema, and a schema rejects unknown keys.
. "$SOURCE/tests/tools/cli.sh"

run reference schema schemas
expect_code 0 "reference schema"
valid() { # COMMAND WORDS...: its JSON obeys its schema
  "$PSDM" "$@" --json > "$1.json" 2> words
  keeps_schema "$1" "$1.json"
}
for robot in kuka_kr6 parallelogram five_bar two_link; do
  path=$SOURCE/robots/$robot.yaml
  valid inspect "$path"
  [ $robot = five_bar ] && continue # a closed loop has no closed form
  valid derive "$path"
  valid params "$path"
  valid params "$path" --symbolic
  valid params "$path" --model d --minimal-norm
done
two=$SOURCE/robots/two_link.yaml
printf 't,q1,q2,tau1,tau2\n0,0.1,0.2,1,2\n0.1,0.4,0.5,1,1\n' > states.csv
printf 'tau1,tau2\n0.1,0.2\n5000,2\n' > torques.csv
valid analyze "$two"
valid analyze "$two" --samples 1000 --path states.csv --ignore-extra --limits=1=-1:1,2=-1:1
valid codegen "$two" --out code
valid linearize "$two" --at states.csv --lqr
valid linearize "$two" --at states.csv --dt 0.01
valid linearize "$two" --at torques.csv --equilibrium --form second-order --lqr
valid reduce "$two" --error 0.01 --figures --table
printf 'q1,q2\n0.1,0.2\n0.3,0.4\n' > q.csv
valid eval "$two" gravity --in q.csv
printf 't,q1,q2\n0,0,0\n1,0.5,0.3\n2,0.1,0.2\n' > way.csv
valid simulate "$two" --time 0.1 --control adaptive --reference sines --friction lugre
"$PSDM" simulate "$two" --inverse --reference quintic --to 1 --time 1 --json > inverse.json
keeps_schema simulate_inverse inverse.json
valid plan "$two" scale --trajectory way.csv --factor 0.5
valid excite "$two" --for friction --out motion.csv
valid excite "$two" --out motion.csv --wall 1
valid bench "$two" --functions inverse
refused() { # SED WHAT: a document with this change is refused
  "$PSDM" params "$SOURCE/robots/two_link.yaml" --json | sed "$1" > changed.json
  checks=$((checks + 1)); python3 "$SOURCE/tests/result/validate.py" schemas/params.schema.json changed.json > found && wrong "the schema takes $2"
}
refused 's/"l":/"L":/' "an unknown key"
refused 's/"l": [0-9]*/"l": "seven"/' "a text for a number"
refused 's/"model": "exact"/"model": "exakt"/' "an unknown word"
finish
