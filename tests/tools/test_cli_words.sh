# The library's texts name fields in backquotes; the tool says them as its options, everywhere, and in documents they stay fields.
. "$SOURCE/tests/tools/cli.sh"
two=$robots/two_link.yaml

# an error, a note and a warning of the library
printf 't,q1,q2,extra\n0,0,0,0\n1,0.1,0.1,0\n' > motion.csv
run simulate "$two" --inverse --reference motion.csv
expect_code 3 "a column too many"
expect_in err "psdm: error: motion.csv:1: column 'extra' is not one of t, q, qd, qdd, each 1 to 2; --ignore-extra skips it"
printf '{convention: dh, joints: [{a: 1, alpha: 1.5708}]}\n' > nearly.yaml
run inspect nearly.yaml
expect_code 0 "an angle that is snapped"
expect_in err "psdm: note: line 1: joint '1': alpha 1.5708 snapped to 90 deg (--no-snap keeps it)"
printf '<robot name="r"><link name="base"/><link name="a"/><joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>\n' > bare.urdf
run inspect bare.urdf
expect_in err "psdm: warning: 1 moving link has no <inertial>, which leaves the inertia unknown (--missing-inertia zero takes it as zero): 'a'"
expect_in out "this command needs it (or --missing-inertia zero)"
run inspect bare.urdf --json
expect_in out '(`missing_inertia = zero` takes it as zero)'
run report bare.urdf --out page.html --gnuplot /nowhere
expect_in page.html "(<code>missing_inertia = zero</code> takes it as zero)"
run derive "$two" --sampler true
expect_err "psdm: error: --sampler needs --method dense (psdm derive --help)"

# help, the reference, the completions
run params --help
expect_in out "names for the lengths (with --symbolic)"
for what in "reference markdown" "completion zsh"; do
  run $what
  expect_in out "names for the lengths (with --symbolic)"
done

# what is no field, and names of the user's, stay
printf 't,q1,q2,`no field`,`nothing`\n0,0,0,0,0\n' > motion.csv
run simulate "$two" --inverse --reference motion.csv
expect_in err "column '\`no field\`' is not one of"

# what is printed of a calibration has options, its documents have fields
run simulate "$two" --inverse --reference sines --amplitude 0.4 --frequency 0.5 --time 6 --log log.csv --log-rate 200
expect_code 0 "a log"
run calibrate "$two" --log log.csv --estimator ols --plain-friction --holdout 0 --accept useless --out params.yaml
expect_code 0 "nothing is held out"
expect_in out "nothing was held out: errors are those of the fitted rows (--holdout)"
run calibrate "$two" --log log.csv --estimator ols --plain-friction --holdout 0 --accept useless --json
expect_in out 'nothing was held out: errors are those of the fitted rows (`holdout`)'
cp out calibrate.json
run report calibrate.json --out page.html --gnuplot /nowhere
expect_in page.html "nothing was held out: errors are those of the fitted rows (<code>holdout</code>)"
finish
