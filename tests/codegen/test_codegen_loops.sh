# Generated code of robots with closed loops beside psdm eval at random states on the branch of the file, and what it answers where there is no result.
. "$SOURCE/tests/tools/cli.sh"
: "${CC:=cc}"
strict="-std=c99 -pedantic -Wall -Wextra -Werror -O1"
functions=inverse,gravity,bias,mass,forward,regressor,energy,jacobian,pose,inverse_mass

okay() { # WHAT COMMAND...: the command succeeds
  local what=$1
  checks=$((checks + 1))
  shift
  "$@" > out 2> err < /dev/null || wrong "$what"
}

# states about the position of the file, as a C table and as CSV
states() { # ROBOT REACH
  python3 - "$1" "$2" "$robots/$1.yaml" << 'EOF'
import random, sys
import yaml
name, reach, path = sys.argv[1], float(sys.argv[2]), sys.argv[3]
spec = yaml.safe_load(open(path))
number = lambda x: float(x.split()[0]) * 3.141592653589793 / 180 if isinstance(x, str) else float(x)
passive = {j for loop in spec["loops"] for j in loop["joints"]}
at = {k: number(v) for loop in spec["loops"] for k, v in loop.get("at", {}).items()}
home = [at.get(j["name"], 0.0) for j in spec["joints"] if j["name"] not in passive and "couple" not in j]
seed = 20261
random.seed(seed)
print(f"{name}: seed {seed}")
rows = [[h + random.uniform(-reach, reach) for h in home] + [random.uniform(-2, 2) for _ in range(2 * len(home))] for _ in range(25)]
n = len(home)
with open("states.csv", "w") as f:
    f.write(",".join(f"{k}{i + 1}" for k in ("q", "qd", "qdd") for i in range(n)) + "\n")
    f.writelines(",".join(map(repr, row)) + "\n" for row in rows)
with open("torques.csv", "w") as f:
    f.write(",".join(f"{k}{i + 1}" for k in ("q", "qd", "tau") for i in range(n)) + "\n")
    f.writelines(",".join(map(repr, row)) + "\n" for row in rows)
with open("states.h", "w") as f:
    f.write("enum { STATES = %d };\nstatic const double in[STATES][%d] = {\n%s};\n" % (len(rows), 3 * n, ",\n".join("{" + ", ".join(map(repr, row)) + "}" for row in rows)))
EOF
}

# a program that prints a function at all states, p from row to row: from the file's position, then by close where that suffices
program() { # PREFIX FUNCTION ARGUMENTS RESULTS SIZES...
  cat << EOF
#include <math.h>
#include <stdio.h>
#include "$1.h"
#include "../states.h"
enum { N = $(grep "define ${1^^}_N " "$1/$1.h" | cut -d' ' -f3) };
int main(void) {
  for (int i = 0; i < STATES; i++) {
    const double *q = in[i], *qd = q + N, *qdd = qd + N, *tau = qdd;
    double p[${1^^}_PASSIVES], out[$5];
    (void)qd, (void)qdd, (void)tau;
    for (int k = 0; k < ${1^^}_PASSIVES; k++) p[k] = NAN;
    if ($1_$2($3, p, out) == ${1^^}_OK || out[0] == out[0]) return 2;
    if ($1_walk(q, p)) return 3;
    for (int k = 0; k < ${1^^}_PASSIVES; k++) p[k] += 1e-3;
    if ($1_$2($3, p, out)) return 4;
    for (int k = 0; k < $5; k++) printf("%s%.17g", k ? "," : "", out[k]);
    printf("\n");
  }
  return 0;
}
EOF
}

# two tables of numbers agree to 1e-12 of the largest of each kind of result; potential energy counts from anywhere
cat > compare.py << 'EOF'
import sys
name, got, want = sys.argv[1], *([list(map(float, line.split(","))) for line in open(path) if not line[0].isalpha()] for path in sys.argv[2:4])
assert len(got) == len(want) == 25, (len(got), len(want))
if name == "energy":
    for rows in (got, want):
        first = rows[0][1]
        for row in rows:
            row[1] -= first
worst = max(abs(a - b) for x, y in zip(got, want) for a, b in zip(x, y, strict=True))
scale = max(abs(b) for row in want for b in row)
print(name, worst, scale)
sys.exit(not worst <= 1e-12 * scale)
EOF

check_robot() { # ROBOT REACH
  local robot=$1 n l
  rm -rf "$robot"
  run codegen --effort 0 "$robots/$robot.yaml" --out "$robot" --prefix "$robot" --functions $functions,linearize_inverse,linearize_forward
  expect_code 0 "codegen $robot"
  okay "$robot: self-test" make -s -C "$robot" CC="$CC" CFLAGS="$strict" check
  n=$(grep "define ${robot^^}_N " "$robot/$robot.h" | cut -d' ' -f3)
  l=$(grep "define ${robot^^}_L " "$robot/$robot.h" | cut -d' ' -f3)
  okay "$robot: states" states "$robot" "$2"
  for row in "inverse|q, qd, qdd|$n" "gravity|q|$n" "bias|q, qd|$n" "mass|q|$((n * n))" "forward|q, qd, tau|$n" "regressor|q, qd, qdd|$((n * l))" "energy|q, qd|2" "jacobian|q|$((6 * n))" "pose|q|12" "inverse_mass|q|$((n * n))"; do
    IFS='|' read -r function arguments size <<< "$row"
    program "$robot" "$function" "$arguments" out "$size" > "$robot/one.c"
    okay "$robot $function: compiles" $CC $strict -o "$robot/one" "$robot/one.c" "$robot/$robot.o" -lm
    okay "$robot $function: runs" "$robot/one"
    mv out got.csv
    run eval "$robots/$robot.yaml" "$function" --in $([ "$function" = forward ] && echo torques || echo states).csv --ignore-extra
    expect_code 0 "eval $robot $function"
    mv out want.csv
    okay "$robot $function beside psdm eval" python3 compare.py "$function" got.csv want.csv
  done
}
python3 -c 'import yaml' 2> /dev/null || { echo "no python3-yaml here"; exit 77; }
check_robot five_bar 0.8
check_robot palletizer 0.3
check_robot planar_3rrr 0.15

# a five-bar that cannot reach, passes a singular position, or jumps: a status, nan, and p as it was
run codegen --effort 0 "$robots/five_bar.yaml" --out edges --prefix bar --functions inverse,jacobian
expect_code 0 "codegen of the five-bar"
sed 's/0\.55/0.2/g; s/start: \[-0.6, 0.6\]/start: [-0.9, 0.9]/' "$robots/five_bar.yaml" > short.yaml
run codegen --effort 0 short.yaml --out short --prefix small --functions inverse
expect_code 0 "codegen of a short five-bar"
cat > edges.c << 'EOF'
#include <math.h>
#include <stdio.h>
#include "edges/bar.h"
#include "short/small.h"
#define EXPECT(x) if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; }
int main(void) {
  const double home[2] = {1.5707963267948966, 1.5707963267948966}, still[2] = {0, 0};
  double p[2], tau[2], J[12], q[2], before[2];
  int code = BAR_OK, ends = 0;
  EXPECT(bar_walk(home, p) == BAR_OK);
  /* row by row on a circle of the cranks, and back to where it began */
  for (int k = 0; k <= 1000; k++) {
    q[0] = home[0] + 0.5*sin(0.0062831853071795862*k), q[1] = home[1] + 0.4*sin(0.0062831853071795862*k);
    EXPECT(bar_inverse(q, still, still, p, tau) == BAR_OK);
    EXPECT(bar_jacobian(q, p, J) == BAR_OK);
  }
  EXPECT(bar_walk(home, before) == BAR_OK);
  EXPECT(fabs(p[0] - before[0]) < 1e-13 && fabs(p[1] - before[1]) < 1e-13);
  /* a jump is told apart, p is left as it was */
  q[0] = 0.2, q[1] = 3.0;
  EXPECT(bar_inverse(q, still, still, p, tau) == BAR_FAR);
  EXPECT(tau[0] != tau[0] && tau[1] != tau[1] && p[0] == 0 + p[0]);
  EXPECT(fabs(p[0] - before[0]) < 1e-13);
  q[0] = NAN;
  EXPECT(bar_walk(q, p) == BAR_OPEN && bar_close(q, p) != BAR_OK);
  /* crank ends meet: the couplers may turn freely */
  q[0] = acos(0.15/0.25), q[1] = 3.1415926535897931 - acos(0.15/0.25);
  EXPECT(bar_walk(q, p) != BAR_OK);
  /* cranks that move apart until the couplers are stretched, and beyond */
  EXPECT(small_walk(home, p) == SMALL_OK);
  for (int k = 0; k < 1000 && code == SMALL_OK; k++) {
    before[0] = p[0], before[1] = p[1];
    q[0] = home[0] + 0.0015*k, q[1] = home[1] - 0.0015*k;
    code = small_inverse(q, still, still, p, tau);
    ends = k;
  }
  EXPECT(code != SMALL_OK && tau[0] != tau[0] && p[0] == before[0] && p[1] == before[1]);
  /* 0.3 + 2 (0.25 sin(0.0015 k)) = 0.4 */
  EXPECT(fabs(0.3 + 0.5*sin(0.0015*ends) - 0.4) < 0.002);
  EXPECT(small_walk(q, p) != SMALL_OK);
  return 0;
}
EOF
okay "edges: compiles" $CC $strict -o edge edges.c edges/bar.c short/small.c -lm
okay "edges: runs" ./edge
finish
