#!/bin/sh
# The main job, end to end: a robot file goes in, exact dynamics come out. usage: examples/demo.sh [PSDM]
set -eu
psdm=${1:-psdm}
robots=robots
cd "$(dirname "$0")/.."
out=build/demo
mkdir -p "$out"
step() { printf '\n%s\n  $ %s\n' "$1" "$2"; sh -c "$2" 2>&1; }


cat > "$out/states.csv" <<'CSV'
q1,q2,q3,q4,q5,q6,qd1,qd2,qd3,qd4,qd5,qd6,qdd1,qdd2,qdd3,qdd4,qdd5,qdd6
0.1,-1.2,1.4,0.3,0.7,-0.4,0.5,-0.3,0.8,0.2,-0.6,1.1,1.5,-0.7,0.4,2.1,-1.3,0.9
0.2,-1.1,1.3,0.4,0.6,-0.2,0.6,-0.2,0.7,0.3,-0.5,1.2,1.4,-0.6,0.5,2.0,-1.2,1.0
0.3,-1.0,1.2,0.5,0.5,0.0,0.7,-0.1,0.6,0.4,-0.4,1.3,1.3,-0.5,0.6,1.9,-1.1,1.1
CSV

step "1. What is this robot?" "$psdm inspect $robots/kuka_kr6.yaml"
step "2. Torques that a motion asks for, tau = M(q) qdd + c(q, qd) + g(q)" \
     "$psdm eval $robots/kuka_kr6.yaml inverse --in $out/states.csv --out $out/torques.csv 2>/dev/null && cat $out/torques.csv"
cut -d, -f1-12 "$out/states.csv" | paste -d, - "$out/torques.csv" > "$out/loads.csv"
step "3. And back: these torques give the accelerations of step 2's states" \
     "$psdm eval $robots/kuka_kr6.yaml forward --in $out/loads.csv --out $out/accelerations.csv 2>/dev/null && cat $out/accelerations.csv"
step "4. The same dynamics in closed, regressor form: tau = Y(q, qd, qdd) theta" \
     "$psdm derive $robots/kuka_kr6.yaml --export $out/kr6.json 2>/dev/null"
step "5. Its base parameters, with formulas (the first ten)" \
     "$psdm params $robots/kuka_kr6.yaml 2>/dev/null | head -13"
step "6. Torques through the closed form: the same numbers" \
     "$psdm eval $robots/kuka_kr6.yaml inverse --via expanded --in $out/states.csv 2>/dev/null"
step "7. As URDF for other tools, and back" \
     "$psdm convert $robots/kuka_kr6.yaml --out $out/kr6.urdf 2>/dev/null && $psdm eval $out/kr6.urdf inverse --in $out/states.csv 2>/dev/null"
step "8. A coupled robot: the parallelogram's mass matrix" \
     "printf 'q1,q2\\n0.3,1.1\\n' | $psdm eval $robots/parallelogram.yaml mass"
step "9. A mistake is named, with its place" \
     "sed 's/alpha: -pi\/2/alpa: -pi\/2/' $robots/kuka_kr6.yaml | $psdm inspect - ; test \$? = 3"
printf '\nWritten: %s/torques.csv, accelerations.csv, kr6.json, kr6.urdf\n' "$out"
