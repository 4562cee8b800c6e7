# cli.sh: sourced by the command-line tests. Each check prints its failure; finish fails if there was one.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 checks=0
robots=$SOURCE/robots
cd "$work" || exit 2

# run WORDS...: stdout to ./out, stderr to ./err, exit code to $code
run() { "$PSDM" "$@" > out 2> err < "${input:-/dev/null}"; code=$?; }

wrong() { failures=$((failures + 1)); echo "WRONG: $1"; echo "  stdout: $(head -c 600 out)"; echo "  stderr: $(head -c 600 err)"; }

expect_code() { checks=$((checks + 1)); [ "$code" = "$1" ] || wrong "exit $code, expected $1: $2"; }
expect_out() { checks=$((checks + 1)); printf '%s\n' "$1" | cmp -s - out || wrong "stdout is not: $1"; }
expect_err() { checks=$((checks + 1)); printf '%s\n' "$1" | cmp -s - err || wrong "stderr is not: $1"; }
expect_in() { checks=$((checks + 1)); grep -qF -- "$2" "$1" || wrong "$1 lacks: $2"; }
expect_absent() { checks=$((checks + 1)); [ ! -e "$1" ] || wrong "$1 exists"; ls -A | grep -q 'part-' && wrong "a temporary file is left"; }
# the last row of out, number by number, to 1e-12
expect_numbers() {
  checks=$((checks + 1))
  tail -n 1 out | tr , ' ' | awk -v want="$*" '{ n = split(want, w); bad = n != NF; for (i = 1; i <= NF; i++) { d = $i - w[i]; if (d < 0) d = -d; if (!(d < 1e-12)) bad = 1 } exit bad }' \
    || wrong "last row is not: $*"
}
# keeps_schema NAME FILE: the JSON obeys the schema that psdm reference schema writes for this document
keeps_schema() {
  checks=$((checks + 1))
  [ -d schemas ] || "$PSDM" reference schema schemas
  python3 "$SOURCE/tests/result/validate.py" "schemas/$1.schema.json" "$2" > found || { cat found; wrong "$2 is not as the schema of $1 says"; }
}
# ask FILE EXPRESSION: python's verdict on a JSON file j, with near(a, b, error); its short values are shown when it is wrong
ask() {
  checks=$((checks + 1))
  python3 - "$1" "$2" 2> asked <<'PY' || wrong "$1: $2 $(tail -n 1 asked)"
import json, math, sys
j = json.load(open(sys.argv[1]))
near = lambda a, b, e: abs(a - b) <= e
assert eval(sys.argv[2]), {k: v for k, v in j.items() if len(str(v)) < 400}
PY
}
# rows FILE EXPRESSION [OTHER]: the same of CSV files, r and s, lists of dictionaries
rows() {
  checks=$((checks + 1))
  python3 - "$@" 2> asked <<'PY' || wrong "$* $(tail -n 1 asked)"
import csv, math, sys
r, s = [[{k: float(v) for k, v in row.items()} for row in csv.DictReader(open(f))] for f in (sys.argv[1], sys.argv[-1] if len(sys.argv) > 3 else sys.argv[1])]
near = lambda a, b, e: abs(a - b) <= e
assert eval(sys.argv[2]), (r[-1:], s[-1:])
PY
}
# refuse CODE SENTENCE WORDS...: $subject, a command, ends with this code and says so
refuse() {
  want=$1 sentence=$2
  shift 2
  run "$subject" "$@"
  expect_code "$want" "$*"
  expect_in err "$sentence"
}
finish() { echo "$checks checks, $failures wrong"; [ "$failures" = 0 ]; }
