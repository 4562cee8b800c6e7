# Common to all commands: --quiet, --verbose, colours, helpful errors, the doctor.
. "$SOURCE/tests/tools/cli.sh"
python3=$(command -v /usr/bin/python3 || command -v python3)
two=$robots/two_link.yaml
printf 'q1,q2,qd1,qd2,qdd1,qdd2\n0.1,0.2,1,-1,0.5,0.5\n' > states.csv

# ---- --quiet: the data alone; --verbose: the actions ----
run eval "$two" inverse --in states.csv
cp out loud
[ -s err ] || wrong "the two-link arm's file has warnings"
for flag in --quiet -q; do
  run eval "$two" inverse --in states.csv $flag
  expect_code 0 "eval $flag"
  checks=$((checks + 1)); cmp -s loud out || wrong "$flag changes the data"
  checks=$((checks + 1)); [ ! -s err ] || wrong "$flag speaks"
done
run eval "$two" inverse --in absent.csv -q
expect_code 2 "errors remain"
expect_in err "psdm: error: absent.csv: cannot be opened"
run simulate "$two" --time 0.1 --out motion.csv --quiet
expect_code 0 "simulate --quiet"
checks=$((checks + 1)); [ -s motion.csv ] && [ ! -s out ] && [ ! -s err ] || wrong "simulate --quiet: the file only"
run codegen "$two" --out arm --functions gravity -q
checks=$((checks + 1)); [ -s arm/Makefile ] && [ ! -s out ] || wrong "codegen -q: the folder only"
run plan "$two" scale --trajectory motion.csv --ignore-extra --factor 2 --out slow.csv --quiet
checks=$((checks + 1)); [ -s slow.csv ] && [ ! -s out ] || wrong "plan --quiet: the file only"
run derive "$two" --quiet
expect_in out "base parameters" # no other output was requested: this is the data
run derive "$two" --export model.json --quiet
checks=$((checks + 1)); [ -s model.json ] && [ ! -s out ] || wrong "derive --export --quiet: the file only"
run plan "$two" time --to 1 --json --quiet --velocity 2 --acceleration 5 --effort 100
case $code in 0 | 1) checks=$((checks + 1)); grep -q '"seconds"' out || wrong "--json is data, --quiet or not" ;; esac
for flag in --verbose -v; do
  run eval "$two" inverse --in states.csv $flag
  expect_in err " s: psdm eval, version "
  expect_in err " s: --in states.csv"
  expect_in err "two_link.yaml: robot 'two_link' with 2 joints"
  expect_in err " s: inverse of 1 states"
  expect_in err " s: exit code 0"
  checks=$((checks + 1)); cmp -s loud out || wrong "$flag changes the data"
done
# every command has both, and lists them
for command in $("$PSDM" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  run "$command" --help
  expect_code 0 "$command --help"
  expect_in out "-q, --quiet"
  expect_in out "-v, --verbose"
  run "$command" -h
  expect_code 0 "$command -h"
done

# ---- helpful errors: the expected text on stderr, then the arguments ----
teach() { want=$1; shift; run "$@"; checks=$((checks + 1)); [ "$code" = 2 ] || [ "$code" = 3 ] || wrong "exit $code: $*"; expect_in err "$want"; }
ln -s "$robots" robots
teach "unknown command 'simulat'; did you mean 'simulate'?" simulat
teach "unknown command 'simulte'; did you mean 'simulate'?" help simulte
teach "missing ROBOT; usage: psdm eval ROBOT FUNCTION [options]" eval
teach "unknown function 'inverze'; did you mean 'inverse'?" eval "$two" inverze
teach "function 'xyz': one of inverse, gravity, bias," eval "$two" xyz
teach "robots/two_lnk.yaml: cannot be opened: No such file or directory; did you mean 'robots/two_link.yaml'?" eval robots/two_lnk.yaml mass
teach "did you mean 'robots/two_link.yaml'?" eval robots/two_link.yml mass
teach "did you mean 'robots/two_link.yaml'?" eval robots/two_link mass
teach "there is no folder 'robot'" eval robot/two_link.yaml mass
teach "state.csv: cannot be opened: No such file or directory; did you mean 'states.csv'?" eval "$two" inverse --in state.csv
teach "there is no folder './nowhere/at'" eval "$two" inverse --in states.csv --out ./nowhere/at/all.csv
teach "unknown option '--int'; did you mean '--in'?" eval "$two" inverse --int states.csv
teach "unknown option '-in'; did you mean '--in'?" eval "$two" inverse -in states.csv
teach "unknown option '--verbos'; did you mean '--verbose'?" eval "$two" inverse --verbos
teach "option '--in' needs a value: FILE" eval "$two" inverse --in
teach "--gravity '0,0': three numbers were expected, X,Y,Z" eval "$two" inverse --gravity 0,0
teach "--time 'abc': a number was expected, SECONDS" simulate "$two" --time abc
teach "--link 'link3': did you mean 'link1'?" eval "$two" pose --link link3
teach "--link 'gripper': the robot has no such link or joint; its links are link1, link2" eval "$two" pose --link gripper
teach "lock 'elbo': the robot has no such joint; did you mean 'elbow'?" eval "$two" mass --lock elbo=1
teach "--lock 'elbow': JOINT=VALUE was expected" eval "$two" mass --lock elbow
teach "tip 'lnk2': the robot has no such link; did you mean 'link2'?" eval "$two" mass --tip lnk2
teach "root 'xx': the robot has no such link" eval "$two" mass --root xx
teach "--via 'expandd': did you mean 'expanded'? There are recursive, expanded" eval "$two" inverse --via expandd
teach "--method 'exat': did you mean 'exact'? There are exact, dense" derive "$two" --method exat
teach "--target 'gpu': one of c, simd, cuda was expected" codegen "$two" --out x --target gpu
teach "function 'invers': did you mean 'inverse'?" codegen "$two" --out x --functions invers
teach "--control 'pdgravity': did you mean 'pd-gravity'?" simulate "$two" --time 1 --control pdgravity
teach "--friction 'columb': did you mean 'coulomb'?" simulate "$two" --time 1 --friction columb
teach "--reference 'quintc': did you mean 'quintic'?" simulate "$two" --time 1 --control pd --reference quintc
teach "--estimator 'consistant': did you mean 'consistent'?" calibrate "$two" --log states.csv --estimator consistant
teach "--for 'inertias': did you mean 'inertia'?" excite "$two" --for inertias
teach "'fast': one of time, energy, scale was expected" plan "$two" fast --to 1
teach "--profile 'slo': did you mean 'slow'?" reduce "$two" --profile slo
teach "'fish': did you mean 'bash'? There are bash, zsh" completion fish
teach "missing DIR: the folder for the manual pages" reference man
printf 'q1,q2\n0.1,x\n' > bad.csv
teach "bad.csv:2:5: column 'q2' has 'x'; a finite decimal number was expected" eval "$two" gravity --in bad.csv
teach "column 'q3' is missing; inverse needs q qd qdd, each 1 to 6" eval "$robots/kuka_kr6.yaml" inverse --in states.csv
teach "'-q' comes before the command; options follow it: psdm COMMAND ... -q" -q doctor
teach "options follow it: psdm COMMAND ... --verbose" --verbose
teach "duplicate --out; it takes one value" eval "$two" inverse --in states.csv --out a.csv --out=b.csv
expect_absent a.csv
printf 't,q1,q2,note\n0,0,0,1\n1,1,1,1\n' > noted.csv
teach "noted.csv:1: column 'note' is not one of t, q, qd, qdd, each 1 to 2; --ignore-extra skips it" simulate "$two" --inverse --reference noted.csv
teach "column 'note' is not one of" plan "$two" scale --trajectory noted.csv --factor 2
printf 't,q1,q2,tau1,tau2,note\n0,0,0,1,1,1\n1,1,1,1,1,1\n' > log.csv
teach "column 'note' is not one of" calibrate "$two" --log log.csv
expect_in err "--ignore-extra skips it"
run plan "$two" scale --trajectory slow.csv --factor 2 --out slower.csv
expect_code 0 "plan takes the columns that it writes"
sed 's/elbow/"el$(bow)"/' "$two" > dollar.yaml
teach "URDF cannot express: joint 'el\$(bow)' has a name with \$( or \${, which is read as xacro" convert dollar.yaml --out dollar.urdf
expect_absent dollar.urdf
# a command never overwrites its inputs, whatever their names
cp "$two" arm.yaml; ln -s arm.yaml link.yaml; cp arm.yaml before.yaml; cp states.csv before.csv; cp noted.csv noted_before.csv
over="this command reads that file and would overwrite it"
teach "arm.yaml: $over" simulate arm.yaml --time 0.1 --out arm.yaml
teach "link.yaml: $over" simulate arm.yaml --time 0.1 --out link.yaml
teach "$over" convert link.yaml --out ./arm.yaml
teach "$over" derive arm.yaml --export arm.yaml
teach "$over" report arm.yaml --out arm.yaml
teach "states.csv: $over" eval arm.yaml inverse --in states.csv --out states.csv
teach "noted.csv: $over" plan arm.yaml scale --trajectory noted.csv --ignore-extra --factor 2 --out noted.csv
teach "noted.csv: $over" simulate arm.yaml --inverse --reference noted.csv --ignore-extra --out x.csv --log noted.csv --log-rate 100
teach "noted.csv: $over" calibrate arm.yaml --log noted.csv --predict noted.csv
checks=$((checks + 1)); cmp -s arm.yaml before.yaml && cmp -s states.csv before.csv && cmp -s noted.csv noted_before.csv || wrong "an input was written over"
run eval arm.yaml inverse --in states.csv --out /dev/null
expect_code 0 "/dev/null is no file"
# names with control characters never reach a terminal
teach "unknown option '--a\\x1b[31m'" eval "$two" inverse "$(printf -- '--a\033[31m')"
checks=$((checks + 1)); grep -q "$(printf '\033')" err && wrong "an escape sequence of a name reaches the terminal"

# ---- colours: only on a terminal that has them ----
on_terminal() { "$python3" "$SOURCE/tests/tools/terminal.py" --lines lines -- "$PSDM" "$@" > out 2> err; code=$?; }
escape=$(printf '\033')
TERM=xterm on_terminal evil
checks=$((checks + 1)); grep -q "${escape}\[1;31merror:" lines || wrong "no colour on a terminal"
TERM=xterm NO_COLOR=1 on_terminal evil
checks=$((checks + 1)); grep -q "$escape" lines && wrong "NO_COLOR is not honoured"
TERM=dumb on_terminal evil
checks=$((checks + 1)); grep -q "$escape" lines && wrong "a dumb terminal gets colours"
TERM=xterm run evil
checks=$((checks + 1)); grep -q "$escape" err && wrong "a pipe gets colours"

# ---- the doctor says what is missing, what is lost without it, and how to get it ----
run doctor
expect_code 0 doctor
PSDM_PLUGINS=$work/none PSDM_NLOPT=$work/none PATH=/nowhere run doctor
expect_code 0 "what is missing is not needed"
expect_in out "not found in $work/none"
expect_in out "apt-get install coinor-libipopt-dev"
expect_in out "apt-get install gnuplot-nox"
expect_in out "works, without: "
PSDM_GNUPLOT=/nowhere/gnuplot run doctor
expect_in out "PSDM_GNUPLOT=/nowhere/gnuplot: cannot be run"
checks=$((checks + 1)); grep -q '^  ok *gnuplot' out && wrong "the doctor looks elsewhere than psdm report"
PSDM_PLUGINS=$work/none run doctor --quiet
expect_in out "IPOPT plug-in"
checks=$((checks + 1)); grep -q "^  ok" out && wrong "doctor --quiet tells of what works"
PSDM_PLUGINS=$work/none run doctor --json
"$python3" -c 'import json; c = {x["name"]: x for x in json.load(open("out"))["checks"]}; assert not c["IPOPT plug-in"]["ok"] and "apt-get" in c["IPOPT plug-in"]["fix"] and c["dynamics"]["ok"]' 2> err || wrong "doctor --json"
finish
