# psdm bench: its output, and that its numbers are consistent.
. "$SOURCE/tests/tools/cli.sh"
: "${CC:=cc}"
export PSDM_CACHE=$work/cache TMPDIR=$work/tmp
mkdir tmp
two=$robots/two_link.yaml
run bench --help
expect_code 0 "bench --help"
expect_in out "--method all|auto|recursive|expanded"
expect_in out "examples:"

# ---- words ----
run bench
expect_code 2 "no robot"
run bench "$two" --method recursiv
expect_code 2 "no such method"
expect_in err "did you mean 'recursive'?"
run bench "$two" --functions inverse,mas
expect_code 2 "no such function"
expect_in err "function 'mas': did you mean 'mass'?"
run bench "$two" --optimise speed
expect_code 2 "no such order"
for n in 0 1.5 -3 1e9; do
  run bench "$two" --repeat "$n"
  expect_code 2 "--repeat $n"
done
# a file without inertias: drawn ones, which bodies can have, within its assumptions; and it says so
run bench "$robots/denso_vs6556g.yaml" --functions inverse --repeat 1 --effort 0 --json
expect_code 0 "unknown inertias"
expect_err "psdm: warning: inertias are unknown: the code is that of drawn ones, which bodies can have"
checks=$((checks + 1))
python3 -c 'import json; d = json.load(open("out")); assert d["drawn"] and d["l"] == 32 and d["error"] < 1e-13' 2> err || wrong "bench of drawn inertias"
sed 's/Ixy5 = 0/Ixx5 = 2*Iyy5 + Izz5/' "$robots/denso_vs6556g.yaml" > odd.yaml
run bench odd.yaml --functions inverse --repeat 1 --effort 0 --method recursive
expect_code 0 "impossible inertias"
expect_in err "no body can have them, because of the assumptions"
run bench "$robots/five_bar.yaml" --functions inverse
expect_code 3 "closed loops"
expect_in err "closed loops"

# ---- no compiler ----
CC=/nonexistent/cc run bench "$two" --functions inverse
expect_code 2 "no compiler"
expect_in err "no C compiler: '/nonexistent/cc' was not found"
printf '#!/bin/sh\necho "unit.c:1: error: not today" >&2\nexit 1\n' > failing
chmod +x failing
run bench "$two" --functions inverse --compiler ./failing
expect_code 2 "a compiler that fails"
expect_in err "the compiler failed (1): unit.c:1: error: not today"

# ---- the table ----
run bench "$two" --repeat 2
expect_code 0 "bench"
for words in "inverse          * " "forward          * " "pose             * " "the library's recursion takes" "worst error against the recursions"; do expect_in out "$words"; done
run bench "$two" --repeat 2 --method recursive --functions inverse
expect_code 0 "one method"
expect_in out "inverse            recursive"

# ---- JSON, on robots with sliding, coupled, branching and massless links ----
for robot in two_link fanuc_sr6ia parallelogram two_branch puma560; do
  run bench "$robots/$robot.yaml" --json --repeat 2 --effort 5 --functions inverse,gravity,mass,forward,energy
  expect_code 0 "$robot --json"
  checks=$((checks + 1))
  python3 - "$robot" 2> err <<'PY' || wrong "$robot: numbers"
import json, sys
d = json.load(open("out"))
assert d["error"] <= 1e-12
assert set(d["functions"]) == {"inverse", "gravity", "mass", "forward", "energy"}
for name, f in d["functions"].items():
    assert f["method"] in ("recursive", "expanded"), f
    others = [o["method"] for o in f["others"]]
    assert sorted(others + [f["method"]]) == ["expanded", "recursive"], (name, others)
    for row in [f] + f["others"]:
        assert row["ns"] > 0 and row["ns_batch"] > 0 and row["bytes"] > 0 and row["bytes_batch"] > 0 and row["error"] <= 1e-12, row
        assert row["mult"] >= 0 and row["add"] >= 0 and row["sincos"] >= 0 and row["depth"] >= 0, row
    assert f["library_ns"] > 0
    cost = lambda row: row["mult"] + row["add"] + row["div"] + row["sqrt"]
    assert all(cost(f) <= cost(o) for o in f["others"]), f  # auto takes the cheaper one
assert d["baseline"]["inverse"] == {"name": "library's recursion", "ns": d["functions"]["inverse"]["library_ns"]}
PY
done

# ---- the same operations as codegen reports, and no compiler the second time ----
run codegen "$two" --out generated --target simd --functions inverse --json
cp out codegen.json
export PSDM_CACHE=$work/cold
run bench "$two" --json --repeat 2 --method auto --functions inverse
cp out first.json
run bench "$two" --json --repeat 2 --method auto --functions inverse
checks=$((checks + 1))
python3 - 2> err <<'PY' || wrong "codegen and bench, cold and warm"
import json
a, b, c = (json.load(open(f)) for f in ("codegen.json", "first.json", "out"))
for key in ("method", "mult", "add", "div", "sqrt", "sincos", "depth"):
    assert a["functions"]["inverse"][key] == b["functions"]["inverse"][key], key
assert not b["cached"] and c["cached"]
PY
checks=$((checks + 1))
[ -z "$(ls -A tmp)" ] || wrong "temporary folders are left"
checks=$((checks + 1))
[ "$(stat -c %a cold)" = 700 ] || wrong "the cache is open to others"
finish
