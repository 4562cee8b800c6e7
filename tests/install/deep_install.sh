# An outside C program and an outside C++ program build against the installed tree, by CMake and by pkg-config, and run.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$BUILD" --prefix "$work/tree" > /dev/null
cp "$SOURCE"/tests/install/outside.* "$work"
cp "$SOURCE/tests/install/outside_CMakeLists.txt" "$work/CMakeLists.txt"
robot=$work/tree/share/psdm/robots/kuka_kr6.yaml
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/tree" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/outside_c" "$robot"
"$work/build/outside_cpp" "$robot"

PKG_CONFIG_PATH=$(dirname "$(find "$work/tree" -name psdm.pc)")
export PKG_CONFIG_PATH
gcc -std=c99 -pedantic -Wall -Wextra -Werror "$work/outside.c" -o "$work/by_pc" $(pkg-config --cflags --libs psdm) -lm
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH") "$work/by_pc" "$robot"
gcc -std=c99 "$work/outside.c" -o "$work/static" $(pkg-config --cflags psdm) "$(find "$work/tree" -name libpsdm.a)" $(pkg-config --libs --static psdm | sed 's/-lpsdm//') -lm
"$work/static" "$robot"
"$work/tree/bin/psdm" doctor > /dev/null

# only psdm_ symbols leave the shared library
if nm -D --defined-only "$(find "$work/tree" -name libpsdm.so)" | awk '{print $3}' | grep -v '^psdm_'; then
  echo "the symbols above do not belong in the library's interface"
  exit 1
fi
echo "the installed tree works from outside"
