# Generated folders as their reader meets them: gcc, clang and g++ without a warning, the self-test, symbols, the same bytes again, and names
# that would like to be code.
. "$SOURCE/tests/tools/cli.sh"
: "${CC:=cc}"
strict="-std=c99 -pedantic -Wall -Wextra -Werror"
compilers=$CC
for cc in gcc clang; do # cc may be one of them
  found=$(command -v $cc) && [ "$(readlink -f "$found")" != "$(readlink -f "$(command -v "$CC")")" ] && compilers="$compilers $cc"
done

# okay WHAT COMMAND...: the command succeeds
okay() {
  local what=$1
  checks=$((checks + 1))
  shift
  "$@" > out 2> err < /dev/null || wrong "$what"
}

# what the object needs is libm's, what it defines is code and constants
symbols() { # OBJECT PREFIX
  checks=$((checks + 2))
  nm "$1" > out 2> err
  awk '$1 == "U" && $2 !~ /^(_GLOBAL_OFFSET_TABLE_|(sin|cos|fabs|sqrt|exp|expm1|log1p|pow|tanh|fmin|fmax|copysign)f?)$/ { print; bad = 1 } END { exit bad }' out >> err || wrong "$1 needs more than libm"
  awk 'NF == 3 && ($2 ~ /[BbDdCcGgSsVvWw]/ || ($2 == "T" && index($3, "'"$2"_'") != 1)) { print; bad = 1 } END { exit bad }' out >> err || wrong "$1 keeps state or defines foreign names"
}

check_robot() { # ROBOT OPTIONS...
  local robot=$1
  shift
  rm -rf "$robot"
  run codegen --effort 0 "$robots/$robot.yaml" --out "$robot" "$@"
  expect_code 0 "codegen $robot $*"
  mv "$robot" first
  run codegen --effort 0 "$robots/$robot.yaml" --out "$robot" "$@"
  okay "$robot: the same bytes again" diff -r first "$robot"
  rm -rf first
  cd "$robot" || exit 2
  for cc in $compilers; do
    okay "$robot, $cc" $cc $strict -O1 -c "$robot.c" -o "$robot-${cc##*/}.o"
    okay "$robot, $cc, self-test" $cc $strict -O1 -c "${robot}_selftest.c" -o selftest.o
    okay "$robot, $cc, links" $cc selftest.o "$robot-${cc##*/}.o" -o selftest -lm
    okay "$robot, $cc, runs" ./selftest
    symbols "$robot-${cc##*/}.o" "$robot"
  done
  okay "$robot: make check" make -s CC="$CC" check
  grep -q WRONG out && wrong "$robot: the self-test says WRONG and exits 0"
  # the header in C++, and the object behind it
  upper=$(echo "$robot" | tr a-z A-Z)
  printf '#include "%s.h"\nint main() {\n  double q[%s_N] = {}, tau[%s_N] = {};\n  %s_gravity(q, tau);\n  return tau[0] != tau[0];\n}\n' "$robot" "$upper" "$upper" "$robot" > main.cpp
  for cxx in g++ clang++; do
    command -v $cxx > /dev/null || continue
    okay "$robot: header in $cxx" $cxx -std=c++11 -pedantic -Wall -Wextra -Werror -c main.cpp -o main.o
    okay "$robot: linked by $cxx" $cxx main.o "$robot.o" -o main -lm
    okay "$robot: called from C++" ./main
    okay "$robot: source as C++ by $cxx" $cxx -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -c "$robot.c" -o cpp.o
  done
  cd "$work" || exit 2
}

check_robot kuka_kr6 --functions inverse,gravity,mass,forward,regressor,energy,pose
check_robot fanuc_sr6ia --target simd --friction-columns --drive-columns --wrench
check_robot parallelogram --method expanded

# friction: every joint of an arm rough, by each model; nothing is in the files that has no friction
rough() { # FROM TO
  awk '/^links:/ { links = 1 } !links && /^  - \{.*\}$/ { sub(/\}$/, ", friction: {coulomb: 2, static: 3.1, stribeck: 0.2, viscous: 0.5, exponent: 0.7, offset: 0.1, sigma0: 4e3, sigma1: 5}}") } 1' "$1" > "$2"
}
mkdir rough
rough "$robots/kuka_kr6.yaml" rough/kuka_kr6.yaml
rough "$robots/fanuc_sr6ia.yaml" rough/fanuc_sr6ia.yaml
robots=rough check_robot kuka_kr6 --friction lugre --functions all
for options in "--friction power --target simd --real float --drive-columns" "--friction lugre --target simd --payload --wrench" "--friction stribeck --sincos caller"; do
  run codegen --effort 0 rough/fanuc_sr6ia.yaml --out rough/scara --prefix arm --functions all $options
  expect_code 0 "codegen $options"
  okay "$options: self-test" make -s -C rough/scara CC="$CC" CFLAGS="$strict -O1" check
  make -s -C rough/scara clean
done
for model in none viscous coulomb stribeck power lugre; do
  run codegen --effort 0 rough/fanuc_sr6ia.yaml --out model --prefix arm --friction $model --functions usual
  expect_code 0 "friction $model"
  checks=$((checks + 1))
  case $model in
    none) grep -q 'Friction:' model/arm.h && wrong "friction none: there is some" ;;
    lugre) grep -q 'define ARM_STATES 4' model/arm.h && grep -q 'arm_friction_step' model/arm.c || wrong "friction lugre: no step" ;;
    *) grep -q "^/\* Friction: $model\." model/arm.h || wrong "friction $model: the header does not say so" ;;
  esac
done
run codegen --effort 0 "$robots/two_link.yaml" --out smooth --friction coulomb --functions inverse
expect_code 0 "friction that is not there"
expect_in err "no joint of this robot has friction"
run codegen --effort 0 rough/fanuc_sr6ia.yaml --out none --friction sticky
expect_code 2 "unknown friction"
run codegen --effort 0 rough/fanuc_sr6ia.yaml --out none --friction calibrated
expect_code 2 "calibrated, without parameters"
expect_in err "calibrated needs --params FILE"
run codegen --effort 0 rough/fanuc_sr6ia.yaml --out none --functions friction
expect_code 2 "function friction without a model"

# the drives of a calibration: columns with loads, positions and memory
cat > arm.yaml <<'YAML'
name: arm
gravity: [0, -9.81, 0]
convention: dh
joints:
  - {name: s, a: 1.2, gear: 50}
  - {name: e, a: 1.1, gear: -20, drive_inertia: 0.4}
transmission: [[1, 0], [0.5, 1]]
links:
  - {mass: 1, com: [-0.6, 0, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.2}}
  - {mass: 2, com: [-0.5, 0, 0], inertia: {xx: 0.1, yy: 0.3, zz: 0.3}}
YAML
cat > found.yaml <<'YAML'
format: psdm-parameters-1
robot: {name: arm}
estimator: wls
theta:
THETA
friction:
  - - {column: "v", gain: 1.5, sd: 0}
    - {column: "stop(x/w)", width: 0.01, gain: 2, sd: 0}
    - {column: "tanh(v/w)", width: 0.1, load: 1, gain: 0.05, sd: 0}
    - {column: "sin(w x)", width: 20, gain: 0.3, sd: 0}
  - - {column: "|v|^w sign(v)", width: 0.6, gain: 0.8, sd: 0}
    - {column: "tanh(3v/w) exp(-(v/w)^2)", width: 0.3, gain: 0.4, sd: 0}
    - {column: "sign(v)", load: 2, gain: 0.001, sd: 0}
LOAD
speed: [2, 2]
YAML
run params arm.yaml --json
python3 - <<'PY'
import json
base = json.load(open("out"))["base_parameters"]
text = open("found.yaml").read()
values = {b["name"]: 0.5 + 0.1 * k for k, b in enumerate(base)}
text = text.replace("THETA", "\n".join("  %s: {value: %.17g, sd: 0}" % v for v in values.items()))
open("found.yaml", "w").write(text.replace("LOAD", "load: [%s]" % ", ".join("%.17g" % (1.01 * v) for v in values.values())))
PY
for target in c simd cuda; do
  run codegen --effort 0 arm.yaml --params found.yaml --friction calibrated --out drives --prefix arm --target $target --functions inverse,bias,forward,regressor,friction,linearize_inverse,linearize_forward
  expect_code 0 "calibrated, $target"
  goal=check
  [ $target = cuda ] && goal=check-loops
  command -v "${CXX:-c++}" > /dev/null || [ $target != cuda ] || continue
  okay "calibrated, $target: self-test" make -s -C drives CC="$CC" CFLAGS="$strict -O1" CXXFLAGS="-std=c++17 -O0 -Wall -Wextra -Werror" $goal
  grep -q friction_step out || wrong "calibrated, $target: no step was tested"
done

# ---- names that would like to be code ----
cat > hostile.yaml <<'YAML'
name: "*/ int evil(void) { return system(\"evil\"); } /* \\\n#error evil\n??/ %s%n `evil` $(evil) $"
gravity: [0, -9.81, 0]
convention: dh
joints:
  - {name: "a */ evil", a: 0.5}
  - {name: "// evil \\", a: 0.4}
links:
  - {name: "*/ evil \n#error evil", mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
  - {name: "evil*/*/ \"evil\" %s \\", mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
YAML
run codegen --effort 0 hostile.yaml --out hostile --target simd --theta argument
expect_code 0 "hostile names"
prefix=$(basename "$(ls hostile/*_selftest.c)" _selftest.c)
checks=$((checks + 1))
[ -n "$(echo "$prefix" | grep -E '^[A-Za-z_][A-Za-z0-9_]*$')" ] || wrong "prefix $prefix"
okay "hostile names: make check" make -s -C hostile CC="$CC" check CFLAGS="$strict -O1 -Wcomment -Wtrigraphs"
# without comments and the prefix nothing evil is left, and nothing outside comments starts a line but code
for file in hostile/*.c hostile/*.h; do
  checks=$((checks + 1))
  $CC -std=c99 -fpreprocessed -dD -E -P "$file" 2> err | sed "s/$prefix//g; s/$(echo "$prefix" | tr a-z A-Z)//g" > out
  grep -iq evil out && wrong "$file has evil outside comments"
done
checks=$((checks + 1))
sed "s/$prefix//g" hostile/Makefile > out
grep -iq evil out && wrong "the Makefile has evil in it"
touch ran
run codegen --effort 0 hostile.yaml --out '$(touch evil);`touch evil`' --functions gravity
expect_code 0 "hostile folder"
okay "hostile folder: make check" make -s -C '$(touch evil);`touch evil`' CC="$CC" check
checks=$((checks + 1))
[ -z "$(find . -name evil)" ] || wrong "a name was run as a command"

# reserved words and odd first letters make identifiers too
for name in int 9lives élan "a b" double; do
  printf 'name: "%s"\nconvention: dh\njoints:\n  - {a: 0.5}\nlinks:\n  - {mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n' "$name" > named.yaml
  rm -rf named
  run codegen --effort 0 named.yaml --out named --functions inverse
  expect_code 0 "named '$name'"
  okay "named '$name': make check" make -s -C named CC="$CC" check CFLAGS="$strict -O1"
done

# what is zero but for rounding (the bias of a turn and a slide along one axis, without gravity) is compared with the torques, not with itself
cat > zero.yaml <<'YAML'
gravity: [0, 0, 0]
convention: dh
joints:
  - {name: j1, theta: -5.6e-12, d: -0.5, a: 0.007, alpha: 3.141592653145091}
  - {name: j2, type: prismatic, theta: 1.570796108233518, d: 0.4, a: -0.4, alpha: -2.9e-12, drive_inertia: 1.3}
links:
  - {mass: 14, com: [-0.26, 0.3, 0.1], inertia: {xx: 0.23, yy: 0.07, zz: 0.19}}
  - {mass: 5, com: [0.003, -0.24, -0.2], inertia: {xx: 0.16, yy: 0.2, zz: 0.1}}
YAML
for target in c simd; do
  run codegen --effort 0 zero.yaml --no-snap --out zero --target $target --functions inverse,gravity,bias,linearize_forward
  expect_code 0 "zero bias, $target"
  for flags in "$strict -O1" "$strict -O3 -march=native -ffp-contract=fast"; do
    make -s -C zero clean
    okay "zero bias, $target, $flags: make check" make -s -C zero CC="$CC" check CFLAGS="$flags"
  done
  grep -q SCALE_OF_bias zero/*_selftest.c || wrong "zero bias, $target: compared with itself"
done
finish
