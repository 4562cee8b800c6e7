# Collisions of an arm whose truth is known: the KR6 of tests/support, calibrated from a log that psdm simulate made (17-bit encoders at the motors, gear 100, torque
# noise of 0.5 % of each drive's effort, 1 kHz, Coulomb friction that sticks). Ten minutes without a false alarm, and 10 N at the flange detected within 20 ms, for several
# calibrations (SEEDS="4 5 ..." for others).
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}" "${BUILD:?the build}" "${CC:?a compiler}"
export OPENBLAS_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed() { echo "WRONG: $1"; exit 1; }

# shellcheck disable=SC2046,SC2086 # several words are meant
$CC -std=c11 -O2 -Wall -Wextra ${SANITIZE:+-fsanitize=$SANITIZE} "-DSOURCE_DIR=\"$SOURCE\"" "-I$SOURCE/include" "-I$BUILD/include" "-I$SOURCE/tests/support" \
  "$SOURCE/tests/control/observer_truth.c" "$BUILD/tests/libtest_support.a" "$BUILD/libpsdm.a" \
  $(pkg-config --libs cmocka $(sed -n 's/^Requires.private: *//p' "$BUILD/psdm.pc" | tr ',' ' ')) $(sed -n 's/^Libs.private://p' "$BUILD/psdm.pc") -o observer_truth || failed "observer_truth.c does not build"

# the arm, and a user's file of it
cp "$SOURCE/tests/support/kr6.yaml" kr6.yaml
sed '/^links:/,$d; s/drive_inertia: [0-9.]*/drive_inertia: unknown/; s/, friction: {[^}]*}//' kr6.yaml > kinematics.yaml
quantum=$(awk 'BEGIN { printf "%.17g", 2 * 3.14159265358979312 / 131072 }')
quantum_joint=$(awk 'BEGIN { printf "%.17g", 2 * 3.14159265358979312 / 131072 / 100 }')

wrong=0
for seed in ${SEEDS:-4 5 6}; do
  echo "calibration $seed"
  "$PSDM" simulate kr6.yaml --time 7.9 --friction coulomb --control computed-torque --compensate --reference fourier --amplitude 1.2 --period 4 --initial reference \
    --seed "$seed" --motor --quantum "$quantum" --log log.csv --log-rate 1000 --log-noise 0.005 > words 2>&1 || { cat words; failed "simulate"; }
  PSDM_SEED=$((1000 * seed)) ./observer_truth kr6.yaml kinematics.yaml log.csv "$quantum_joint" "${COLLISIONS:-2000}" || wrong=1
done
exit $wrong
