# Calibration of robots whose truth is known, from logs that psdm simulate made: KR6 (made-up, physically possible bodies) and Denso (Table 4 of Lloyd, Irani,
# Ahmadi 2022). 17-bit encoders at the motors, gear 100, noise of 0.5 % of each drive's effort, 1 kHz, Coulomb friction that sticks; 20 noise seeds each
# (SEEDS=N for another number), and fewer with an unmodelled cable at the wrist and with the whole recipe.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
export OPENBLAS_NUM_THREADS=1
seeds=${SEEDS:-20} few=$(((${SEEDS:-20} + 4) / 5)) whole=$(((${SEEDS:-20} + 19) / 20))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed() { echo "WRONG: $1"; exit 1; }

cp "$SOURCE/tests/support/kr6.yaml" kr6.yaml

# standard parameters that have the base parameters of Table 4, zero where the choice is free: no such bodies exist. Friction of Table 2.
cat > denso.yaml <<'YAML'
name: denso
gravity: [9.81, 0, 0]
convention: dh
joints:
  - {name: J1, theta: 0, d: 0.132, a: 0.075, alpha: -pi/2, gear: 100, drive_inertia: 1.909, limits: {effort: 130}, friction: {coulomb: 9.59, viscous: 23.7}}
  - {name: J2, theta: pi/2, a: -0.270, gear: 100, drive_inertia: 2.66, limits: {effort: 185}, friction: {coulomb: 8.86, viscous: 28.7}}
  - {name: J3, theta: -pi/2, a: -0.090, alpha: pi/2, gear: 100, drive_inertia: 0.561, limits: {effort: 75}, friction: {coulomb: 6.2, viscous: 10.7}}
  - {name: J4, d: 0.295, alpha: -pi/2, gear: 100, drive_inertia: 0.0838, limits: {effort: 16}, friction: {coulomb: 3.59, viscous: 2.38}}
  - {name: J5, alpha: pi/2, gear: 100, drive_inertia: 0.092, limits: {effort: 19}, friction: {coulomb: 2.39, viscous: 4.5}}
  - {name: J6, d: 0.080, gear: 100, drive_inertia: 0.0306, limits: {effort: 7}, friction: {coulomb: 1.6, viscous: 1.61}}
links:
  - standard: {m: 7.42, mx: 0, my: 0, mz: 0.566, XX: 0, XY: 0, XZ: 0, YY: 0, YZ: 0, ZZ: 0}
  - standard: {m: 5.46, mx: 0, my: -0.0632, mz: 0, XX: 0.16, XY: -0.236, XZ: 0.1, YY: 0, YZ: 0.0177, ZZ: 0}
  - standard: {m: 4.1, mx: 0, my: 0, mz: 0, XX: -0.0509, XY: -0.0199, XZ: 0.0397, YY: -0.0443, YZ: -0.0123, ZZ: 0}
  - standard: {m: 3.38, mx: -0.0179, my: 0, mz: -0.0165, XX: 0, XY: -0.0172, XZ: -0.0704, YY: -0.0099, YZ: 0.00447, ZZ: 0.0474}
  - standard: {m: 0, mx: 0, my: 0, mz: 0.0793, XX: -0.00012, XY: 0, XZ: 0, YY: 0.00694, YZ: -0.00622, ZZ: 0}
  - standard: {m: 0, mx: 0, my: 0, mz: 0, XX: 0, XY: 0, XZ: 0, YY: 0, YZ: 0, ZZ: 0}
YAML

# NAME FILE OPTION...: the robot's log. 7.9 s: at 8 s all joints would come to rest at once.
simulate() {
  "$PSDM" simulate "$2" --time 7.9 --friction coulomb --control computed-torque --compensate --reference fourier --amplitude 1.2 --period 4 --initial reference \
    --seed 4 --motor --quantum "$(awk 'BEGIN { printf "%.17g", 2 * 3.14159265358979312 / 131072 }')" --log "$1" --log-rate 1000 "${@:3}" > words 2>&1 || { cat words; failed "simulate $2"; }
}

# the file without inertias and friction, as a user has it; the truth
prepare() {
  sed '/^links:/,$d; s/drive_inertia: [0-9.]*/drive_inertia: unknown/; s/, friction: {[^}]*}//' "$1.yaml" > "$1_kinematics.yaml"
  "$PSDM" params "$1.yaml" --json > "$1_truth.json" 2> words || { cat words; failed "params $1"; }
}

# NAME SEEDS CABLE LEAST LABEL ESTIMATORS OPTION...
wrong=0
try() { python3 "$SOURCE/tests/identify/truth.py" "$PSDM" "$work" "$@" || wrong=1; }

prepare kr6
simulate kr6_clean.csv kr6.yaml
prepare denso
# the Denso is simulated with its base parameters alone
{
  sed '/^links:/,$d' denso.yaml
  python3 -c 'import json; print("theta: {" + ", ".join("%s: %.17g" % (p["name"], p["value"]) for p in json.load(open("denso_truth.json"))["base_parameters"]) + "}")'
} > denso_theta.yaml
simulate denso_clean.csv denso_theta.yaml --theta

# the noise added here equals the tool's
simulate kr6_tool.csv kr6.yaml --log-noise 0.005
try kr6 4 0 0 write wls
paste -d, kr6_tool.csv kr6_noisy.csv | awk -F, 'NR > 1 { for (i = 1; i <= 13; i++) { d = $i - $(i + 13); if (d * d > 1e-24) exit 1 } }' || failed "noise is not that of psdm simulate --log-noise"

fixed="--cutoff 40 --delay 0 --lambda 1 --plain-friction"
# shellcheck disable=SC2086 # several words are meant
{
  try kr6 "$seeds" 0 0.95 "filter and columns fixed" wls,consistent $fixed
  try denso "$seeds" 0 0.95 "filter and columns fixed" wls $fixed
  try kr6 "$few" 0.01 0 "filter and columns fixed" wls,consistent $fixed
  try denso "$few" 0.01 0 "filter and columns fixed" wls $fixed
}
# The recipe filters at 20 Hz. That smears the jump of the torque at a reversal over more rows than --rest omits, and sign(v) of filtered v does not follow
# it: printed, not asserted. With the rows next to reversals omitted it is asserted.
try kr6 "$whole" 0 0 "all left to the recipe" consistent
try kr6 "$whole" 0 0.95 "all left to the recipe but --rest 0.1" consistent --rest 0.1
exit $wrong
