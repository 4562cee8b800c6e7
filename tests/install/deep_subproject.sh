# An outer project takes psdm by add_subdirectory and by FetchContent: it builds, runs, and keeps its own flags, targets, tests, cache and installation.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$SOURCE/tests/install/outside.c" "$work"
cp "$SOURCE/tests/install/outer_CMakeLists.txt" "$work/CMakeLists.txt"
wrong() {
  echo "WRONG ($way): $*"
  exit 1
}
quietly() {
  "$@" > "$work/log" 2>&1 || { cat "$work/log"; wrong "$*"; }
}
for way in OFF ON; do
  build=$work/fetch-$way
  quietly cmake -S "$work" -B "$build" -DFETCH=$way -DPSDM_SOURCE="$SOURCE"
  quietly cmake --build "$build" --target outer -j 2
  ! grep -E '^C_FLAGS = .*-|^C_DEFINES = .*-D' "$build/CMakeFiles/outer.dir/flags.make" || wrong "flags of psdm in the outer project's program"
  (cd "$build" && ctest) > "$work/tests" || wrong "$(cat "$work/tests")"
  grep -q "100% tests passed, 0 tests failed out of 1" "$work/tests" || wrong "other tests than the outer project's own"
  quietly cmake --install "$build" --prefix "$work/tree-$way" --component Unspecified
  [ "$(cd "$work/tree-$way" && find . -type f)" = ./bin/outer ] || wrong "installed: $(find "$work/tree-$way" -type f)"
done
echo "psdm stays within its own folder"
