# docs/reproduction.md, with the numbers that take minutes
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
exec python3 "$SOURCE/tests/reproduction/reproduction.py" check --all
