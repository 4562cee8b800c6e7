# README.md has at most 700 words. Every file, function and make target that docs/architecture.md and CONTRIBUTING.md name exists; in tables, a function
# is in the first file of its row.
set -u
: "${SOURCE:?the source tree}"
python3 - "$SOURCE" <<'PY'
import glob, os, re, sys

source = sys.argv[1]
wrong = 0
def fail(text):
    global wrong
    wrong += 1
    print("WRONG:", text)

words = len(open(os.path.join(source, "README.md"), encoding="utf-8").read().split())
if words > 700: fail(f"README.md has {words} words, at most 700 were expected")

code = ""
for top in ("src", "tools", "include", "tests/rooms", "python"):
    for folder, _, files in os.walk(os.path.join(source, top)):
        for name in files:
            if name.endswith((".c", ".h", ".cu", ".py")): code += open(os.path.join(folder, name), encoding="utf-8").read()
defined = set(re.findall(r"\b[A-Za-z_]\w*\b", code))
targets = set(re.findall(r"^([a-z-]+):", open(os.path.join(source, "Makefile"), encoding="utf-8").read(), re.M))
tops = [name for name in os.listdir(source) if name not in (".git", "build")]

paths = functions = makes = 0
for page in ("docs/architecture.md", "CONTRIBUTING.md"):
    text = open(os.path.join(source, page), encoding="utf-8").read()
    for span in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(r"make [a-z-]+", span):
            makes += 1
            target = span.split()[1]
            if target not in targets: fail(f"{page}: `{span}`: the Makefile has no target {target}")
        elif re.fullmatch(r"[\w.*/-]+", span) and span.split("/")[0] in tops and ("/" in span or "." in span):
            paths += 1
            path = os.path.join(source, span.rstrip("/"))
            if not glob.glob(path): fail(f"{page}: `{span}` does not exist")
        elif re.fullmatch(r"[A-Za-z_]\w*(\(\))?", span) and (span.startswith(("psdm_", "psdmp_", "PSDM_")) or span.endswith("()")):
            functions += 1
            if span.rstrip("()") not in defined: fail(f"{page}: `{span}` is not defined in the code")
    for row in re.findall(r"^\| `([^`]+)` \| `(\w+)\(\)` \|", text, re.M):
        path = os.path.join(source, row[0])
        if os.path.isfile(path) and not re.search(rf"^[a-z].*\b{row[1]}\(", open(path, encoding="utf-8").read(), re.M):
            fail(f"{page}: {row[1]}() is not defined in {row[0]}")
if min(paths, functions, makes) < 5: fail("too few names were found in the pages")
print(f"{words} words in README.md, {paths} paths, {functions} functions, {makes} make targets, {wrong} wrong")
sys.exit(wrong > 0)
PY
