# The CUDA target where there is no CUDA: the same device functions compiled as loops on the processor, by their self-tests, beside psdm eval at random
# states through PREFIX_cuda.py, under sanitizers, with far angles; functions in two stages, of chains, trees and sliding joints; names that would like to be code.
. "$SOURCE/tests/tools/cli.sh"
: "${CC:=cc}" "${CXX:=c++}"
command -v "$CXX" > /dev/null || { echo "SKIPPED: no C++ compiler" >&2; exit 77; }
plain="-std=c99 -O0 -pedantic -Wall -Wextra -Werror"
strict="-std=c++17 -O0 -pedantic -Wall -Wextra -Werror"

okay() { # WHAT COMMAND...
  local what=$1
  checks=$((checks + 1))
  shift
  "$@" > out 2> err < /dev/null || wrong "$what"
}

# folder NAME ROBOT OPTIONS...: generated, self-test as loops
folder() {
  local name=$1 robot=$2
  shift 2
  run codegen --effort 0 "$robots/$robot.yaml" --out "$name" --prefix arm --target cuda "$@"
  expect_code 0 "codegen $name"
  okay "$name: self-test as loops" make -s -C "$name" CC="$CC" CXX="$CXX" CFLAGS="$plain" CXXFLAGS="$strict" check-loops
  grep -q 'inverse_batch' out || wrong "$name: no batch was tested"
}

functions=inverse,mass,forward,regressor,linearize_inverse,linearize_forward
folder kr6_float kuka_kr6 --method recursive --real float --functions $functions
folder kr6_double kuka_kr6 --method recursive --functions $functions
folder scara fanuc_sr6ia --functions inverse,linearize_forward --theta argument --gravity-argument --payload
folder planar two_link --functions all --sincos libm --wrench --payload --friction-columns --drive-columns
folder caller two_link --functions all --sincos caller --real float
mkdir rough
awk '/^links:/ { links = 1 } !links && /^  - \{.*\}$/ { sub(/\}$/, ", friction: {coulomb: 2, static: 3.1, stribeck: 0.2, viscous: 0.5, exponent: 0.7, offset: 0.1, sigma0: 4e3, sigma1: 5}}") } 1' "$robots/kuka_kr6.yaml" > rough/kuka_kr6.yaml
robots=rough folder rough_double kuka_kr6 --friction lugre --functions inverse,forward,friction,regressor,linearize_inverse,linearize_forward
robots=rough folder rough_float kuka_kr6 --friction power --real float --functions inverse,forward,friction,linearize_forward
grep -q arm_linearize_forward_first rough_double/arm.cuh || wrong "rough_double: one stage"

# two stages where the values of one are too many for a GPU's registers: a long arm, a tree with a sliding joint; whole where they are not
python3 - > tree.yaml <<'PY'
import random
random.seed(7)
print("name: tree\nconvention: modified-dh\njoints:")
for k in range(7):
    parent = "" if k == 0 else ", parent: j%d" % (3 if k == 5 else k - 1)
    print("  - {name: j%d, type: %s%s, theta: %g, d: %g, a: %g, alpha: %g}" % (k, "prismatic" if k == 3 else "revolute", parent, *(random.uniform(-1, 1) for _ in range(4))))
print("links:")
for k in range(7):
    print("  - {mass: %g, com: [%g, %g, %g], inertia: {xx: 0.4, yy: 0.5, zz: 0.45, xy: 0.01, xz: -0.02, yz: 0.03}}" % (random.uniform(1, 3), *(random.uniform(-0.2, 0.2) for _ in range(3))))
PY
robots=. folder tree tree --functions inverse,linearize_forward --gravity-argument --payload
for name in kr6_float kr6_double tree; do expect_in $name/arm.cuh arm_linearize_forward_first; done
checks=$((checks + 1))
grep -q arm_linearize_forward_first scara/arm.cuh && wrong "scara: two stages, where one would fit"
for real in float double; do
  name=kr6_$real
  okay "$name: library of loops" make -s -C $name CXX="$CXX" CXXFLAGS="$strict" libarm_loops.so
  okay "$name: library of plain functions" $CC $plain -shared -fPIC -o $name/libarm.so $name/arm.c -lm
  okay "$name: arrays beside psdm eval" env PYTHONDONTWRITEBYTECODE=1 PSDM="$PSDM" PLAIN=$name/libarm.so python3 "$SOURCE/tests/codegen/cuda_arrays.py" $name $name/libarm_loops.so "$robots/kuka_kr6.yaml" $real
  grep -q 'arrays: right' out || wrong "$name: the arrays' test did not end"
done

# the same bytes again
mv scara first
run codegen --effort 0 "$robots/fanuc_sr6ia.yaml" --out scara --prefix arm --target cuda --functions inverse,linearize_forward --theta argument --gravity-argument --payload
for file in scara/*; do okay "$file: the same bytes again" cmp "$file" "first/${file#*/}"; done

# the sines: within what PREFIX.cuh says of them, half of the angles next to multiples of pi/2
cat > sines.cpp <<'CPP'
#include <cstdio>
#include <type_traits>
#include "arm.cuh"
typedef decltype(arm_results().at) pointer;
typedef std::remove_pointer<pointer>::type real;
int main() {
  const bool single = sizeof(real) == 4;
  const double range = single ? 1e4 : 1e8, quarter = 1.5707963267948966;
  unsigned long long seed = 31;
  double absolute = 0;
  for (int i = 0; i < 200000; i++) {
    seed = seed*6364136223846793005ull + 1442695040888963407ull;
    double u = (double)(seed >> 11)*0x1p-52 - 1, x = range*u;
    if (i & 1) x = quarter*floor(x/quarter) + u*(i & 2 ? 1e-3 : 1e-9);
    const real at = (real)x;
    real y[2];
    arm_turn(at, y, y + 1);
    const long double want[2] = {sinl(at), cosl(at)};
    for (int k = 0; k < 2; k++) {
      const double d = (double)fabsl(y[k] - want[k]);
      if (!(d <= absolute)) absolute = d;
    }
  }
  printf("sines: %.2e absolutely\n", absolute);
  return !(absolute <= (single ? 1e-7 : 2e-16));
}
CPP
for real in float double; do
  okay "sines, $real" $CXX $strict -Ikr6_$real -o sines sines.cpp
  okay "sines, $real, run" ./sines
  cat out
done

# under sanitizers
cd scara || exit 2
okay "sanitized" $CXX $strict -g -fsanitize=address,undefined -fno-sanitize-recover=all -x c++ -c arm.cu -o clean.o
okay "sanitized, plain C" $CC $plain -g -fsanitize=address,undefined -c arm.c -o plain.o
okay "sanitized, self-test" $CC $plain -g -fsanitize=address,undefined -c arm_selftest.c -o test.o
okay "sanitized, linked" $CXX -fsanitize=address,undefined clean.o plain.o test.o -o clean -lm
okay "sanitized, run" ./clean
cd "$work" || exit 2

# the header is C, and a count of zero or a missing pointer is no crash
cat > edges.c <<'C'
#include <stdio.h>
#include "kr6_double/arm.h"
int main(void) {
  double x[6] = {0};
  if (arm_mass_batch_cuda(0, NULL, NULL, NULL)) return 1;
  if (!arm_mass_batch_cuda(1, x, NULL, NULL)) return 2;
  return arm_cuda_devices() == 1 && arm_cuda_device() == 0 && arm_cuda_text(1)[0] ? 0 : 3;
}
C
okay "edges" $CC $plain -c edges.c -o edges.o
okay "edges, linked" $CXX edges.o kr6_double/arm_loops.o -o edges -lm
okay "edges, run" ./edges

# names that would like to be code, in every file
cat > hostile.yaml <<'YAML'
name: "*/ \"\"\" evil() `evil` $(evil) ${evil} \\\n#error evil\n"
convention: dh
joints:
  - {name: "a */ evil \"\"\"", a: 0.5}
links:
  - {name: "*/ evil \n#error evil", mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}
YAML
run codegen --effort 0 hostile.yaml --out hostile --target cuda --functions usual
expect_code 0 "hostile names"
prefix=$(basename "$(ls hostile/*_selftest.c)" _selftest.c)
okay "hostile names: self-test" make -s -C hostile CC="$CC" CXX="$CXX" CFLAGS="$plain" CXXFLAGS="$strict" check-loops
okay "hostile names: Python" python3 -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "hostile/${prefix}_cuda.py"
for file in Makefile CMakeLists.txt "${prefix}_cuda.py"; do
  checks=$((checks + 1))
  sed "s/$prefix//g; s/$(echo "$prefix" | tr a-z A-Z)//g" "hostile/$file" > out
  grep -iq evil out && wrong "$file has evil in it"
done
finish
