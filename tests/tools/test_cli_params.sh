# psdm params: by structure, by numbers, by symbols; text, LaTeX, JSON.
. "$SOURCE/tests/tools/cli.sh"
puma=$robots/puma560.yaml
run params --help
expect_code 0 "params --help"
expect_in out "--symbolic"
expect_in out "example"

# Gautier (1991), Tables III and V
run params "$puma"
expect_code 0 params
expect_in out "puma560: 40 base parameters of 66 standard ones"
expect_in out "  1    ZZ1           5.01856   ZZ1 + YY2 + 0.29 m3 + 0.4 mz3 + YY3 + 0.2904 m4 + 0.2904 m5 + 0.2904 m6 + Ia1"
expect_in out "15 standard parameters are regrouped into others:"
expect_in out "11 standard parameters have no effect:"
run params "$puma" --symbolic --rename d3=R3,a3=D3,d4=R4,a4=D4
expect_code 0 "params --symbolic"
expect_in out "XX3 - YY3 + YY4 + 2*R4*mz4 + (R4^2 - D4^2)*(m4 + m5 + m6)"
expect_in out "lengths: D3 = 0.5, R3 = 0.2, D4 = 0.02, R4 = 0.6"
run params "$puma" --symbolic --latex
expect_in out '\begin{tabular}{rrp{0.75\textwidth}}'
expect_in out '$\mathit{mx}_{2} + a_{3}\,(m_{3} + m_{4} + m_{5} + m_{6})$ \\'
expect_in out '\end{tabular}'
run params "$puma" --latex
expect_in out '$\mathit{mx}_{2} + 0.5\,m_{3} + 0.5\,m_{4} + 0.5\,m_{5} + 0.5\,m_{6}$ \\'
run params "$puma" --symbolic --json
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "params --symbolic --json"
import json
d = json.load(open("out"))
assert d["l"] == 40 and d["model"] == "exact" and len(d["base_parameters"]) == 40
assert d["lengths"] == {"a3": 0.5, "d3": 0.2, "a4": 0.02, "d4": 0.6}
assert d["symbolic_error"] < 1e-12
first = d["base_parameters"][0]
assert first["symbolic"] == "ZZ1 + YY2 + YY3 + Ia1 + 2*d3*mz3 + (a3^2 + d3^2)*m3 + (a3^2 + d3^2 + a4^2)*(m4 + m5 + m6)"
# the text is arithmetic: with the file's numbers it gives the value
import subprocess, os, re
text = subprocess.run([os.environ["PSDM"], "inspect", os.environ["SOURCE"] + "/robots/puma560.yaml", "--parameters"], capture_output=True, text=True).stdout
pi = {k: float(v) for k, v in re.findall(r"\b((?:m|mx|my|mz|XX|XY|XZ|YY|YZ|ZZ|Ia)\d+)\s+(-?[\d.e+-]+)", text)}
assert len(pi) == 66, len(pi)
for b in d["base_parameters"]:
    value = eval(b["symbolic"].replace("^", "**"), {}, {**pi, **d["lengths"]})
    assert abs(value - b["value"]) < 1e-12, b
assert len(d["unchanged"]) == 23 and len(d["grouped"]) == 17 and len(d["regrouped"]) == 15 and len(d["no_effect"]) == 11
PY

# the sampled models find the same
for model in d d0 h; do
  for solver in qr svd; do
    run params "$puma" --model $model --solver $solver --minimal-norm --json
    expect_code 0 "params --model $model --solver $solver"
    checks=$((checks + 1))
    python3 - $model $solver 2> err <<'PY' || wrong "params --model $model --solver $solver --json"
import json, sys
d = json.load(open("out"))
assert d["model"] == sys.argv[1] and d["solver"] == sys.argv[2]
assert d["l"] == 40 and d["columns"] == 55 and len(d["table"]) == 55
assert all(k["rank"] == 40 and k["gap"] > 1e12 for k in d["decisions"].values())
assert d["spread"] < d["spread_random"]
assert d["table"][0]["parameter"] == "ZZ1" and d["table"][-1]["parameter"] == "Ia6"
assert abs(d["base_parameters"][0]["formula"]["m6"] - 0.2904) < 1e-9
assert abs(d["base_parameters"][0]["value"] - 5.01856) < 1e-9
assert len(d["minimal_norm"]) == 55
assert len(d["unchanged"]) == 23 and len(d["grouped"]) == 17 and len(d["regrouped"]) == 15 and len(d["no_effect"]) == 11
PY
  done
done
run params "$puma" --model h --solver svd --no-scaling
expect_in out "puma560: 40 base parameters of 66 standard ones, by model h and svd"
expect_in out "rank 40 by sigma (SVD): gap"
expect_in out "V2 N  X_i"
grep -q "scaled ones" out && wrong "--no-scaling scales"
# any linear relation: with known centres the first moments follow from the masses, by structure, by samples and by the dense derivation
plane='ry1=0,rz1=0,Ixx1=0,Iyy1=0,Ixy1=0,Ixz1=0,Iyz1=0,ry2=0,rz2=0,Ixx2=0,Iyy2=0,Ixy2=0,Ixz2=0,Iyz2=0'
while IFS=: read -r count more; do
  for way in 'params --model exact' 'params --model d' 'derive --method dense'; do
    # shellcheck disable=SC2086 # words
    run ${way%% *} "$robots/two_link.yaml" ${way#* } --assume "$plane$more" --json
    checks=$((checks + 1))
    python3 -c 'import json, sys; assert json.load(open("out"))["l"] == int(sys.argv[1])' "$count" 2> /dev/null || wrong "$way --assume ...$more: l is not $count"
  done
done << 'END'
4:
4:,rx1 = -0.7,rx2 = -0.6
3:,rx1 = -0.7,rx2 = -0.6,Izz1 = 2*Izz2
2:,rx1 = -0.7,rx2 = -0.6,Izz1 = 2*Izz2,m1 = 3*m2
2:,rx1 = -0.7,-0.1 + rx2 = rx1,2 Izz2 - Izz1 = 0,m1 - m2 = 2*m2
3:,m1 = 2,m2 = 1,rx1 = -0.7,rx2 = -0.6
END
run params "$robots/two_link.yaml" --assume 'rx1 = 2*rx2,rx2 = 0.1,rx1 = 0.3'
expect_code 3 "assumptions that contradict each other"
expect_in err "assumption 'rx1 = 0.3' contradicts the others"
run params "$robots/two_link.yaml" --assume 'rx1 = 2*rx2,rx2 = 0.1,rx1 = 0.2'
expect_code 0 "an assumption that follows from the others"

# samples, tolerance and weights of the paper: its 55 x 55
run params "$puma" --model h --samples 55 --tolerance 1e-13 --scaling 0.01,1 --json
expect_code 0 "params --samples --tolerance --scaling"
python3 - 2> err <<'PY' || wrong "params --samples --tolerance --scaling"
import json
d = json.load(open("out"))
assert d["rows"] == d["columns"] == 55 and d["l"] == 40 and d["spread"] < 1e-2 * d["spread_random"]
largest = max(abs(row["T"]) for row in d["table"])
assert abs(d["decisions"]["T"]["tau"] - 1e-13 * largest) < 1e-20 and d["decisions"]["T"]["gap"] > 1e11
PY
# the weight of the norm alone makes W smaller and S worse
run params "$puma" --model d --scaling 1,0 --json
expect_code 0 "params --scaling 1,0"
python3 -c 'import json; d = json.load(open("out")); assert d["l"] == 40 and d["spread"] > 1e3' 2> err || wrong "params --scaling 1,0"
run params "$puma" --model h --samples 54
expect_code 2 "fewer samples than columns"
expect_in err "54 samples give 54 rows for 55 columns; at least 55 samples are needed"
run params "$puma" --model h --tolerance 0.9
expect_code 1 "a tolerance that loses parameters"
expect_in err "reproduce the torques of the recursion only to within"
for pair in '--samples 1.5:a whole number up to 1000000' '--tolerance 1:a number from 0 to below 1' '--scaling 0,0:two weights' '--scaling 1,2,3:2 were expected' '--no-scaling --scaling 1,1:exclude each other'; do
  # shellcheck disable=SC2086 # two words
  run params "$puma" --model h ${pair%%:*}
  expect_code 2 "${pair%%:*}"
  expect_in err "${pair#*:}"
done
run params "$puma" --samples 100
expect_err "psdm: error: --samples needs a sampled model: --model d, d0 or h (psdm params --help)"
run params "$robots/parallelogram.yaml" --model d0
expect_in out "parallelogram: 8 base parameters of 40 standard ones"
run params "$robots/parallelogram.yaml" --symbolic
expect_in out "mx1 + a4*m4 + a4/a3*mx4"

# numbers in place of symbols, with a note
printf 'convention: dh\njoints:\n  - {a: 0.3}\n  - {type: prismatic, a: -0.3}\n  - {a: 0.2, alpha: pi/2}\n' > cancel.yaml
run params cancel.yaml --symbolic
expect_code 0 "lengths that cancel"
expect_in out "at these lengths only:"

# formulas without values
printf 'convention: dh\njoints:\n  - {a: 0.5, drive_inertia: unknown}\n  - {a: 0.4}\n' > unknown.yaml
run params unknown.yaml --symbolic
expect_code 0 "unknown inertias"
expect_in out "?   ZZ1 + Ia1 + 2*a1*mx1 + a1^2*(m1 + m2)"
run params unknown.yaml --model h
expect_code 0 "unknown inertias, sampled"
run params unknown.yaml --json --symbolic
python3 -c 'import json; d = json.load(open("out")); assert all(b["value"] is None and b["symbolic"] for b in d["base_parameters"])' 2> err || wrong "unknown --json"
run params unknown.yaml --model d --minimal-norm
expect_code 3 "minimal norm of unknown inertias"
expect_in err "link 'link1' has no mass"

# conflicting options
run params "$puma" --model e
expect_code 2 "no such model"
expect_in err "psdm: error: --model 'e': one of exact, d, d0, h was expected"
run params "$puma" --solver lu
expect_code 2 "no such solver"
run params "$puma" --symbolic --model d
expect_code 2 "symbols from samples"
run params "$puma" --minimal-norm
expect_code 2 "minimal norm without samples"
run params "$puma" --json --latex
expect_code 2 "two formats"
run params "$puma" --rename a3=L
expect_code 2 "names without symbols"
run params "$puma" --symbolic --rename a3=mz3
expect_code 3 "a name that is taken"
expect_in err "psdm: error: name 'a3=mz3': this is the name of a standard parameter"
run params "$puma" --model d --assume 'Ixx9 = 0'
expect_code 3 "an assumption about nobody"
# ---- axes that are nearly aligned ----
sed 's/alpha: -pi\/2}/alpha: -1.5706}/' "$robots/kuka_kr6.yaml" > off.yaml
run params off.yaml --snap-axes 1e-3
expect_code 0 "params --snap-axes"
expect_in out "kuka_kr6: 36 base parameters"
expect_in err "2 axes were made parallel or perpendicular to the one before, by at most 0.000196 rad (joint 'A"
run params off.yaml --snap-axes "0.1 deg"
expect_in err "2 axes were made"
for angle in 0 -1 0.2 "9 deg" deg x; do
  run params off.yaml --snap-axes "$angle"
  expect_code 2 "--snap-axes $angle"
  expect_in err "--snap-axes '$angle': an angle above 0 and up to 0.1 rad was expected, as 1e-3 or 0.1 deg"
done

finish
