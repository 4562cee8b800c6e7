# A short fuzz run of every parser; `make fuzz` runs longer.
set -eu
command -v clang > /dev/null || { echo "skipped: clang is not installed"; exit 77; }
cd "$SOURCE"
bash tests/fuzz/run.sh "${FUZZ_SECONDS:-8}"
