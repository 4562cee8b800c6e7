# The dense derivation of the KR6, systems of up to 3125 functions: the same functions and coefficients as the exact one.
. "$SOURCE/tests/tools/cli.sh"
robot=$robots/kuka_kr6.yaml
run derive "$robot" --method exact --export exact.json
expect_code 0 exact
run derive "$robot" --method dense --json --export dense.json
expect_code 0 dense
python3 - <<'PY' 2> err || wrong "dense and exact differ"
import json
said = json.load(open("out"))
dense, exact = json.load(open("dense.json")), json.load(open("exact.json"))
assert said["method"] == "dense" and said["p"] == 6086 and said["l"] == 36 and said["searched"] == 23880, said
assert said["residual"] < 1e-12, said
assert dense["E"] == exact["E"]
names = [[b["name"] for b in m["base_parameters"]] for m in (dense, exact)]
assert names[0] == names[1], names
P = [{tuple(row[:3]): row[3] for row in m["P"]} for m in (dense, exact)]
assert P[0].keys() == P[1].keys()
worst = max(abs(P[0][k] - x) / abs(x) for k, x in P[1].items())
assert worst < 1e-8, worst
print("KR6 by the dense method: %.2f s, coefficients to %.1g" % (said["seconds"], worst))
PY
run derive "$robot" --method dense --basis echelon --json
expect_code 0 echelon
python3 -c 'import json; d = json.load(open("out")); assert d["basis"] == "echelon" and d["l"] == 36 and d["residual"] < 1e-10, d' 2> err || wrong "echelon basis of the KR6"
# seven joints, systems of up to 15625 functions in blocks
run derive "$robots/kuka_lbr7.yaml" --export exact.json
expect_code 0 "exact, LBR7"
run derive "$robots/kuka_lbr7.yaml" --method dense --json --export dense.json
expect_code 0 "dense, LBR7"
python3 - <<'PY' 2> err || wrong "dense and exact differ for the LBR7"
import json
said = json.load(open("out"))
dense, exact = json.load(open("dense.json")), json.load(open("exact.json"))
assert said["p"] == 21295 and said["l"] == 43 and said["residual"] < 1e-12 and said["bytes"] < 4e8, said
assert dense["E"] == exact["E"] and [b["name"] for b in dense["base_parameters"]] == [b["name"] for b in exact["base_parameters"]]
P = [{tuple(row[:3]): row[3] for row in m["P"]} for m in (dense, exact)]
assert P[0].keys() == P[1].keys() and max(abs(P[0][k] - x) / abs(x) for k, x in P[1].items()) < 1e-8
print("LBR7 by the dense method: %.2f s" % said["seconds"])
PY
# 350 random robots, n up to 5: the two methods find the same functions and coefficients
for seed in 1 2 3 4; do
  checks=$((checks + 1))
  PSDM_SEED=$seed "$BUILD/tests/test_dense" > out 2> err || wrong "random twins with seed $seed"
done
finish
