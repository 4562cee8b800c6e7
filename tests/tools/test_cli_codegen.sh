# psdm codegen: what it says, and what it writes: compiled strictly, as C and C++, run, counted, and the same bytes twice.
. "$SOURCE/tests/tools/cli.sh"
: "${CC:=cc}"
kr6=$robots/kuka_kr6.yaml scara=$robots/fanuc_sr6ia.yaml # the small one wherever it will do: the search for few operations takes its time
strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
run codegen --help
expect_code 0 "codegen --help"
expect_in out "--sincos polynomial|libm|caller"
expect_in out "examples:"

# ---- words ----
run codegen --effort 0 "$kr6"
expect_code 2 "no --out"
expect_in err "missing --out DIR"
run codegen --effort 0 "$kr6" --out x --functions inverse,mas
expect_code 2 "no such function"
expect_in err "function 'mas': did you mean 'mass'?"
run codegen --effort 0 "$kr6" --out x --real single
expect_code 2 "no such type"
expect_in err "--real 'single': one of double, float was expected"
run codegen --effort 0 "$kr6" --out x --sincos polynom
expect_code 2 "no such sincos"
expect_in err "did you mean 'polynomial'?"
run codegen --effort 0 "$kr6" --out x --target cude
expect_code 2 "no such target"
expect_in err "did you mean 'cuda'?"
run codegen --effort 0 "$kr6" --out x --functions mass --friction-columns
expect_code 2 "columns of no regressor"
run codegen --effort 0 "$kr6" --out x --prefix 6dof --functions gravity
expect_code 2 "a prefix that is no identifier"
expect_in err "the prefix must be a C identifier"
run codegen --effort 0 "$kr6" --out x --functions pose --link elbow
expect_code 2 "no such link"
expect_in err "--link 'elbow'"
run codegen --effort 0 "$kr6" --out x --functions pose --link 7
expect_code 2 "no such joint"
printf 'convention: dh\njoints:\n  - {a: 0.5}\n' > unknown.yaml
run codegen unknown.yaml --out x
expect_code 3 "unknown inertias"
expect_in err "link 'link1' has no mass"
run codegen --effort 0 "$robots/five_bar.yaml" --out x --target simd
expect_code 3 "closed loops, many states at a time"
expect_absent x
touch file
run codegen --effort 0 "$kr6" --out file --functions gravity
expect_code 2 "a file in place of the folder"
expect_in err "is not a directory"

# ---- the same bytes twice ----
run codegen --effort 0 "$kr6" --out kr6 --functions inverse,gravity
expect_code 0 codegen
expect_in out "kr6/kuka_kr6.h, kuka_kr6.c, kuka_kr6_selftest.c, Makefile"
mv kr6 first
run codegen --effort 0 "$kr6" --out kr6 --functions inverse,gravity
checks=$((checks + 1))
diff -r first kr6 > out 2> err || wrong "two runs differ"
expect_in kr6/kuka_kr6.c "psdm codegen --effort 0 $kr6 --out kr6 --functions inverse,gravity"
expect_in kr6/kuka_kr6.h "#define KUKA_KR6_N 6"
expect_in kr6/kuka_kr6.h "#define KUKA_KR6_L 36"
expect_in kr6/kuka_kr6.h "void kuka_kr6_inverse(const double *KUKA_KR6_RESTRICT q, const double *KUKA_KR6_RESTRICT qd, const double *KUKA_KR6_RESTRICT qdd, double *KUKA_KR6_RESTRICT tau);"
expect_in kr6/kuka_kr6.h "theta[0] = YY1 + 0.000625 m1 + 0.05 mx1 - 0.0986 m2 + YY2"
checks=$((checks + 1))
make -s -C kr6 CC="$CC" check > out 2> err || wrong "make check"
checks=$((checks + 1))
make -s -C kr6 CC="$CC" size > out 2> err || [ "$(basename "$CC")" = clang ] || wrong "make size"
checks=$((checks + 1))
nm kr6/kuka_kr6.o > out 2> err
grep -E ' [BbDdCc] | U (malloc|calloc|printf|free)' out && wrong "the object allocates, prints or keeps state"

# ---- what is counted is what is written ----
run codegen --effort 0 "$scara" --out all --json --prefix arm
expect_code 0 "codegen --json"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "operations in the text"
import json, re
d = json.load(open("out"))
assert d["prefix"] == "arm" and d["files"] == ["arm.h", "arm.c", "arm_selftest.c", "Makefile"]
assert set(d["functions"]) == {"inverse", "gravity", "bias", "mass", "forward", "regressor", "energy", "jacobian", "pose"}
text = open("all/arm.c").read()
for name, cost in d["functions"].items():
    body = re.search(r"^void arm_%s\(.*?\) \{\n(.*?)^\}" % name, text, re.S | re.M).group(1)
    mult = add = div = angles = 0
    for line in body.splitlines():
        if "sincos" in line and "&angles" in line:
            angles += int(re.search(r"\((\d+),", line).group(1))
        if "(void)" in line or "sines" in line:
            continue
        code = re.sub(r"\b\d+(\.\d*)?([eE][-+]?\d+)?f?\b", "N", re.sub(r"\[\d+\]", "", line.split(" = ", 1)[1]))
        code = re.sub(r"(^|\()-", r"\1", code)  # signs
        mult += code.count("*")
        div += code.count("/")
        add += len(re.findall(r" [-+] ", code))
    assert (mult, add, div, angles) == (cost["mult"], cost["add"], cost["div"], cost["sincos"]), (name, mult, add, div, angles, cost)
PY

# ---- every switch, strictly, and from C++ ----
check_folder() { # DIR FLAGS: compiles, runs the self-test
  checks=$((checks + 1))
  (cd "$1" && $CC $strict $2 -c arm.c -o arm.o && $CC $strict $2 -o selftest arm_selftest.c arm.o -lm && ./selftest) > out 2> err || wrong "$1 with $2"
}
for real in double float; do
  for sincos in polynomial libm caller; do
    for theta in baked argument; do
      folder=$real-$sincos-$theta
      run codegen --effort 0 "$scara" --out $folder --prefix arm --real $real --sincos $sincos --theta $theta --target simd --functions inverse,mass,forward,regressor,energy,pose
      expect_code 0 "$folder"
      check_folder $folder "-O2 -march=native -ffp-contract=fast"
      check_folder $folder "-O1 -DARM_VECTORS=0"
    done
  done
done
check_folder double-polynomial-baked "-O2 -march=native -DARM_LANES=4"
check_folder float-polynomial-baked "-O1"
run codegen --effort 0 "$scara" --out options --prefix arm --payload --wrench --friction-columns --drive-columns --link 3 --optimise throughput
expect_code 0 "options"
check_folder options "-O2"
run codegen unknown.yaml --out unknown --theta argument --prefix arm
expect_code 0 "unknown inertias as an argument"
check_folder unknown "-O1"
cat > main.cpp <<'CPP'
#include <cstdio>
#include "arm.h"
int main() {
  double q[ARM_N] = {0}, qd[ARM_N] = {0}, qdd[ARM_N] = {0}, tau[ARM_N] = {0};
  arm_inverse_batch(1, q, qd, qdd, tau);
  return !(tau[1] == tau[1]);
}
CPP
checks=$((checks + 1))
(g++ -std=c++11 -pedantic -Wall -Wextra -Werror -Idouble-polynomial-baked main.cpp double-polynomial-baked/arm.o -o main -lm && ./main) > out 2> err || wrong "linked from C++"
checks=$((checks + 1))
g++ -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -O1 -march=native -c float-polynomial-argument/arm.c -o cpp.o > out 2> err || wrong "compiled as C++"

# ---- microcontrollers ----
if command -v arm-none-eabi-gcc > /dev/null; then
  for cpu in "cortex-m4 -mfpu=fpv4-sp-d16" "cortex-m7 -mfpu=fpv5-d16"; do
    checks=$((checks + 1))
    (cd float-polynomial-baked && arm-none-eabi-gcc -std=c99 -pedantic -Wall -Wextra -Wconversion -Wdouble-promotion -Werror -O2 -mcpu=$cpu -mthumb -mfloat-abi=hard -c arm.c -o arm_m.o) > out 2> err || wrong "$cpu"
    arm-none-eabi-nm float-polynomial-baked/arm_m.o | grep -E '__aeabi_d' && wrong "$cpu: doubles in float code"
  done
else
  echo "arm-none-eabi-gcc is not here: not compiled for microcontrollers"
fi
finish
