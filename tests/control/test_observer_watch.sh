# The program in docs/observer.md: built, and run on the logs that the document simulates. The arm moves by forward dynamics under a sampled controller,
# so nothing here is shared with the observer's own equations. A push of 10 N from 3.5 s to 3.8 s is the only finding, within 20 ms.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}" "${BUILD:?the build}" "${CC:?a compiler}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed() { echo "WRONG: $1"; exit 1; }
mkdir bin
ln -s "$PSDM" bin/psdm
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$SOURCE/docs/observer.md" > watch.c
awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$SOURCE/docs/observer.md" > simulate.sh
# shellcheck disable=SC2046,SC2086 # several words are meant
$CC -std=c11 -O2 -Wall -Wextra -Werror ${COVERAGE:-} ${SANITIZE:+-fsanitize=$SANITIZE} "-I$SOURCE/include" "-I$BUILD/include" watch.c "$BUILD/libpsdm.a" \
  $(pkg-config --libs $(sed -n 's/^Requires.private: *//p' "$BUILD/psdm.pc" | tr ',' ' ')) $(sed -n 's/^Libs.private://p' "$BUILD/psdm.pc") -o watch || failed "the document's program does not build"
PATH="$work/bin:$PATH" bash -euo pipefail simulate.sh > words 2>&1 || { cat words; failed "the document's simulation"; }
./watch arm_kinematics.yaml calibration.csv push_log.csv 5e-7 > seen || failed "watch"
cat seen
[ "$(tail -n 1 seen)" = "1 collisions" ] || failed "one collision was expected"
awk '/collision,/ { t = $3; if (t < 3.5 || t > 3.52) exit 1; seen = 1 } END { exit !seen }' seen || failed "not within 20 ms"
# no false finding, and a missing file is reported
./watch arm_kinematics.yaml calibration.csv calibration.csv 5e-7 > calm || failed "watch, without a push"
[ "$(cat calm)" = "0 collisions" ] || { cat calm; failed "a collision that was not there"; }
./watch arm_kinematics.yaml calibration.csv nothing.csv 5e-7 2> words && failed "watch read a log that does not exist"
grep -q '^nothing.csv: ' words || { cat words; failed "no message"; }
