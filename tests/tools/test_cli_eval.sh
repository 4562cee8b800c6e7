# psdm eval: outputs, options, streams, exit codes, exact messages.
. "$SOURCE/tests/tools/cli.sh"
arm=$robots/fanuc_sr6ia.yaml two=$robots/parallelogram.yaml

# ---- valid calls ----
printf 'q1,q2\n0,0\n' > q.csv
run eval $two gravity --in q.csv
expect_code 0 gravity
expect_numbers 13.94982 0.27468
run eval $two mass --in q.csv --out M.csv
expect_code 0 "mass to a file"
[ "$(head -1 M.csv)" = M1_1,M1_2,M2_1,M2_2 ] || wrong "header of M.csv"
input=q.csv run eval $two gravity
expect_code 0 "standard input"
expect_numbers 13.94982 0.27468
input=$two run eval - pose --in q.csv --link rod
expect_code 0 "robot on standard input"
expect_in out x,y,z,R1_1,R1_2,R1_3,R2_1,R2_2,R2_3,R3_1,R3_2,R3_3
run eval $two gravity --in q.csv --gravity 0,0,0
expect_out "$(printf 'tau1,tau2\n0,0')"
run eval $two gravity --in q.csv --gravity=0,-19.62,0
expect_numbers 27.89964 0.54936
run eval $two gravity --json --in q.csv
expect_code 0 json
expect_in out '"columns": ['
python3 -c 'import json; d = json.load(open("out")); assert abs(d["rows"][0][0] - 13.94982) < 1e-13 and d["function"] == "gravity"' 2> err || wrong "JSON does not read back"

# 17 digits survive a round trip through text: forward after inverse gives the accelerations back
cat > s.csv <<'CSV'
qdd1,q1,q2,q3,q4,qd1,qd2,qd3,qd4,qdd2,qdd3,qdd4
# columns may be in any order, and comments and blank lines are skipped

0.5,0.1,-0.4,0.02,1.1,0.3,-0.2,0.1,0.8,-0.7,0.9,1.5
CSV
run eval $arm inverse --in s.csv --out tau.csv
expect_code 0 inverse
paste -d, <(printf 'q1,q2,q3,q4,qd1,qd2,qd3,qd4\n0.1,-0.4,0.02,1.1,0.3,-0.2,0.1,0.8\n') tau.csv > f.csv
run eval $arm forward --in f.csv
python3 -c '
rows = open("out").read().split()
for x, y in zip(rows[1].split(","), (0.5, -0.7, 0.9, 1.5)): assert abs(float(x) - y) < 1e-12, (x, y)' 2> err || wrong "forward does not invert inverse"
run eval $arm regressor --standard --in s.csv
expect_code 0 regressor
[ "$(head -1 out | tr , '\n' | wc -l)" = 160 ] || wrong "regressor has not 4 x 40 columns"
run eval $arm regressor --in s.csv
[ "$(head -1 out | tr , '\n' | wc -l)" = 32 ] || wrong "base regressor has not 4 x 8 columns"
mv out recursive
run eval $arm regressor --via expanded --in s.csv
expect_code 0 "regressor through the model"
paste -d, recursive out | tail -1 | tr , ' ' | awk '{ for (i = 1; i <= 32; i++) { d = $i - $(i + 32); if (d < 0) d = -d; if (d > 1e-12) exit 1 } }' || wrong "the two regressors differ"
run eval $arm inverse --in s.csv
mv out recursive
run eval $arm inverse --via expanded --in s.csv
paste -d, recursive out | tail -1 | tr , ' ' | awk '{ for (i = 1; i <= 4; i++) { d = $i - $(i + 4); if (d < 0) d = -d; if (d > 1e-12) exit 1 } }' || wrong "the two torques differ"
run eval $arm energy --in s.csv --ignore-extra
[ "$(head -1 out)" = T,U ] || wrong "energy columns"
run eval $arm jacobian --in s.csv --ignore-extra --link J2
expect_code 0 jacobian
run eval $arm inverse --in s.csv --wrench 'link4:0,0,10,0,0,0'
expect_code 0 wrench

# ---- errors ----
run eval $arm invers --in s.csv
expect_code 2 "unknown function"
expect_err "psdm: error: unknown function 'invers'; did you mean 'inverse'? (psdm eval --help)"
run eval $arm inverse --frction --in s.csv
expect_code 2 "unknown option"
expect_err "psdm: error: unknown option '--frction'; did you mean '--friction'? (psdm eval --help)"
run eval $arm
expect_code 2 "missing function"
expect_err "psdm: error: missing FUNCTION; usage: psdm eval ROBOT FUNCTION [options] (psdm eval --help)"
run eval $arm inverse more
expect_code 2 "too many"
run eval $arm inverse --in
expect_code 2 "option without value"
run eval $arm inverse --gravity 1,2
expect_code 2 "bad vector"
run eval $arm pose --via expanded --in s.csv
expect_code 2 "pose through the model"
run eval $arm pose --link nowhere --in s.csv
expect_code 2 "unknown link"
run eval $arm inverse --in absent.csv --out o.csv
expect_code 2 "absent input"
expect_err "psdm: error: absent.csv: cannot be opened: No such file or directory"
expect_absent o.csv
run eval absent.yaml inverse --in s.csv
expect_code 2 "absent robot"
run eval $arm gravity --in s.csv --out o.csv
expect_code 3 "extra column"
expect_err "psdm: error: s.csv:1: column 'qdd1' is not one that gravity needs (q, each 1 to 4); --ignore-extra skips it"
expect_absent o.csv
printf 'q1,q2,q3\n1,2,3\n' > short.csv
run eval $arm gravity --in short.csv --out o.csv
expect_code 3 "missing column"
expect_err "psdm: error: short.csv:1: column 'q4' is missing; gravity needs q, each 1 to 4"
for bad in nan inf 0x1 1e999 '' 1,2 '1 2' "'1'" ; do
  printf 'q1,q2\n0,0\n0,%s\n' "$bad" > bad.csv
  run eval $two gravity --in bad.csv --out o.csv
  expect_code 3 "value '$bad'"
  expect_in err "psdm: error: bad.csv:3:"
  expect_absent o.csv
done
printf 'q1,q2\n0,0\n0\n' > bad.csv
run eval $two gravity --in bad.csv
expect_err "psdm: error: bad.csv:3:2: 1 values; the header on line 1 names 2 columns"
run eval $robots/denso_vs6556g.yaml inverse --in s.csv
expect_code 3 "unknown inertia"
expect_in err "link 'link1' has no mass, centre of mass and inertia"
head -c 3000000 /dev/zero | tr '\0' 1 > long.csv
run eval $two gravity --in long.csv
expect_code 3 "3 MB line"
expect_err "psdm: error: long.csv:1:1: a line longer than 1048576 bytes"
printf 'q1,q2\n0,\0000\n' > nul.csv
run eval $two gravity --in nul.csv
expect_code 3 "NUL byte"

# an existing file is unchanged when the run fails, and replaced completely when it succeeds
echo keep > o.csv
run eval $two gravity --in bad.csv --out o.csv
[ "$(cat o.csv)" = keep ] || wrong "a failed run spoilt its output file"
run eval $two gravity --in q.csv --out o.csv
[ "$(head -1 o.csv)" = tau1,tau2 ] || wrong "output file is not replaced"
rm o.csv
run eval $two gravity --in q.csv --out /dev/full
expect_code 2 "full disk"
expect_in err "/dev/full: cannot be written: No space left on device"
"$PSDM" eval $two gravity --in q.csv > /dev/full 2> err; code=$?
expect_code 2 "full disk on stdout"
run eval $two gravity --in q.csv --out nowhere/o.csv
expect_code 2 "no such folder"

# an interrupt leaves no file behind
mkfifo pipe
"$PSDM" eval $two gravity --in pipe --out o.csv 2> err & pid=$!
exec 9> pipe; printf 'q1,q2\n0,0\n' >&9; sleep 0.5
kill -INT $pid; wait $pid; exec 9>&-
expect_absent o.csv

# a link may have any name
cat > evil.yaml <<'YAML'
convention: dh
joints: [{name: '"; system("id"); //', a: 1}, {name: '<script>alert(1)</script>', a: 1}]
links: [{name: "a\x1b[31mred", mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}, {name: '$(id)', mass: -1}]
YAML
run inspect evil.yaml
expect_code 0 "hostile names"
grep -q "$(printf '\033')" out err && wrong "an escape sequence reached the terminal"
run inspect evil.yaml --json
python3 -c 'import json; d = json.load(open("out")); assert d["joints"][0]["name"] == "\"; system(\"id\"); //" and "\x1b" in d["joints"][0]["link"]' 2> err || wrong "hostile names break JSON"

# ---- links without <inertial>, joints without inertia, links that do not move ----
link() { echo "<link name='$1'>${2:-}</link>"; }
joint() { echo "<joint name='$1' type='$2'><parent link='$3'/><child link='$4'/><axis xyz='0 1 0'/></joint>"; }
body="<inertial><origin xyz='0.1 0 0'/><mass value='2'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
echo "<robot name='r'>$(link b)$(link up "$body")$(link low)$(link stand)$(joint j1 revolute b up)$(joint j2 revolute up low)$(joint f fixed b stand)</robot>" > hollow.urdf
printf 'q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0\n' > m.csv
run eval hollow.urdf inverse --in m.csv
expect_code 3 "a moving link without <inertial>"
expect_in err "psdm: warning: 1 moving link has no <inertial>, which leaves the inertia unknown (--missing-inertia zero takes it as zero): 'low'"
expect_in err "psdm: error: hollow.urdf:1: link 'low' has no <inertial> with mass and inertia"
run inspect hollow.urdf
expect_in out "inertia of 1 of 2 moving links is missing"
run params hollow.urdf
expect_code 0 "params need no numbers"
run eval hollow.urdf inverse --in m.csv --missing-inertia zero
expect_code 0 "--missing-inertia zero"
expect_in err "psdm: note: 1 link has an inertia that the file does not give and --missing-inertia zero takes as zero: 'low'"
run eval hollow.urdf regressor --in m.csv --missing-inertia none
expect_code 2 "--missing-inertia none"
printf 'q1,q2,qd1,qd2,tau1,tau2\n0,0,0,0,0,0\n' > f.csv
run eval hollow.urdf forward --in f.csv --missing-inertia zero
expect_code 3 "no accelerations"
expect_in err "joint 'j2' moves nothing that has inertia"
run eval hollow.urdf pose --in q.csv
expect_code 0 "pose of the tip"
expect_in err "psdm: note: link 'low', the tip of the longest moving chain"
run eval hollow.urdf pose --in q.csv --link stand
expect_code 0 "pose of what stands still"
run eval hollow.urdf jacobian --in q.csv --link stand
expect_code 2 "Jacobian of what stands still"
expect_in err "link 'stand' is fixed to the base and does not move"
run codegen hollow.urdf --missing-inertia zero --out c --functions forward
expect_code 3 "code of accelerations that do not exist"
expect_absent c
run codegen hollow.urdf --missing-inertia zero --out c --effort 0
expect_code 0 "the rest of the code"
expect_in err "omitted: forward; joint 'j2' moves nothing that has inertia"
grep -Eq '= .*(nan|inf)[^a-z]' c/r.c && wrong "nan in generated code"

# closed loops have no second derivatives, here and in generated code
run eval "$robots/five_bar.yaml" inverse_second --in /nowhere.csv
expect_code 3 "a second derivative of closed loops"
expect_in err "closed loops: inverse_second is not available; the first derivatives of torques are"
run codegen "$robots/five_bar.yaml" --functions linearize_second --out c
expect_code 3 "its code"
expect_in err "closed loops: linearize_second is not available; the first derivatives of torques are"
finish
