# A few spoiled logs: the fault is named, and the log does not pass. The whole table is deep_spoiled.sh.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
command -v python3 > /dev/null || { echo "SKIPPED: python3 is missing"; exit 77; }
exec python3 "$SOURCE/tests/identify/spoiled.py" "$PSDM" --quick
