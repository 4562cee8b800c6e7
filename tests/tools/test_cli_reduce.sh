# psdm reduce: text, JSON, table, listed states, code with its self-test, figures with and without gnuplot, refusals.
. "$SOURCE/tests/tools/cli.sh"
scara=$robots/fanuc_sr6ia.yaml
run reduce --help
expect_code 0 "reduce --help"
expect_in out "--confidence C"
expect_in out "example"

run reduce "$scara" --profile fast --samples 20000
expect_code 0 reduce
expect_in out "fanuc_sr6ia, fast profile:"
expect_in out "at 95 % confidence"
expect_in out "verified at 20000 states"
expect_in out "full closed form"
expect_in out "exact recursion"
cp out first
run reduce "$scara" --profile fast --samples 20000
checks=$((checks + 1))
cmp -s out first || wrong "two runs of one seed differ"

run reduce "$scara" --error 0.001 --samples 20000 --json
expect_code 0 "reduce --json"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "reduce --json"
import json
d = json.load(open("out"))
assert d["reached"] and d["error"] <= 0.001 and d["digits"] >= 3 and d["samples"] == 20000
assert d["p"] < d["p_before"] == 69 and d["l"] <= d["l_before"] == 8
assert d["error_half"] <= d["error"] <= d["error_999"]
assert sum(d["reduced"].values()) < sum(d["full"].values())
assert d["wins"] in ("reduced", "recursion")
PY

# the folder stands alone: model and code; the model is read back, the code passes its self-test
run reduce "$scara" --profile fast --samples 20000 --out small
expect_code 0 "reduce --out"
for file in model.json fanuc_sr6ia.h fanuc_sr6ia.c fanuc_sr6ia_selftest.c Makefile; do expect_in "small/$file" ""; done
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "model.json"
import json
d = json.load(open("small/model.json"))
assert d["n"] == 4 and len(d["E"]) == d["p"] < 69 and all(b["value"] is not None for b in d["base_parameters"])
PY
checks=$((checks + 1))
(cd small && make check > ../make.log 2>&1) || { cat make.log; wrong "make check of the reduced code"; }
run reduce "$robots/two_link.yaml" --forward --samples 2000 --out forward
expect_code 0 "reduce --forward --out"
expect_in out "acceleration error"
checks=$((checks + 1))
(cd forward && make check > ../make.log 2>&1) || { cat make.log; wrong "make check of the reduced forward code"; }

# times of all that is counted; without a compiler a warning
run reduce "$scara" --samples 2000 --table --times --json
expect_code 0 "reduce --table --times"
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "reduce --table --times --json"
import json
d = json.load(open("out"))
times = [d["full"]["ns"], d["reduced"]["ns"], d["recursion"]["ns"]] + [c["ns"] for c in d["table"]]
assert len(times) == 11 and all(0.1 < t < 1e5 for t in times)
PY
run reduce "$scara" --samples 2000 --table --times
expect_in out "functions, operations, time"
expect_in out " ns  "
CC=/nonexistent PSDM_CACHE="$work/empty" run reduce "$scara" --samples 2000 --times --json
expect_code 0 "reduce --times without a compiler"
expect_in err "psdm: warning: no times: no C compiler"
grep -q '"ns"' out && wrong "times without a compiler"

# listed states
python3 -c '
import random
random.seed(4)
print("q1,q2,q3,q4,qd1,qd2,qd3,qd4,qdd1,qdd2,qdd3,qdd4")
for k in range(400): print(",".join("%.6f" % random.uniform(-1, 1) for _ in range(12)))' > task.csv
run reduce "$scara" --profile task.csv
expect_code 0 "listed states"
expect_in out "listed profile"
expect_in out "verified at 400 states"
head -n 5 task.csv > few.csv
run reduce "$scara" --profile few.csv
expect_code 3 "four states"
expect_in err "few.csv: 4 states are too few for a profile"
cut -d, -f1-11 task.csv > narrow.csv
run reduce "$scara" --profile narrow.csv
expect_code 3 "a column is missing"
expect_in err "narrow.csv:1: missing column 'qdd4'"
touch file
run reduce "$scara" --out file
expect_code 2 "a file in place of the folder"
expect_err "psdm: error: file: is not a directory"
run reduce "$scara" --profile medium
expect_code 2 "neither a profile nor a file"

run reduce "$robots/two_link.yaml" --samples 2000 --table
expect_code 0 "reduce --table"
expect_in out "2 correct digits (1 % error)"
expect_in out "* fewer than the exact recursion's"

# figures: numbers, which psdm report draws
run reduce "$robots/two_link.yaml" --samples 2000 --figures --json
expect_code 0 "reduce --figures"
python3 -c 'import json; d = json.load(open("out")); assert [f["profile"] for f in d["figures"]] == ["slow", "fast"] and all(len(f["sizes"]) > 1 for f in d["figures"])' || wrong "reduce --figures"

# what does not go
for bad in "--error 0" "--error 1" "--confidence 1" "--samples 10" "--samples 2000.5" "--seed -1" "--figures"; do
  run reduce "$scara" $bad
  expect_code 2 "reduce $bad"
done
run reduce "$robots/five_bar.yaml"
expect_code 3 "closed loops"
printf 'convention: dh\njoints:\n  - {a: 0.5}\n' > unknown.yaml
run reduce unknown.yaml
expect_code 3 "unknown inertias"
expect_in err "has no mass"
touch file
run reduce "$robots/two_link.yaml" --samples 2000 --out file
expect_code 2 "a file where a folder was wanted"
# a GPU that is not there, and one that is only loops
run reduce "$robots/two_link.yaml" --device gpu
expect_code 2 "no such device"
expect_in err "--device 'gpu': did you mean 'cpu'? There are cpu, cuda"
export NVCC=/nonexistent/nvcc
run reduce "$robots/two_link.yaml" --device cuda
expect_code 2 "no compiler of CUDA's"
expect_in err "a GPU needs CUDA's compiler: '/nonexistent/nvcc' was not found; set NVCC"
export NVCC=c++
run reduce "$robots/fanuc_sr6ia.yaml" --samples 2000 --device cuda
expect_code 0 "loops in a GPU's place"
mv out loops
run reduce "$robots/fanuc_sr6ia.yaml" --samples 2000
expect_code 0 "without"
checks=$((checks + 1))
cmp -s out loops || wrong "other states or errors on another device"
unset NVCC
finish
