# The TX40's base parameters and their standard deviations beside FIGAROH's, from the same log.
set -u
: "${SOURCE:?the source tree}" "${BUILD:?the build folder}" "${CC:=cc}"
data=$SOURCE/../shared/data/tx40
[ -f "$data/tx40_motor_5khz.csv" ] || { echo "SKIPPED: the TX40's log is not beside the source tree"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$SOURCE/tests/identify/build_program.sh"
build_program tx40
"$work/tx40" "$data/tx40_motor_5khz.csv" "$data/peer_figaroh_base_parameters.csv"
