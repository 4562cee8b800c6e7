# build.sh NAME TARGET...: sourced by the runs under clang's sanitizers: configures the preset of that name and builds the targets in $build.
command -v clang > /dev/null || { echo "skipped: clang is not installed"; exit 77; }
SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export SOURCE
cd "$SOURCE" || exit 2
build=$SOURCE/build/$1
mkdir -p "$SOURCE/build"
cmake --preset "$1" > "$build.log" 2>&1
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target "${@:2}" >> "$build.log" 2>&1 || { tail -n 40 "$build.log"; exit 2; }
export OPENBLAS_NUM_THREADS=1 PSDM=$build/psdm BUILD=$build
