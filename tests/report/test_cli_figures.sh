# The figures of the PSDM paper and the benchmarks' bars: JSON of psdm reduce, psdm bench and the scripts of bench/, and the page that psdm report makes from them.
. "$SOURCE/tests/tools/cli.sh"

# a python check: exit 0, or the failure in err
check() { checks=$((checks + 1)); python3 - "$@" > out 2> err || wrong "$1"; }

# ---- psdm reduce: the numbers behind the figures ----

run reduce "$robots/two_link.yaml" --samples 2000 --figures --table --json
expect_code 0 "reduce --figures --table --json"
cp out reduce.json
check "reduce --json" <<'PY'
import json, math
d = json.load(open("reduce.json"))
assert [f["profile"] for f in d["figures"]] == ["slow", "fast"]
for f in d["figures"]:
    c, sizes = f["contributions"], f["sizes"]
    assert len(c["log10_edges"]) == len(c["median"]) + 1 == len(c["maximum"]) + 1 and c["log10_edges"] == sorted(c["log10_edges"])
    # every function is in one bin, and no median is above its maximum: from the top down, the maxima are ahead
    for which in ("median", "maximum"):
        assert sum(c[which]) + c[which + "_below"] == f["functions"] == d["p_before"], which
    above = lambda which, k: sum(c[which][k:])
    assert all(above("median", k) <= above("maximum", k) for k in range(len(c["median"])))
    count = [s["functions"] for s in sizes]
    assert count == sorted(set(count)) and count[-1] == d["p_before"] and count[0] < count[-1]
    for s in sizes:
        assert s["error_95"] <= s["error_999"] and abs(s["digits_95"] + math.log10(s["error_95"])) < 1e-12 and abs(s["left_out_percent"] - 100 * (1 - s["functions"] / d["p_before"])) < 1e-12
    # with every function: rounding alone, and the full closed form's operations
    assert sizes[-1]["error_999"] < 1e-9 and sizes[-1]["operations"] == sum(d["full"].values())
assert len(d["table"]) == 8
for t in d["table"]:
    assert t["reached"] == (t["error"] <= t["error_wanted"]) and t["operations"] > 0
chosen = next(t for t in d["table"] if (t["profile"], t["error_wanted"], t["confidence"]) == ("slow", 0.01, 0.95))
assert chosen["functions"] == d["p"] and chosen["operations"] == sum(d["reduced"].values())
PY
run reduce "$robots/two_link.yaml" --samples 2000 --json
expect_code 0 "reduce --json alone"
checks=$((checks + 1))
grep -q '"figures"' out && wrong "figures without --figures"

# ---- psdm bench: where and when ----

run bench "$robots/two_link.yaml" --functions inverse,mass --effort 0 --repeat 3 --json
expect_code 0 "bench --json"
cp out bench.json
check "bench --json" <<'PY'
import datetime, json
d = json.load(open("bench.json"))
assert d["processor"] and abs((datetime.date.fromisoformat(d["date"]) - datetime.datetime.now(datetime.timezone.utc).date()).days) <= 1
assert set(d["functions"]) == {"inverse", "mass"}
PY

# ---- the scripts ----

# a library with sanitizers or counters is not benchmarked
if [ -z "${SANITIZE:-}${COVERAGE:-}" ] && [ -f "$BUILD/libpsdm.a" ] && [ -f "$BUILD/psdm.pc" ]; then
  BENCH_OUT=$work/derive bash "$SOURCE/bench/derive/run.sh" --quick --json derive.json > out 2> err
  code=$?
  expect_code 0 "bench/derive/run.sh --quick --json"
else
  echo "bench/derive is not run on this build; its result comes from a stored table"
  mkdir derive
  printf 'robot p l P ms MB\ntwo_link 18 6 32 0.025 0.4\nfanuc_sr6ia 69 8 124 0.053 0.4\nkuka_kr6 6086 36 10729 0.330 0.9\nkuka_lbr7 21295 43 32610 0.765 2.3\n' > derive/warm.txt
  printf '%s\n' '1 0.01' '2 0.02' '3 0.05' '4 0.09' '5 0.16' '6 0.33' > derive/kuka_kr6.txt
  printf '%s\n' '1 0.01' '2 0.02' '3 0.05' '4 0.09' '5 0.15' '6 0.3' '7 0.77' > derive/kuka_lbr7.txt
  python3 "$SOURCE/bench/derive/result.py" derive derive.json 1 > out 2> err
  code=$?
  expect_code 0 "bench/derive/result.py"
fi
check "bench/derive" <<'PY'
import json
d = json.load(open("derive.json"))
assert d["command"] == "bench/derive" and d["processor"] and d["date"] and d["quick"] is True
known = {r["robot"]: r for r in d["robots"]}
assert (known["kuka_kr6"]["p"], known["kuka_kr6"]["l"], known["kuka_lbr7"]["p"], known["kuka_lbr7"]["l"]) == (6086, 36, 21295, 43)
kr6, lbr7, paper = d["curves"][0]["series"]
assert kr6["x"] == [1, 2, 3, 4, 5, 6] and lbr7["x"] == [1, 2, 3, 4, 5, 6, 7] and all(y > 0 for y in kr6["y"] + lbr7["y"])
assert paper["published"] and dict(zip(paper["x"], paper["y"])) == {2: 0.011, 4: 0.050, 6: 5.3, 7: 88}
PY

# results of the tables that the other programs print
cat > simulate.txt <<'END'
arm: free motion from q = 0, 0.5 s in steps of 1 ms, best of 50
                                   sim s/s    us/step      time     apart  way
rk4    libpsdm, recursions             418      2.391     4.27x   0.0e+00  psdm_sim_step, no_code
rk4    libpsdm                        1785      0.560     1.00x   1.2e-13  psdm_sim_step, generated code
rk4    the integrator's own error there: 1.7e-06
euler  libpsdm                        5760      0.174     1.00x   5.0e-14  psdm_sim_step, generated code
END
python3 "$SOURCE/bench/simulate/result.py" simulate.txt simulate.json 0 > out 2> err
code=$?
expect_code 0 "bench/simulate/result.py"
cat > linearize.txt <<'END'
     n  Algorithm 1  Algorithm 2  Algorithm 3  Algorithm 4  Algorithm 5  Algorithm 6   (microseconds)
     4         0.50         1.00         2.00         3.00         0.75         2.50
    16         2.00        16.00        90.00       120.00         3.00        40.00
 slope         1.00         2.00         2.75         2.66         1.00         2.00   (n = 16..1000)
END
python3 "$SOURCE/bench/linearize/result.py" linearize.txt linearize.json > out 2> err
code=$?
expect_code 0 "bench/linearize/result.py"
check "tables as JSON" <<'PY'
import json
s, l = json.load(open("simulate.json")), json.load(open("linearize.json"))
bars = {x["name"]: x["values"] for x in s["bars"][0]["series"]}
assert s["bars"][0]["series"][0]["name"] == "libpsdm" and bars == {"libpsdm": [0.56, 0.174], "libpsdm, recursions": [2.391, None]}
series = l["curves"][0]["series"]
assert len(series) == 6 and series[1]["x"] == [4, 16] and all(abs(y / want - 1) < 1e-12 for y, want in zip(series[3]["y"], (3e-6, 1.2e-4))) and l["slopes"][2] == 2.75
PY

# ---- the page ----

run report reduce.json bench.json derive.json simulate.json linearize.json --out page.html
expect_code 0 "psdm report"
check "the page" <<'PY'
import html.parser, json

class Page(html.parser.HTMLParser):
    """captions, headings and the cells of every table"""
    def __init__(self):
        super().__init__()
        self.text, self.captions, self.headings, self.rows, self.svgs = None, [], [], [], 0

    def handle_starttag(self, tag, attributes):
        if tag in ("figcaption", "h2", "h3", "td", "th"):
            self.text = ""
        self.rows += [[]] if tag == "tr" else []
        self.svgs += tag == "svg" and "wide" in (dict(attributes).get("class") or "")

    def handle_data(self, data):
        self.text = None if self.text is None else self.text + data

    def handle_endtag(self, tag):
        if self.text is not None and tag in ("figcaption", "h2", "h3", "td", "th"):
            (self.captions if tag == "figcaption" else self.rows[-1] if tag in ("td", "th") else self.headings).append(self.text.strip())
            self.text = None

page = Page()
page.feed(open("page.html", encoding="utf-8").read())
reduce, bench, derive = (json.load(open(f)) for f in ("reduce.json", "bench.json", "derive.json"))
for wanted in ("Smaller models", "Cost against the number of joints", "Benchmarks", "Derivation", "Linearization", "Simulation"):
    assert any(wanted in h for h in page.headings), (wanted, page.headings)
figures = ["Contributions of the functions, slow profile", "Contributions of the functions, fast profile", "Accuracy against size", "Operations against size",
           derive["curves"][0]["title"] + " (as Figure 4 of the PSDM paper)", derive["bars"][0]["title"] + " (as Table 2 of the PSDM paper)", "Linearization algorithms",
           f"Time per call on {bench['processor']}, best of 3 rounds", "Simulated steps of arm, free motion, 1 ms"]
for wanted in figures:
    assert page.captions.count(wanted) == 1, (wanted, page.captions)
import shutil
if shutil.which("gnuplot"):
    assert page.svgs >= len(figures), page.svgs
row = lambda first: next(r for r in page.rows if r and r[0] == first)
for key, words in (("full", "full closed form"), ("reduced", "reduced"), ("recursion", "exact recursion")):
    c = reduce[key]
    assert row(words)[1:5] == [str(c["mult"]), str(c["add"]), str(c["div"]), str(sum(c.values()))], row(words)
for f in reduce["figures"]:
    found = [r for r in page.rows if len(r) == 6 and r[0] == f["profile"]]
    assert [(int(r[1]), int(r[5])) for r in found] == [(s["functions"], s["operations"]) for s in f["sizes"]]
for name, f in bench["functions"].items():
    r = row(name)
    assert r[1] == f["method"] and [int(x) for x in r[2:9]] == [f[k] for k in ("mult", "add", "div", "sqrt", "sincos", "depth", "bytes")]
    assert abs(float(r[9]) / f["ns"] - 1) < 1e-3 and abs(float(r[11]) / f["library_ns"] - 1) < 1e-3
PY
finish
