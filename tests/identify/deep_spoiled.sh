# The table of spoiled logs of docs/calibrate.md: each with its verdict, its exit code and what must be named.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
command -v python3 > /dev/null || { echo "SKIPPED: python3 is missing"; exit 77; }
exec python3 "$SOURCE/tests/identify/spoiled.py" "$PSDM"
