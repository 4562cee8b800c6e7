# The truth within three standard deviations: KR6 and Denso, 20 noise seeds each (SEEDS=200 for more); bias from an unmodelled cable at the wrist and from
# the whole recipe, with a fifth of the seeds.
set -u
: "${SOURCE:?the source tree}" "${BUILD:?the build folder}" "${CC:=cc}"
seeds=${SEEDS:-20} rows=4000 few=$(((${SEEDS:-20} + 4) / 5))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$SOURCE/tests/identify/build_program.sh"
build_program coverage
wrong=0
# robot, estimator, seeds, cable, other arguments
try() {
  "$work/coverage" "$1" "$2" "$3" "$rows" "$4" "${@:5}" > "$work/table" 2> "$work/words" || { cat "$work/words"; echo "WRONG: $*"; wrong=1; }
  grep -v '^\[' "$work/table"
}
try kr6 wls "$seeds" 0
try kr6 consistent "$seeds" 0
try denso wls "$seeds" 0
try kr6 wls "$few" 0.01
try kr6 consistent "$few" 0.01
try denso wls "$few" 0.01
# the whole recipe is slower and needs a longer log to choose from
rows=8000
try kr6 consistent "$few" 0 recipe
exit $wrong
