# A short fuzz run of every parser, nearly the same inputs every time; `make fuzz` runs longer, with others.
set -eu
command -v clang > /dev/null || { echo "skipped: clang is not installed"; exit 77; }
cd "$SOURCE"
FUZZ_SEED=${FUZZ_SEED:-1} bash tests/fuzz/run.sh "${FUZZ_SECONDS:-8}"
