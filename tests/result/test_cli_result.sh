# What the commands write with --json keeps to the schema of psdm reference schema, and a schema refuses what it does not have.
. "$SOURCE/tests/tools/cli.sh"

run reference schema schemas
expect_code 0 "reference schema"
valid() { # COMMAND WORDS...: its JSON is as its schema says
  "$PSDM" "$@" --json > "$1.json" 2> words
  checks=$((checks + 1)); python3 "$SOURCE/tests/result/validate.py" "schemas/$1.schema.json" "$1.json" > found || { cat found words; wrong "psdm $* --json is not as its schema says"; }
}
for robot in kuka_kr6 parallelogram two_link; do
  path=$SOURCE/robots/$robot.yaml
  valid derive "$path"
  valid params "$path"
  valid params "$path" --symbolic
  valid params "$path" --model d --minimal-norm
done
refused() { # SED WHAT: a document changed so is refused
  "$PSDM" params "$SOURCE/robots/two_link.yaml" --json | sed "$1" > changed.json
  checks=$((checks + 1)); python3 "$SOURCE/tests/result/validate.py" schemas/params.schema.json changed.json > found && wrong "the schema takes $2"
}
refused 's/"l":/"L":/' "an unknown key"
refused 's/"l": [0-9]*/"l": "seven"/' "a text for a number"
refused 's/"model": "exact"/"model": "exakt"/' "an unknown word"
finish
