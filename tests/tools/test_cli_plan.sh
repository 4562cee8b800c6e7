# psdm plan: scaling, paths, optimal motions against what they must be, and what is refused.
. "$SOURCE/tests/tools/cli.sh"
subject=plan
export OPENBLAS_NUM_THREADS=1

# the slides' arm: two links that hang down
cat > arm.yaml <<'YAML'
name: arm
gravity: [0, -9.81, 0]
convention: dh
joints:
  - {name: shoulder, a: 0.5, limits: {lower: -3, upper: 3, velocity: 8, effort: 120}, friction: {coulomb: 2, viscous: 1}}
  - {name: elbow, a: 0.4, limits: {lower: -3, upper: 3, velocity: 8, effort: 40}, friction: {coulomb: 1, viscous: 0.5}}
links:
  - {mass: 10, com: [-0.25, 0, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.21}}
  - {mass: 5, com: [-0.2, 0, 0], inertia: {xx: 0.05, yy: 0.07, zz: 0.07}}
YAML
cat > cart.yaml <<'YAML'
name: cart
gravity: [0, 0, 0]
convention: dh
joints: [{name: cart, type: prismatic}]
links: [{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]
YAML
printf 't,q1,q2\n0,-1.5707963267948966,0\n0.5,0,1.5707963267948966\n' > quick.csv
printf 't,q1,q2,qd1,qd2,qdd1,qdd2\n0,-1.5,0,1.5,1.5,0,0\n1,0,1.5,1.5,1.5,0,0\n' > line.csv
printf 't,q1,qd1,qdd1\n0,0,3,0\n1,3,3,0\n' > way.csv

# ---- words ----
run plan --help
expect_code 0 "plan --help"
for word in examples: time energy scale --trajectory --from --to --factor --duration --blend --effort --velocity --nodes --out --json; do expect_in out "$word"; done
refuse 2 "'tim': did you mean 'time'? There are time, energy, scale" arm.yaml tim --to 1
refuse 2 "scale needs --trajectory" arm.yaml scale
refuse 2 "missing --to Q,... or --trajectory FILE.csv" arm.yaml time
refuse 2 "--trajectory needs time or scale" arm.yaml energy --trajectory quick.csv
refuse 2 "either --from and --to, or --trajectory" arm.yaml time --trajectory quick.csv --to 1
refuse 2 "--factor needs scale" arm.yaml time --to 1 --factor 2
refuse 2 "--friction 'lugre'" arm.yaml time --to 1 --friction lugre
refuse 2 "--effort '1,2,3': one number or 2 were expected" arm.yaml time --to 1 --effort 1,2,3
refuse 2 "--blend -0.3: 0 to 1 was expected" arm.yaml time --to 1 --blend -0.3
refuse 2 "--duration must not be negative" arm.yaml energy --to 1 --duration -1
refuse 2 "--nodes 3.5: a whole number" arm.yaml time --to 1 --nodes 3.5
refuse 2 "--points 1: a whole number" arm.yaml time --trajectory quick.csv --points 1
refuse 2 "cannot both use standard output" arm.yaml scale --trajectory quick.csv --out - --json
refuse 2 "would take more than" arm.yaml scale --trajectory quick.csv --output 1e-300
refuse 2 "the motion ends where it begins" arm.yaml time --to 0
refuse 2 "joint 1: the motion goes from 0 to 5, its limits are -3 and 3" arm.yaml time --to 5
refuse 1 "a limit is exceeded" arm.yaml scale --trajectory quick.csv --lower -1
refuse 2 "positive numbers" arm.yaml scale --trajectory quick.csv --effort 0
refuse 2 "cannot be opened" arm.yaml scale --trajectory none.csv
refuse 2 "no limit applies to the trajectory" cart.yaml scale --trajectory way.csv
refuse 1 "nothing limits the speed along the path" cart.yaml time --trajectory way.csv
refuse 1 "joint 'shoulder' at t = " arm.yaml scale --trajectory quick.csv --effort 50
refuse 3 "link1" "$robots/denso_vs6556g.yaml" scale --trajectory quick.csv

# ---- scaling: stored torques are those recomputed ----
run plan arm.yaml scale --trajectory quick.csv --factor 2 --json
expect_code 0 "scale --factor 2"
ask out 'j["factor"] == 2 and abs(j["seconds"] - 1) < 1e-12 and j["recomputed"] < 1e-12'
run plan arm.yaml scale --trajectory quick.csv --out slower.csv --json
expect_code 0 "scale"
ask out 'j["factor"] > 1 and abs(j["limit_used"] - 1) < 1e-4 and j["limited_by"] == "torque" and j["recomputed"] < 1e-12'
run plan arm.yaml scale --trajectory quick.csv --friction coulomb --json
ask out 'j["recomputed"] < 1e-12 and abs(j["limit_used"] - 1) < 1e-3'
# the file is a trajectory again, with a factor of one
run plan arm.yaml scale --trajectory slower.csv --json
ask out 'abs(j["factor"] - 1) < 1e-3'

# ---- along a path ----
run plan cart.yaml time --trajectory way.csv --effort 8 --points 2001 --json
ask out 'abs(j["seconds"] - 2 * (3 / 4) ** 0.5) < 1e-8'
run plan arm.yaml time --trajectory line.csv --out path.csv --json
expect_code 0 "time --trajectory"
ask out 'abs(j["limit_used"] - 1) < 1e-3 and j["seconds"] < 1'
head -n 1 path.csv > out
expect_out "t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2"
run plan arm.yaml time --trajectory line.csv
expect_in out "a limit is active at"
# friction that falls with speed helps less to brake than it takes to leave rest
sed 's/coulomb: 2,/coulomb: 2, static: 25, stribeck: 0.5,/; s/coulomb: 1,/coulomb: 1, static: 10, stribeck: 0.5,/' arm.yaml > sticky.yaml
run plan sticky.yaml time --trajectory line.csv --friction stribeck --json
expect_code 0 "time --trajectory --friction stribeck"
ask out 'abs(j["limit_used"] - 1) < 1e-3'

# ---- from rest to rest ----
run plan cart.yaml time --to 3 --effort 8 --json
expect_code 0 "cart, time"
ask out 'j["converged"] and abs(j["seconds"] / (2 * (3 / 4) ** 0.5) - 1) < 2e-3 and j["limit_used"] < 1.001'
# tau = m (6 - 12 t / T) d / T^2: the integral of its square is 12 m^2 d^2 / T^3
run plan cart.yaml energy --to 3 --effort 100 --duration 2 --json
ask out 'j["converged"] and abs(j["energy"] / (12 * 4 * 9 / 8) - 1) < 1e-3'
run plan arm.yaml time --from -1.57,0 --to 0,1.57 --out fastest.csv --json
expect_code 0 "arm, time"
ask out 'j["converged"] and j["limit_used"] < 1.01 and j["seconds"] < j["guess_seconds"]'
run plan arm.yaml energy --from -1.57,0 --to 0,1.57 --duration 1 --json
expect_code 0 "arm, energy"
ask out 'j["converged"] and j["seconds"] == 1 and j["energy"] < j["guess_energy"]'
# what is planned can be driven: the motion's torques are inverse dynamics
run simulate arm.yaml --inverse --reference fastest.csv --ignore-extra --json
expect_code 0 "simulate --inverse --reference fastest.csv"
finish
