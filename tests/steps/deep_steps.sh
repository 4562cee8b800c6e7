# The Denso of Lloyd, Irani, Ahmadi (2022) calibrated in four steps, from logs whose truth is known: Tables 2 and 4, a wall-mounted arm with the paper's assumptions. The
# experiments are those of psdm excite; 17-bit encoders at the motors, gear 100, noise of 0.5 % of each drive's effort, masses of 1.2 and 3.5 kg. 4 noise seeds (SEEDS=N
# for another number). Required: R2 of motor, gravity and friction at least 0.98 where excited, of the whole model 0.95 (the paper's Table 3); torque constants and base
# parameters within three standard deviations of the truth in 95 % of the cases; friction curves within 2 % of the true torque over the tested speeds.
set -u
: "${PSDM:?the tool}" "${SOURCE:?the source tree}"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed() { echo "WRONG: $1"; exit 1; }

# standard parameters that have the base parameters of Table 4, zero where the choice is free: no such bodies exist
cat > truth.yaml <<'YAML'
name: denso
gravity: [9.81, 0, 0]
convention: dh
joints:
  - {name: J1, theta: 0, d: 0.132, a: 0.075, alpha: -pi/2, gear: 100, limits: {lower: -2.9, upper: 2.9, velocity: 3.9, acceleration: 12, effort: 130}, drive_inertia: 1.909,
     torque_constant: 36.1, friction: {coulomb: 9.59, static: 12.5, stribeck: 0.0144, viscous: 23.7, exponent: 0.61, sigma0: 288e3, sigma1: 22.8}}
  - {name: J2, theta: pi/2, a: -0.270, gear: 100, limits: {lower: -1.7, upper: 2.3, velocity: 2.6, acceleration: 8, effort: 185}, drive_inertia: 2.66,
     torque_constant: 40.3, friction: {coulomb: 8.86, static: 9.92, stribeck: 0.0201, viscous: 28.7, exponent: 0.62, sigma0: 250e3, sigma1: 21.2}}
  - {name: J3, theta: -pi/2, a: -0.090, alpha: pi/2, gear: 100, limits: {lower: -2.1, upper: 2.9, velocity: 3.1, acceleration: 12, effort: 75}, drive_inertia: 0.561,
     torque_constant: 24.4, friction: {coulomb: 6.20, static: 7.77, stribeck: 0.0320, viscous: 10.7, exponent: 0.73, sigma0: 130e3, sigma1: 19.2}}
  - {name: J4, d: 0.295, alpha: -pi/2, gear: 100, limits: {lower: -3.2, upper: 3.2, velocity: 3.9, acceleration: 15, effort: 16}, drive_inertia: 0.0838,
     torque_constant: 17.9, friction: {coulomb: 3.59, static: 4.00, stribeck: 0.210, viscous: 2.38, exponent: 0.63, sigma0: 5.36e3, sigma1: 8.91}}
  - {name: J5, alpha: pi/2, gear: 100, limits: {lower: -2.1, upper: 2.1, velocity: 3.9, acceleration: 15, effort: 19}, drive_inertia: 0.092,
     torque_constant: 14.6, friction: {coulomb: 2.39, static: 2.67, stribeck: 0.0811, viscous: 4.50, exponent: 0.59, sigma0: 35.9e3, sigma1: 13.9}}
  - {name: J6, d: 0.080, gear: 100, limits: {lower: -6.2, upper: 6.2, velocity: 6.2, acceleration: 25, effort: 9}, drive_inertia: 0.0306,
     torque_constant: 5.42, friction: {coulomb: 1.60, static: 1.53, stribeck: 0.0104, viscous: 1.61, exponent: 0.74, sigma0: 13.0e3, sigma1: 10.3}}
assume: [Ixz4 = 0, Iyz4 = 0, rx5 = 0, Ixy5 = 0, Ixz5 = 0, Iyz5 = 0,
         m6 = 0, rx6 = 0, ry6 = 0, rz6 = 0, Ixx6 = 0, Iyy6 = 0, Izz6 = 0, Ixy6 = 0, Ixz6 = 0, Iyz6 = 0]
links:
  - standard: {m: 7.42, mx: 0, my: 0, mz: 0.566, XX: 0, XY: 0, XZ: 0, YY: 0, YZ: 0, ZZ: 0}
  - standard: {m: 5.46, mx: 0, my: -0.0632, mz: 0, XX: 0.16, XY: -0.236, XZ: 0.1, YY: 0, YZ: 0.0177, ZZ: 0}
  - standard: {m: 4.1, mx: 0, my: 0, mz: 0, XX: -0.0509, XY: -0.0199, XZ: 0.0397, YY: -0.0443, YZ: -0.0123, ZZ: 0}
  - standard: {m: 3.38, mx: -0.0179, my: 0, mz: -0.0165, XX: 0, XY: -0.0172, XZ: -0.0704, YY: -0.0099, YZ: 0.00447, ZZ: 0.0474}
  - standard: {m: 0, mx: 0, my: 0, mz: 0.0793, XX: -0.00012, XY: 0, XZ: 0, YY: 0.00694, YZ: -0.00622, ZZ: 0}
  - standard: {m: 0, mx: 0, my: 0, mz: 0, XX: 0, XY: 0, XZ: 0, YY: 0, YZ: 0, ZZ: 0}
YAML

# what a user knows: kinematics, limits and the assumptions
sed '/^links:/,$d; s/drive_inertia: [0-9.]*,/drive_inertia: unknown}/; /^     torque_constant/d' truth.yaml > arm.yaml
for mass in 1.2 3.5; do
  { cat truth.yaml; echo "tool: {mass: $mass, com: [0.06, 0, 0.08], inertia: {xx: 0, yy: 0, zz: 0}}"; } > "truth_$mass.yaml"
done
# the calibration's base parameters are those of the arm without assumptions
sed '/^assume/,/^         m6/d' truth.yaml > free.yaml
"$PSDM" params free.yaml --json > truth.json 2> words || { cat words; failed "params"; }

# EXPERIMENT OPTION...
plan() { "$PSDM" excite arm.yaml --for "$1" --out "$1.csv" "${@:2}" > "$1.words" 2>&1 || { cat "$1.words"; failed "excite --for $1"; }; }
plan motor --mass 3.5 --com 0.06,0,0.08
plan gravity
plan friction
plan inertia --starts 4 --periods 3
python3 "$SOURCE/tests/steps/steps.py" "$PSDM" "$work" "${SEEDS:-4}"
