# psdm report: from robots and results to a page, its words, errors and numbers.
. "$SOURCE/tests/tools/cli.sh"
command -v gnuplot > /dev/null || { echo "skipped: gnuplot is not installed (Debian's gnuplot-nox)"; exit 77; }

run report --help
expect_code 0 "help"
expect_in out "usage: psdm report RESULT... [options]"
expect_in out "examples:"
run report
expect_code 2 "no result"
expect_in err "missing RESULT..."
run report "$robots/two_link.yaml"
expect_code 2 "no --out"
expect_in err "missing --out FILE.html"

# a robot alone gives a page; its figures are those of the other commands
run report "$robots/kuka_kr6.yaml" --out kr6.html
expect_code 0 "a robot"
expect_in err "written: kr6.html (2 sections, 1 plots, "
grep -c "warning" err | grep -qx 1 || wrong "warnings are told more than once"
"$PSDM" derive "$robots/kuka_kr6.yaml" --json > derive.json 2> /dev/null
"$PSDM" params "$robots/kuka_kr6.yaml" --json > params.json 2> /dev/null
"$PSDM" inspect "$robots/kuka_kr6.yaml" --json > inspect.json 2> /dev/null
cat > look.py <<'PY'
"""The parts of a page, by the standard library's parser: look.py PAGE prints problems; as a module it gives the text and the tags."""
import base64, hashlib, html.parser, re, sys
VOID = {"meta", "br", "img", "link", "input", "hr"}
class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.stack, self.tags, self.words, self.wrong, self.inside = [], [], [], [], {}
        self.feed(text)
        self.close()
        if self.stack: self.wrong.append("open: %s" % self.stack)
    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "src") or (name == "href" and not value.startswith("#")): self.wrong.append("%s %s=%s" % (tag, name, value))
        if tag not in VOID: self.stack.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID: self.stack.pop()
    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag: self.wrong.append("</%s> closes nothing" % tag)
    def handle_data(self, data):
        if self.stack and self.stack[-1] in ("script", "style"): self.inside[self.stack[-1]] = self.inside.get(self.stack[-1], "") + data
        else: self.words.append(data)
def look(path):
    text = open(path, encoding="utf-8").read()
    page = Page(text)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    page.wrong += ["id twice: " + i for i in set(ids) if ids.count(i) > 1]
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    for kind, tag in (("script", "script"), ("style", "style")):
        digest = base64.b64encode(hashlib.sha256(page.inside[tag].encode()).digest()).decode()
        if "%s-src 'sha256-%s'" % (kind, digest) not in policy: page.wrong.append("the policy does not allow the page's own %s" % tag)
    if "default-src 'none'" not in policy: page.wrong.append("policy: " + policy)
    if re.search(r"https?://(?!www\.w3\.org/2000/svg)", text): page.wrong.append("an address of the network")
    return page
if __name__ == "__main__":
    wrong = look(sys.argv[1]).wrong
    print("\n".join(wrong))
    sys.exit(bool(wrong))
PY
python3 look.py kr6.html > out 2> err || wrong "the page is not sound"
checks=$((checks + 1))
cat > figures.py <<'PY'
import json, look
page, derive, params = look.look("kr6.html"), json.load(open("derive.json")), json.load(open("params.json"))
words = [w.strip() for w in page.words if w.strip()]
assert str(derive["p"]) in words and str(derive["l"]) in words
for p in params["base_parameters"]:
    assert p["name"] in words, p["name"]
rows = sum(1 for t, a in page.tags if t == "tr")
assert rows == 2 + len(json.load(open("inspect.json"))["joints"]) + params["l"], rows
# bars as high as the counts, on the plot's own logarithmic axis
import math, re
text = open("kr6.html").read()
svg = re.search(r'<svg class="plot wide".*?</svg>', text, re.S).group(0)
box, span = [list(map(float, re.search(r'data-%s="([^"]*)"' % k, svg).group(1).split())) for k in ("box", "range")]
tops = [min(float(y) for y in re.findall(r"[ML][-\d.]+ ([-\d.]+)", d)) for d in re.findall(r'<path class="area" d="([^"]*)"', svg)]
c = derive["classes"]
counts = [c["gravity"], *c["acceleration"], *c["centrifugal"], c["coriolis"]]
assert len(tops) == len(counts), (len(tops), len(counts))
for y, count in zip(tops, counts):
    want = box[3] - (math.log10(count) - math.log10(span[2])) / math.log10(span[3] / span[2]) * (box[3] - box[2])
    assert abs(y - want) < 0.1, (count, y, want)  # the picture has one decimal
PY
python3 figures.py > out 2> err || wrong "figures on the page"
checks=$((checks + 1))

# results in any order, a motion with many rows, a title; the plot's numbers are the rows'
"$PSDM" simulate "$robots/two_link.yaml" --time 3 --output 0.0005 --out motion.csv --json > simulate.json 2> /dev/null
run report motion.csv simulate.json derive.json --title "A <b>title</b> & more" --out sim.html
expect_code 0 "results"
expect_in sim.html "<h1>A &lt;b&gt;title&lt;/b&gt; &amp; more</h1>"
python3 look.py sim.html > out 2> err || wrong "the page of a motion"
cat > data.py <<'PY'
import array, base64, csv, re
text = open("sim.html").read()
rows = list(csv.DictReader(open("motion.csv")))
figure = next(f for f in re.findall(r'<figure class="zoom">.*?</figure>', text, re.S) if "osition" in f.split("</figcaption>")[0])
origin = float(re.search(r'data-origin="([^"]*)"', figure).group(1))
first = re.search(r'<i data-kind="line"[^>]*>', figure).group(0)
x, y = [array.array("f", base64.b64decode(re.search(r' data-%s="([^"]*)"' % k, first).group(1))) for k in "xy"]
assert len(x) == len(y) > 1000
want = {round(float(r["t"]), 7): float(r["q1"]) for r in rows}
for t, q in zip(x, y):
    nearest = min((round(origin + t, 4),), key=abs)
    assert abs(want[nearest] - q) <= 6e-8 * max(1, abs(q)), (t, q)  # single precision
assert abs(max(y) - max(map(float, want.values()))) < 1e-6 and abs(min(y) - min(map(float, want.values()))) < 1e-6
PY
python3 data.py > out 2> err || wrong "numbers behind a plot"
checks=$((checks + 2))
cp sim.html before.html
run report motion.csv simulate.json derive.json --title "A <b>title</b> & more" --out sim.html
cmp -s sim.html before.html || wrong "the same results, other bytes"

# standard input and output
input=derive.json run report - --out -
expect_code 0 "from - to -"
head -c 15 out | grep -q '<!doctype html>' || wrong "a page on standard output"

# without gnuplot: still a page, with a hint how to get gnuplot; the exit code says that plots are missing
PSDM_GNUPLOT=/nowhere/gnuplot run report derive.json --out plain.html
expect_code 1 "without gnuplot"
expect_in err "psdm: warning: plots are omitted: '/nowhere/gnuplot' cannot be run"
expect_in err "gnuplot-nox"
expect_in plain.html "could not be drawn"
printf '#!/bin/sh\nexit 1\n' > odd && chmod +x odd
run report derive.json --gnuplot ./odd --out plain.html
expect_code 1 "gnuplot fails"
expect_in err "1 of 1 plots are missing"
expect_in plain.html "1 of 1 plots are missing"
expect_in plain.html "could not be drawn"
# a figure with only one of its two sizes is omitted: this gnuplot ends after its first picture
printf '#!/bin/sh\ngnuplot "$@" | sed "/^psdm-picture /q"\n' > half && chmod +x half
run report derive.json --gnuplot ./half --out plain.html
expect_code 1 "gnuplot draws one size"
expect_in err "1 of 1 plots are missing"
expect_in plain.html "could not be drawn"

# results of a robot file stay in memory: no folder for temporary files is needed
TMPDIR=$PWD/none run report "$robots/two_link.yaml" --out memory.html
expect_code 0 "without a folder for temporary files"

# the user's own settings of gnuplot change nothing
mkdir home && printf 'exit\n' > home/.gnuplot
HOME=$PWD/home run report derive.json --out own.html
expect_in err "1 sections, 1 plots"

# a picture that never comes: an interrupt ends the drawing, and no file is left
mkdir tmp
printf '#!/bin/sh\necho > drawing\nexec sleep 30\n' > slow && chmod +x slow
TMPDIR=$PWD/tmp "$PSDM" report "$robots/two_link.yaml" --gnuplot ./slow --out slow.html > out 2> err &
child=$!
for k in $(seq 100); do [ -e drawing ] && break; sleep 0.1; done
kill -TERM $child
code=0
wait $child || code=$?
expect_code 143 "drawing was stopped"
expect_in err "drawing was stopped"
[ -z "$(ls tmp)" ] || wrong "left over: $(ls tmp)"

# runs with gaps: the x of a plot's data are numbers in ascending order, so that the script can search; y has the gaps
python3 - > gaps.csv <<'PY'
import math
print("t,segment,q1,tau1,predicted1")
for k in range(400): print("%.3f,%d,0,%.6f,0" % (0.01 * (k % 200), k // 200, math.sin(0.05 * k)))
PY
run report gaps.csv --out gaps.html
expect_code 0 "two runs"
python3 - > err 2>&1 <<'PY' || wrong "x behind a plot with gaps"
import array, base64, math, re
x, y = [array.array("f", base64.b64decode(re.search(r' data-%s="([^"]*)"' % k, open("gaps.html").read()).group(1))) for k in "xy"]
assert len(x) == len(y) == 401 and all(a <= b for a, b in zip(x, x[1:])), "x"
assert [k for k in range(401) if math.isnan(y[k])] == [200], "y"
PY
checks=$((checks + 1))

# many short runs have a spectrum by short windows, and runs that are too short a message
for rows in 100 12; do
  python3 - $rows > short.csv <<'PY'
import random, sys
rows, draw = int(sys.argv[1]), random.Random(1)
print("t,segment,q1,qd1,tau1,predicted1")
for k in range(50 * rows): print("%.2f,%d,0,0,%.5f,0" % (0.01 * (k % rows), k // rows, draw.gauss(0, 1)))
PY
  run report short.csv --out short-$rows.html
  expect_code 0 "runs of $rows rows"
done
expect_in short-100.html "spectrum of the residuals"
expect_in short-12.html "no run without a gap is long enough for a spectrum"

# more parameters than a page shows
python3 -c 'import json; print(json.dumps({"command": "params", "name": "a", "l": 1500, "base_parameters": [{"name": "p%d" % k, "formula": "m1", "value": k} for k in range(1500)]}))' > many.json
run report many.json --out many.html
expect_code 0 "many parameters"
expect_in many.html "There are 1500; the first 1000 are shown."

# names from a file are never markup
cat > evil.yaml <<'YAML'
name: "</script><img src=x onerror=alert(1)>'; system('touch pwned'); \"`touch pwned`\""
gravity: [0, 0, -9.81]
convention: dh
joints:
  - {name: "<svg onload=alert(1)>", a: 1, limits: {lower: -1, upper: 2}}
  - {name: "'; !touch pwned", a: 1, type: prismatic}
YAML
run report evil.yaml --out evil.html
expect_code 0 "evil names"
python3 look.py evil.html > out 2> err || wrong "an evil name is markup"
checks=$((checks + 1))
grep -qE '<img|<svg onload' evil.html && wrong "an evil name is markup"
ls pwned 2> /dev/null && wrong "an evil name was run"

# a file that is not a result is named, with the position; nothing is written
refuse() { # NAME TEXT CODE MESSAGE
  printf "$2" > "$1"
  run report "$1" --out none.html
  expect_code "$3" "$1"
  expect_in err "$4"
  expect_absent none.html
}
refuse words.txt 'hello\n' 3 "words.txt:1:1: not a result"
refuse object.json '{"n": 1}' 3 'object.json:1:1: not a result, it has no "command"'
refuse broken.json '{"command": "derive", [' 3 "broken.json:1:"
refuse columns.csv 'a,b\n1,2\n' 3 "columns.csv:1:1: the columns are of no known result"
refuse row.csv 't,q1\n0,1\n1,?\n' 3 "row.csv:3:3: column 'q1' has '?'; a finite decimal number was expected"
refuse binary.json '\000\001\002' 3 "was expected (a NUL byte"
refuse page.html '<!doctype html><p>words</p>' 3 "page.html:1:1: not a result: JSON that a psdm command wrote with --json"
refuse empty.json '{"command": "simulate"}' 3 "empty.json:1:1: a result without content"
refuse header.csv 't,q1\n' 3 "header.csv:1: a header without rows"
refuse bare.json '{"command": "simulate", "n": 2}' 2 "none of the results has anything to show"
refuse strange.json '{"command": "strange", "n": 2}' 2 "none of the results has anything to show"
python3 -c 'print("{\"command\": \"derive\", \"a\": " + "[" * 5000 + "]" * 5000 + "}")' > deep.json
run report deep.json --out none.html
expect_code 3 "a deep file"
expect_in err "nested deeper than 32 levels"
mkdir folder
run report folder --out none.html
expect_code 2 "a folder"
expect_in err "folder: is a directory, not a result: JSON that a psdm command wrote with --json"
run report absent.json --out none.html
expect_code 2 "no such file"
run report derive.json strange.json --out used.html
expect_code 1 "one result that nothing shows"
expect_in err "psdm: warning: strange.json: no section shows this result"
run report derive.json --out /nowhere/at/all.html
expect_code 2 "cannot be written"

# pictures at a position
run inspect "$robots/kuka_kr6.yaml" --json --at 0,-1.57,1.57,0,0.5
expect_code 2 "--at with too few"
run inspect "$robots/two_link.yaml" --json --at 0.5
expect_code 0 "--at with one for all"
python3 - "$PSDM" "$robots/two_link.yaml" > err 2>&1 <<'PY' || wrong "where joints are"
import csv, io, json, math, subprocess, sys
at = json.load(open("out"))
assert at["at"] == [0.5] * at["n"]
tool, robot = sys.argv[1:]
for k, j in enumerate(at["joints"]):
    assert abs(math.hypot(*j["at"]["axis"]) - 1) < 1e-12
    rows = subprocess.run([tool, "eval", robot, "pose", "--link", j["link"], "--in", "-"], input="q1,q2\n0.5,0.5\n", capture_output=True, text=True, check=True).stdout
    pose = next(csv.DictReader(io.StringIO(rows)))
    assert all(abs(float(pose[c]) - v) < 1e-12 for c, v in zip("xyz", j["at"]["link"]))
PY
checks=$((checks + 1))
finish
