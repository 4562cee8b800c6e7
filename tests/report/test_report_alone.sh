# psdm report of a robot's file, looked at by strace: no child but gnuplot, no file written but the page.
. "$SOURCE/tests/tools/cli.sh"
command -v strace > /dev/null || { echo "skipped: strace is not installed (Debian's strace)"; exit 77; }
strace -o trial true 2> err || { echo "skipped: strace may not trace here"; exit 77; }
command -v gnuplot > /dev/null || { echo "skipped: gnuplot is not installed (Debian's gnuplot-nox)"; exit 77; }

cat > calls.py <<'PY'
"""Programs that were started, and files that our own processes opened for writing: calls.py LOG."""
import re, sys
programs, written, others, parts = [], [], set(), {}
for line in open(sys.argv[1]):
    pid, call = line.split(maxsplit=1)
    if "unfinished" in call: parts[pid] = call.split("<unfinished")[0]
    resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", call)
    if resumed: call = parts.pop(pid, "") + resumed.group(1)
    if not re.search(r"\) += \d", call): continue
    path = re.search(r'"([^"]*)"', call)
    if call.startswith("execve("):
        programs.append(path.group(1).rsplit("/", 1)[-1])
        if len(programs) > 1: others.add(pid)
    elif pid not in others and path and (call.startswith(("creat(", "mkdir")) or re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE", call)): written.append(path.group(1))
print(*programs)
print(*(re.sub(r"part-[0-9-]*$", "part", path) for path in written if path != "/dev/null"))
PY

# leaks cannot be looked for under strace
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
strace -f -e trace=execve,open,openat,creat,mkdir,mkdirat -o log "$PSDM" report "$robots/kuka_kr6.yaml" --out page.html > out 2> err
code=$?
expect_code 0 "a robot's file"
python3 calls.py log > out 2> err
expect_out "psdm gnuplot
page.html.part"

# what looks is not blind: a child that is not expected, a file in a folder for such
strace -f -e trace=execve,open,openat,creat,mkdir,mkdirat -o log sh -c 'cat "$0" > "$1"; mkdir -p more/folders' err copy 2> err
python3 calls.py log > out 2> err
expect_in out "sh cat mkdir"
expect_in out "copy"
finish
