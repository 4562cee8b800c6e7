# docs/reproduction.md has the numbers that this build computes; those that take minutes: deep_reproduction.sh
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
exec python3 "$SOURCE/tests/reproduction/reproduction.py" check
