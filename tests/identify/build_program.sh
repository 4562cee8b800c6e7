# build_program NAME: tests/identify/NAME.c as $work/NAME, with the library and the tests' support of $BUILD. Sourced by deep_*.sh.
build_program() {
  local includes="-I$SOURCE/include -I$BUILD/include -I$SOURCE/src -I$SOURCE/tests/support -I$SOURCE/tests/identify"
  # shellcheck disable=SC2046,SC2086 # several words are meant
  $CC -std=c11 -O2 -Wall -Wextra ${SANITIZE:+-fsanitize=$SANITIZE} "-DSOURCE_DIR=\"$SOURCE\"" $includes "$SOURCE/tests/identify/$1.c" "$BUILD/tests/libtest_support.a" \
    "$BUILD/libpsdm.a" $(pkg-config --libs cmocka $(sed -n 's/^Requires.private: *//p' "$BUILD/psdm.pc" | tr ',' ' ')) \
    $(sed -n 's/^Libs.private://p' "$BUILD/psdm.pc") -o "$work/$1" || { echo "WRONG: $1.c does not build"; exit 1; }
}
