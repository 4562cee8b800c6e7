#!/bin/sh
# From a log to a model and its code: an arm is simulated with friction, calibrated from its kinematics alone, compared with the truth, and written as C.
# usage: examples/calibrate.sh [PSDM] [FOLDER]
set -eu
psdm=${1:-psdm}
out=${2:-$(mktemp -d)}
mkdir -p "$out"

# the true arm, which the calibration does not know
cat > "$out/arm.yaml" <<'YAML'
name: arm
gravity: [0, 0, -9.81]
convention: modified-dh
joints:
  - {name: base, d: 0.4, gear: 100, drive_inertia: 0.6, friction: {coulomb: 4, viscous: 6}}
  - {name: shoulder, alpha: pi/2, gear: 100, drive_inertia: 0.5, friction: {coulomb: 5, viscous: 4}}
  - {name: elbow, a: 0.5, gear: 80, drive_inertia: 0.2, friction: {coulomb: 2, viscous: 1.5}}
  - {name: wrist, a: 0.4, alpha: pi/2, gear: 50, drive_inertia: 0.05, friction: {coulomb: 1, viscous: 0.4}}
links:
  - {mass: 10, com: [0, 0.02, -0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.08}}
  - {mass: 8, com: [0.22, 0.01, 0.05], inertia: {xx: 0.05, yy: 0.25, zz: 0.24}}
  - {mass: 5, com: [0.18, -0.01, 0.02], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}
  - {mass: 2, com: [0.01, 0, 0.06], inertia: {xx: 0.01, yy: 0.01, zz: 0.004}}
YAML
# what a user knows: DH parameters, and that the drives have rotors
sed '/^links:/,$d; s/drive_inertia: [0-9.]*, friction: {[^}]*}/drive_inertia: unknown/' "$out/arm.yaml" > "$out/kinematics.yaml"

echo "1. a log: 20 s of random harmonics, friction, encoders and noise"
"$psdm" simulate "$out/arm.yaml" --time 20 --friction coulomb --control computed-torque --compensate --reference fourier --amplitude 1.2 --period 10 \
  --rate 1000 --quantum 1e-5 --seed 5 --log "$out/log.csv" --log-rate 200 --log-noise 0.2 > "$out/simulate.txt"

echo "2. calibrate: the last 30 % are held out, exit code 1 above 5 %"
"$psdm" calibrate "$out/kinematics.yaml" --log "$out/log.csv" --holdout 0.3 --max-rel 0.05 --out "$out/params.yaml" --predict "$out/rows.csv" > "$out/report.txt"
sed -n '/^torque error/,/^$/p; /^verdict/p' "$out/report.txt"

echo "3. compare with the truth: torques of both models at states that are not in the log"
"$psdm" simulate "$out/arm.yaml" --inverse --time 5 --reference fourier --amplitude 1 --period 7 --seed 99 --out "$out/fresh.csv" > /dev/null
"$psdm" eval "$out/kinematics.yaml" inverse --params "$out/params.yaml" --in "$out/fresh.csv" --ignore-extra --out "$out/model.csv" 2> "$out/notes.txt"
"$psdm" eval "$out/arm.yaml" inverse --in "$out/fresh.csv" --ignore-extra --out "$out/truth.csv"
paste -d, "$out/model.csv" "$out/truth.csv" | awk -F, '
  NR > 1 { for (i = 1; i <= 4; i++) { e += ($i - $(i + 4))^2; t += $(i + 4)^2 } }
  END { printf "  relative error of the rigid torques: %.2f %%\n", 100 * sqrt(e / t); exit !(e < 0.05^2 * t) }' || { echo "the model is not the truth"; exit 1; }

echo "4. code: inverse and forward dynamics of the calibrated arm as C"
"$psdm" codegen "$out/kinematics.yaml" --params "$out/params.yaml" --functions inverse,forward --out "$out/code" > /dev/null 2>> "$out/notes.txt"
make -s -C "$out/code" check
if command -v gnuplot > /dev/null; then
  gnuplot -e "set terminal svg size 800,400; set output '$out/calibrate.svg'; set datafile separator ','; set xlabel 't / s'; set ylabel 'Nm'; plot '$out/rows.csv' using 't':'raw2' title 'tau2, logged' with lines, '$out/rows.csv' using 't':'predicted2' title 'tau2, predicted' with lines" 2> /dev/null && echo "picture: $out/calibrate.svg" || true
fi
