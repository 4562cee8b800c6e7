# Every key that the report reads from a result is one that a result has: a key that is renamed in psdm/results.h is renamed in the report, too.
. "$SOURCE/tests/tools/cli.sh"
command -v python3 > /dev/null || { echo "SKIPPED: python3 is missing"; exit 77; }
run reference schema schemas
expect_code 0 schemas
checks=$((checks + 1)); python3 "$SOURCE/tests/report/keys.py" "$SOURCE" schemas || wrong "the report reads keys that no result has"

# it finds a key that is misspelt
mkdir -p spoilt/src && cp -r "$SOURCE/src/report" spoilt/src
sed 's/"verdict.word"/"verdict.wrod"/; s/"cost_ratio", 4/"cost_ration", 4/' "$SOURCE/src/report/section_calibration_fit.c" > spoilt/src/report/section_calibration_fit.c
python3 "$SOURCE/tests/report/keys.py" spoilt schemas > out; code=$?
expect_code 1 "misspelt keys"
expect_in out "section_calibration_fit.c: reads 'verdict.wrod', and no result has 'wrod'"
expect_in out "reads 'cost_ration', and no result has 'cost_ration'"
finish
