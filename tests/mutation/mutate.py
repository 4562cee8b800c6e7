#!/usr/bin/env python3
"""Mutation testing: does a test notice when a line of the library is wrong?

    mutate.py [--room ROOM,...|all] [--file PART] [--count N] [--seed S] [--jobs J] [--build DIR] [--at-least PERCENT]

Changes one token or one statement of a source file at a time, compiles that file alone as the build does, links it in front of the
library into its unit tests (tests.txt, whose rooms are "all") and runs them until one fails. A mutant that gives the same object code as the
original is the same program and does not count; neither does one that does not compile, nor one on the reviewed list equivalent.txt. Sizes of arrays are left alone.
Survivors are printed with their lines and written to BUILD/mutation/survivors.txt. Exit 1 when fewer than PERCENT were found.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# ---- tokens ----

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^[ \t]*\#(?:\\\n|[^\n])*|\s+)
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[uUlLfF]*|0[xX][0-9a-fA-F]+[uUlL]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op>->|\+\+|--|<<=|>>=|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|<<|>>|.)
""", re.X | re.S | re.M)

SWAPS = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="],
         "!=": ["=="], "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="]}
NUMBERS = {"0": ["1"], "1": ["0", "2"], "2": ["1", "3"]}
NOT_STATEMENTS = re.compile(r"(return|break|continue|goto|for|while|if|else|do|switch|case|default|static|const|typedef|struct|enum|union|extern)\b")
DECLARATION = re.compile(r"(?:unsigned |signed |long |short )*[A-Za-z_]\w*\s+\**[A-Za-z_]\w*\s*(\[|=|;|,|\()")


def tokens(text):
    """(kind, text, start) of everything but space, comments, strings and preprocessor lines."""
    return [(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def bodies(found):
    """Index ranges of function bodies: braces at depth 0 after a closing parenthesis."""
    depth, begin, ranges = 0, None, []
    for k, (_, word, _) in enumerate(found):
        if word == "{":
            if depth == 0 and k and found[k - 1][1] == ")":
                begin = k + 1
            depth += 1
        elif word == "}":
            depth -= 1
            if depth == 0 and begin is not None:
                ranges.append((begin, k))
                begin = None
    return ranges


def closing(found, k):
    """Index of the parenthesis that closes the one at k."""
    depth = 0
    for j in range(k, len(found)):
        depth += {"(": 1, ")": -1}.get(found[j][1], 0)
        if depth == 0:
            return j
    return k


def binary(text, found, k):
    """Spaces on both sides: the style's sign of a binary operator."""
    _, word, at = found[k]
    return text[at - 1] in " \n" and text[at + len(word)] in " \n"


def unary_minus(text, found, k):
    return found[k][1] == "-" and text[found[k][2] + 1] not in " =" and (found[k - 1][1] in "(,=[?:*/+-<>&|{" or found[k - 1][1] in ("return", "==", "&&", "||", "<=", ">=", "!="))


def statement_end(found, k, last):
    """Index of the semicolon that ends a plain assignment or call beginning at k; None if it is not one."""
    depth = 0
    for j in range(k, last):
        word = found[j][1]
        if word in "([":
            depth += 1
        elif word in ")]":
            depth -= 1
        elif word in "{}":
            return None
        elif word == ";" and depth == 0:
            return j
    return None


def array_size(text, found, k):
    """The closing bracket at k ends the size of an array that is declared: one more element is the same program."""
    start = max(text.rfind(mark, 0, found[k][2]) for mark in ";{}") + 1
    source = re.sub(r"/\*.*?\*/", "", text[start:found[k][2] + 1], flags=re.S).strip()
    return bool(re.match(r"(?:static |const |unsigned |long )*[A-Za-z_]\w* (?:\**\w+(?:\[[^][=]*\])*(?: = [^,;=(]*)?, )*\**\w+(?:\[[^][=]*\])+$", source)) and not source.startswith("return")


def points(text):
    """Every mutation of a file: (start, end, replacement, what)."""
    found, out = tokens(text), []
    for begin, end in bodies(found):
        depth = 0
        for k in range(begin, end):
            kind, word, at = found[k]
            stop = at + len(word)
            depth += {"(": 1, ")": -1}.get(word, 0)
            if kind == "op" and word in SWAPS and (binary(text, found, k)):
                out += [(at, stop, new, f"{word} -> {new}") for new in SWAPS[word]]
            elif kind == "op" and unary_minus(text, found, k):
                out.append((at, stop, "", "sign dropped"))
            elif kind == "number" and word in NUMBERS:
                out += [(at, stop, new, f"{word} -> {new}") for new in NUMBERS[word]]
            elif kind == "number" and re.search(r"[.eE]", word):
                out.append((at, stop, f"(-{word})", f"{word} -> -{word}"))
            elif word == "]" and k and found[k - 1][0] == "word" and (k < 2 or found[k - 2][1] not in ("sizeof",)):
                if not array_size(text, found, k):
                    out.append((at, stop, " + 1]", "index + 1"))
            elif word == "if" and found[k + 1][1] == "(":
                close = closing(found, k + 1)
                out.append((found[k + 1][2], found[close][2] + 1, "(!" + text[found[k + 1][2]:found[close][2] + 1] + ")", "condition negated"))
            if depth == 0 and (kind == "word" or word == "*"):  # not the condition of a for
                before = found[k - 1][1]
                if before in (";", "{", "}") or (before == ")" and "\n" in text[found[k - 1][2]:at]):
                    semicolon = statement_end(found, k, end)
                    source = text[at:found[semicolon][2] + 1] if semicolon else ""
                    if source and not NOT_STATEMENTS.match(source) and not DECLARATION.match(source):
                        out.append((at, found[semicolon][2] + 1, ";", "statement deleted"))
    return out


# ---- one mutant ----

class Builder:
    """Compiles and links as the build directory does."""

    def __init__(self, build, work):
        self.build, self.work = build, work
        commands = json.load(open(os.path.join(build, "compile_commands.json")))
        self.command = {}
        for entry in commands:
            if "psdm_objects.dir" in entry["command"]:
                self.command[os.path.relpath(entry["file"], ROOT)] = entry
        self.fast = next((["-fuse-ld=" + name] for name in ("mold", "lld") if shutil.which("ld." + name)), [])  # a fifth of the time

    def compile(self, path, text, folder, target, more=()):
        """The object of a changed file, or None; it keeps the file's name, so that equal code is equal bytes."""
        entry = self.command[path]
        source = os.path.join(folder, os.path.basename(path))
        with open(source, "w") as file:
            file.write(text)
        words = [w for w in shlex.split(entry["command"]) if w not in ("-g", "-Werror")]
        if os.path.basename(words[0]) == "ccache":
            words = words[1:]
        words[words.index("-o") + 1] = target
        words[words.index("-c") + 1] = os.path.basename(path)
        words += ["-w", "-I", os.path.join(ROOT, os.path.dirname(path)), *more]
        words = [os.path.join(entry["directory"], w) if os.path.exists(os.path.join(entry["directory"], w)) and not os.path.isabs(w) and w.startswith("-") is False and "/" in w else w for w in words]
        done = subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return target if done.returncode == 0 else None

    def link(self, test, objects, program, more=()):
        """The test's own link line (the tool's, for a script) with the mutant in front of the library."""
        where = self.build if test.endswith(".sh") else os.path.join(self.build, "tests")
        line = open(os.path.join(where, "CMakeFiles", ("psdm_tool" if test.endswith(".sh") else test) + ".dir", "link.txt")).read()
        words = shlex.split(line)
        if os.path.basename(words[0]) == "ccache":
            words = words[1:]
        words[words.index("-o") + 1] = program
        first = next(k for k, w in enumerate(words) if w.endswith(".a"))
        words[first:first] = objects
        subprocess.run(words + self.fast + list(more), cwd=where, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, test, objects, folder, limit=600, more=()):
        """(None when the test passes, else how it failed; seconds of CPU). It stops at its first failed assertion."""
        program = os.path.join(folder, "psdm" if test.endswith(".sh") else test)
        self.link(test, objects, program, more)
        # one kernel of OpenBLAS, so that no mutant is killed by a machine's rounding
        environment = dict(os.environ, OPENBLAS_CORETYPE="Haswell", SOURCE=ROOT, BUILD=self.build, PSDM=program if test.endswith(".sh") else os.path.join(self.build, "psdm"),
                           OPENBLAS_NUM_THREADS="1", PSDM_CACHE=os.path.join(self.work, "cache"), CMOCKA_MESSAGE_OUTPUT="STDOUT", CMOCKA_TEST_ABORT="1", CC="cc")
        words = ["bash", glob.glob(os.path.join(ROOT, "tests/*", test))[0]] if test.endswith(".sh") else [program]

        def limits():  # seconds of CPU, so that a busy machine kills no mutant
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        child = subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limits)
        timer = threading.Timer(60 + 10 * limit, os.killpg, (child.pid, signal.SIGKILL))  # the child is the leader of its own group
        timer.start()
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = status
        os.unlink(program)
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        return (None if status == 0 else test + (" (timeout)" if late else "")), used.ru_utime + used.ru_stime


class Tests:
    """The time of each test and, unless it is long, the lines that it reaches: measured once on the unchanged library and kept in BUILD/mutation/tests.json."""

    def __init__(self, builder, files):
        self.builder, self.lock, self.objects, self.coverage = builder, threading.Lock(), {}, os.path.join(builder.work, "coverage")
        self.store, self.tried, self.code = os.path.join(builder.work, "tests.json"), {}, {}
        self.known = json.load(open(self.store)) if os.path.exists(self.store) else {}
        os.makedirs(self.coverage, exist_ok=True)
        self.sources = hashlib.sha256()
        for path in sorted(files):
            self.sources.update(open(os.path.join(ROOT, path), "rb").read())
        self.files = sorted(files)

    def key(self, test):
        """Changes with the sources and the test."""
        of = self.sources.copy()
        own = glob.glob(os.path.join(ROOT, "tests/*", test)) if test.endswith(".sh") else glob.glob(os.path.join(self.builder.build, "tests/CMakeFiles", test + ".dir/**/*.o"), recursive=True)
        for path in own + [os.path.join(self.builder.build, "tests/libtest_support.a")]:
            of.update(open(path, "rb").read())
        return of.hexdigest()

    def of(self, test):
        """{"seconds": 0 when it fails unchanged, "lines": {file: lines that it runs}}"""
        with self.lock:
            if self.known.get(test, {}).get("key") != self.key(test):
                folder = os.path.join(self.builder.work, "unchanged")
                failed, seconds = self.builder.run(test, [], folder)
                if failed:
                    print(f"{test} fails on the unchanged library: omitted", flush=True)
                self.known[test] = {"key": self.key(test), "seconds": 0 if failed else max(seconds, 0.01), **(self.reached(test, folder) if not failed and seconds < 0.5 else {})}
                with open(self.store, "w") as file:
                    json.dump(self.known, file)
            return self.known[test]

    def instrument(self):
        """Counting objects, and the lines of each file that have code."""
        if not self.objects:
            for path in self.files:
                target = os.path.join(self.coverage, path.replace("/", "-")[:-2] + ".o")
                self.objects[path] = self.builder.compile(path, open(os.path.join(ROOT, path)).read(), self.coverage, target, ("-O1", "--coverage"))
        for name in glob.glob(os.path.join(self.coverage, "*.gcda")):
            os.unlink(name)

    def counted(self, path, suffix):
        """[(line, count)] of a file's notes or counts."""
        data = self.objects[path][:-2] + suffix
        if not os.path.exists(data):
            return []
        text = subprocess.run(["gcov", "--json-format", "--stdout", data], cwd=self.coverage, check=True, capture_output=True, text=True).stdout
        return [(line["line_number"], line["count"]) for file in json.loads(text)["files"] if os.path.basename(file["file"]) == os.path.basename(path) for line in file["lines"]]

    def reached(self, test, folder):
        """The lines that a test runs; empty if unknown."""
        self.instrument()
        failed, _ = self.builder.run(test, list(self.objects.values()), folder, 1800, ("--coverage",))
        if failed:
            print(f"{test} fails with coverage: run for every mutant", flush=True)
            return {}
        return {"lines": {path: sorted({line for line, count in self.counted(path, ".gcda") if count}) for path in self.files}}

    def code_lines(self, path):
        with self.lock:
            if path not in self.code:
                self.instrument()
                self.code[path] = sorted({line for line, _ in self.counted(path, ".gcno")})
            return self.code[path]

    def reaches(self, test, path, first, last):
        """Whether a test runs one of these lines; those without code of their own belong to the line with code before them."""
        known, code = self.of(test), self.code_lines(path)
        if "lines" not in known:
            return known["seconds"] > 0
        own = [line for line in code if first <= line <= last] or [max((line for line in code if line < first), default=0)]
        return any(line in known["lines"].get(path, []) for line in own)

    def order(self, tests, path):
        """The test that finds most per second comes first."""
        def price(test):
            killed, tried = self.tried.get((path, test), (0, 0))
            return self.of(test)["seconds"] * (tried + 2) / (killed + 1)
        return sorted(tests, key=price)

    def count(self, test, path, killed):
        before = self.tried.get((path, test), (0, 0))
        self.tried[path, test] = (before[0] + bool(killed), before[1] + 1)


def test_table():
    """[(prefix of source files, [tests])] of tests.txt, the first prefix that matches counts."""
    table = []
    for line in open(os.path.join(HERE, "tests.txt")):
        line = line.split("#")[0].split()
        if line:
            table.append((line[0], line[1:]))
    return table


def tests_of(path, table):
    return next((tests for prefix, tests in table if path.startswith(prefix)), [])


def equivalents():
    """{(file, line, mutated line): reason} of the reviewed list."""
    out, path = {}, os.path.join(HERE, "equivalent.txt")
    if not os.path.exists(path):
        return out
    block = []
    for line in open(path).read().split("\n") + [""]:
        if line.startswith("#"):
            continue
        if line.strip():
            block.append(line.strip())
        elif block:
            file, before, after, reason = block
            out[file, before, after] = reason
            block = []
    return out


def squeezed(text):
    return " ".join(text.split())


def lines_of(text, start, end, new):
    """The line that a mutation changes, before and after; a condition over several lines is joined."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    return squeezed(text[first:last]), squeezed(text[first:start] + new + text[end:last])


def judge(builder, tests, path, text, point, original, names, listed):
    start, end, new, what = point
    before, after = lines_of(text, start, end, new)
    result = {"file": path, "line": text.count("\n", 0, start) + 1, "what": what, "before": before, "after": after}
    if (path, before, after) in listed:
        return dict(result, outcome="listed")
    folder = os.path.join(builder.work, f"{os.getpid()}-{threading.get_ident()}")
    os.makedirs(folder, exist_ok=True)
    mutant = builder.compile(path, text[:start] + new + text[end:], folder, os.path.join(folder, "mutant.o"))
    if not mutant:
        return dict(result, outcome="invalid")
    if open(mutant, "rb").read() == original:
        return dict(result, outcome="same code")
    last = result["line"] + text.count("\n", start, end)
    reaching = [test for test in names if tests.reaches(test, path, result["line"], last)]
    for test in tests.order(reaching, path):
        killer, _ = builder.run(test, [mutant], folder, 3 + 5 * tests.of(test)["seconds"])
        tests.count(test, path, killer)
        if killer:
            return dict(result, outcome="killed", by=killer)
    return dict(result, outcome="survived", what=what if reaching else what + ", not reached by any test")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", default="all", help="folders of src, or all that tests.txt names")
    parser.add_argument("--file", default="", help="only files whose path contains this")
    parser.add_argument("--count", type=int, default=40, help="mutants per room (default 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--at-least", type=float, default=85, help="percent that must be found (default 85)")
    parser.add_argument("--again", default="", help="only the mutants of this list of survivors")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no mutant after so long")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)

    work = os.path.join(args.build, "mutation")
    os.makedirs(work, exist_ok=True)
    builder, table, listed = Builder(args.build, work), test_table(), equivalents()
    print(f"mutate: seed {args.seed}, {args.count} mutants per room", flush=True)

    # the sample, drawn over all mutations of a room
    rooms = list(dict.fromkeys(prefix.split("/")[1] for prefix, _ in table)) if args.room == "all" else args.room.split(",")
    texts, sample = {}, []
    for room in rooms:
        drawn = []
        for path in sorted(builder.command):
            if path.startswith(f"src/{room}/") and args.file in path and tests_of(path, table):
                texts[path] = open(os.path.join(ROOT, path)).read()
                drawn += [(path, point) for point in points(texts[path])]
        total = len(drawn)
        if args.again:
            wanted = {tuple(line.split(" | ")[i] for i in (0, 2, 3)) for line in open(args.again).read().splitlines()}
            drawn = [(p, x) for p, x in drawn if (p, *lines_of(texts[p], *x[:3])) in wanted]
        else:
            drawn = random.Random(args.seed).sample(drawn, min(args.count, total))
        print(f"{room}: {len(drawn)} of {total} mutants", flush=True)
        sample += drawn

    originals = {}
    folder = os.path.join(work, "unchanged")
    os.makedirs(folder, exist_ok=True)
    for path in sorted({p for p, _ in sample}):
        target = builder.compile(path, texts[path], folder, os.path.join(folder, "mutant.o"))
        if not target:
            sys.exit(f"mutate: {path} does not compile unchanged")
        originals[path] = open(target, "rb").read()
    tests, results, began = Tests(builder, texts), [], time.time()
    sample.sort(key=lambda item: random.Random(f"{args.seed} {item[0]} {item[1][0]}").random())  # rooms and files mixed, so that a stop in between is a fair sample

    def task(item):
        path, point = item
        if time.time() - began > 60 * args.minutes:
            return None
        return judge(builder, tests, path, texts[path], point, originals[path], tests_of(path, table), listed)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for result in pool.map(task, sample):
            if not result:
                continue
            results.append(result)
            if result["outcome"] == "survived":
                print("{file}:{line}: {what}\n    {before}\n    {after}".format(**result), flush=True)
            if len(results) % 20 == 0:
                print(f"    ({len(results)} of {len(sample)}, {time.time() - began:.0f} s)", flush=True)
    report(results, work)
    shutil.rmtree(folder, ignore_errors=True)
    found, all_of_them = sum(r["outcome"] == "killed" for r in results), sum(r["outcome"] in ("killed", "survived") for r in results)
    sys.exit(0 if all_of_them == 0 or 100 * found >= args.at_least * all_of_them else 1)


def report(results, work):
    def row(name, chosen):
        n = {k: sum(r["outcome"] == k for r in chosen) for k in ("killed", "survived", "same code", "invalid", "listed")}
        late = sum("timeout" in r.get("by", "") for r in chosen)
        share = 100 * n["killed"] / max(1, n["killed"] + n["survived"])
        print(f"{name:38s} {n['killed'] + n['survived']:5d} mutants {n['killed']:5d} found ({late} by timeout) {n['survived']:4d} survived {share:6.1f} %   "
              f"(left out: {n['same code']} same code, {n['invalid']} do not compile, {n['listed']} equivalent)")

    print()
    for path in sorted({r["file"] for r in results}):
        row(path, [r for r in results if r["file"] == path])
    print()
    for room in sorted({r["file"].split("/")[1] for r in results}):
        row(room, [r for r in results if r["file"].split("/")[1] == room])
    row("all", results)
    with open(os.path.join(work, "survivors.txt"), "w") as file:
        for r in results:
            if r["outcome"] == "survived":
                file.write("{file} | {what} | {before} | {after} | line {line}\n".format(**r))


if __name__ == "__main__":
    main()
