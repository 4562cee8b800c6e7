# Every command while calls around it fail, under small limits, with closed streams, in a comma locale, ended by signals: see faults.py.
# A sample of half a minute; FAULTS=places is one failure for each place that makes a call (an hour or two), FAULTS=all every failure of every call (a day), and
# FAULTS="--only derive-mat,report --all" some of it.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}" "${BUILD:?the build tree}"
[ -z "${SANITIZE:-}" ] || { echo "skipped: sanitizers have their own memory"; exit 77; }
case ${FAULTS:-} in all | places) FAULTS=--$FAULTS ;; esac
python3 "$SOURCE/tests/faults/faults.py" "$PSDM" "$BUILD/tests/fault.so" "$SOURCE" ${FAULTS:-}
