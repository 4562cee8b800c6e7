# psdm itself, inspect and doctor.
. "$SOURCE/tests/tools/cli.sh"
run
expect_code 2 "no command"
run --help
expect_code 0 help
expect_in out "usage: psdm COMMAND"
run --version
expect_code 0 version
run evil
expect_code 2 "unknown command"
expect_err "psdm: error: unknown command 'evil'; did you mean 'eval'? (psdm --help)"
for command in eval inspect doctor; do
  run $command --help
  expect_code 0 "$command --help"
  expect_in out "example"
  expect_in out "--json"
  run help $command
  expect_code 0 "help $command"
done

run doctor
expect_code 0 doctor
grep -qE "^(all is well|works, without: )" out || wrong "doctor has no summary"
run doctor --json
python3 -c 'import json; d = json.load(open("out")); assert d["healthy"] and len(d["checks"]) > 4' 2> err || wrong "doctor --json"

for robot in "$robots"/*.yaml; do
  run inspect "$robot"
  expect_code 0 "inspect $robot"
  run inspect "$robot" --json
  expect_code 0 "inspect $robot --json"
  python3 -c 'import json; d = json.load(open("out")); assert d["n"] > 0 and len(d["gravity"]) == 3' 2> err || wrong "inspect --json of $robot"
done
run inspect "$robots/parallelogram.yaml"
expect_in out "q1 - q2"
run inspect "$robots/kuka_kr6.yaml"
expect_in err "psdm: warning: link 'link5': inertia about its centre of mass is not positive definite (smallest principal moment -0.000261276 kg m^2)"
run inspect "$robots/denso_vs6556g.yaml"
expect_in out "not all are known"
run inspect "$robots/puma560.yaml" --parameters
expect_in out "Ia2 4.5"

# snapping is reported, and can be turned off
sed 's/alpha: -pi\/2/alpha: -1.5708/' "$robots/kuka_kr6.yaml" > snap.yaml
run inspect snap.yaml
expect_in err "psdm: note: line 7: joint 'A1': alpha -1.5708 snapped to -90 deg (--no-snap keeps it)"
run inspect snap.yaml --no-snap
grep -q snapped err && wrong "--no-snap snaps"

# zero and non-zero less than three decades apart: the counts are the file's rounding, the torques are right
sed 's/alpha: pi\/2}/alpha: 1.57079632679509}/' "$robots/kuka_kr6.yaml" > near.yaml
run derive near.yaml --no-snap
expect_code 0 "unclear gap"
expect_in err "less than three decades apart"
run derive "$robots/kuka_kr6.yaml" --json
expect_code 0 derive
python3 -c 'import json; d = json.load(open("out")); assert d["p"] == 6086 and d["l"] == 36 and d["residual"] < 1e-13 and d["classes"]["gravity"] == 74 and d["states"] == 1000' 2> err || wrong "derive --json"
# Lloyd, Irani, Ahmadi (2021), Table 2: candidates, largest system, multiplications, additions
plane='ry1=0,rz1=0,Ixx1=0,Iyy1=0,Ixy1=0,Ixz1=0,Iyz1=0,ry2=0,rz2=0,Ixx2=0,Iyy2=0,Ixy2=0,Ixz2=0,Iyz2=0'
while read -r robot sizes; do
  if [ $robot = two_link ]; then run derive "$robots/$robot.yaml" --json --assume "$plane"
  else run derive "$robots/$robot.yaml" --json
  fi
  python3 -c 'import json, sys; assert list(json.load(open("out"))["plain"].values()) == [int(x) for x in sys.argv[1:]]' $sizes 2> err || wrong "derive: sizes of $robot"
done << 'END'
kuka_kr6 1306368 3125 65745 36720
kuka_lbr7 10077696 15625 270954 149352
fanuc_sr6ia 9720 75 435 300
two_link 216 5 40 24
END
run derive "$robots/parallelogram.yaml" --json
expect_code 0 "derive with coupled joints"
grep -q '"plain"' out && wrong "sizes of coupled joints"
# a large model is checked at fewer states, and their number is reported: nine joints in a plane, 104449 coefficients
{ printf 'convention: dh\njoints:\n'; for i in 1 2 3 4 5 6 7 8 9; do echo '  - {a: 0.2}'; done; } > planar.yaml
run derive planar.yaml
expect_code 0 "derive, nine joints"
expect_in out "torque error against Newton-Euler over 478 states"

# bad files: exit 3, position, what was found, what was expected
sed 's/alpha: -pi\/2/alpa: -pi\/2/' "$robots/kuka_kr6.yaml" > bad.yaml
run inspect bad.yaml
expect_code 3 "unknown key"
expect_in err "psdm: error: bad.yaml:7:63: joint 'A1': unknown key 'alpa' in a joint; did you mean 'alpha'?"
head -c 100000000 /dev/zero | tr '\0' x > huge.yaml
run inspect huge.yaml
expect_code 3 "100 MB line"
expect_in err "larger than 16777216 bytes"
rm huge.yaml
head -c 200000 /dev/zero | tr '\0' '[' > deep.yaml
run inspect deep.yaml
expect_code 3 "200,000 levels"
expect_err "psdm: error: deep.yaml:1:33: nested deeper than 32 levels"
printf 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n' > bomb.yaml
run inspect bomb.yaml
expect_code 3 "alias bomb"
expect_err "psdm: error: bomb.yaml:1:4: anchors (&name) are not supported; write the value out"
run inspect "$robots"
expect_code 2 "a folder"
NO_COLOR=1 run inspect bad.yaml
expect_in err "psdm: error: "
finish
