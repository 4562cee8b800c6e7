# Every command while calls around it fail, under small limits, with closed streams, in a comma locale, ended by signals: faults.py says how.
# A sample of half a minute; FAULTS=all is every failure of every call (hours), and FAULTS="--only derive-mat,report --all" some of it.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}" "${BUILD:?the build tree}"
[ -z "${SANITIZE:-}" ] || { echo "skipped: sanitizers have their own memory"; exit 77; }
[ "${FAULTS:-}" = all ] && FAULTS=--all
python3 "$SOURCE/tests/faults/faults.py" "$PSDM" "$BUILD/tests/fault.so" "$SOURCE" ${FAULTS:-}
