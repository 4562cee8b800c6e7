"""The rooms of the library and the arrows between them, from includes and from the symbols of the objects.

    rooms.py SOURCE OBJECTS            checks the rules; prints what breaks them
    rooms.py SOURCE OBJECTS --svg FILE the drawing of docs/architecture.md

Rules: src/rooms.txt lists every room, lowest first. A file includes public headers, ROOM/ROOM.h of rooms above it in that list, and headers of its own room.
Every other header is named *_priv.h, or is included by ROOM.h, which includes no *_priv.h. No object needs a symbol of a room further down in the list.
Private names carry their room: psdmp_ROOM_... No room has more than 9000 lines. Texts name fields, as in `ignore_extra`, and no --option of the command.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import textwrap

MOST_LINES = 9000
STAND_INS = ("linalg/own/cblas.h", "linalg/own/lapacke.h")  # for the headers of BLAS and LAPACK, if they are missing

OTHER_PROGRAMS = ("emit", "parallel")  # their texts have command lines of compilers and of srun
COMMAND_LINES = ("report/section_simulate.c", "report/section_reduce.c", "study/reduce.c", "job/calibrate_files.c")  # and these whole ones of psdm


class Rooms:
    def __init__(self, source, objects):
        self.src = pathlib.Path(source) / "src"
        self.objects = pathlib.Path(objects)
        self.help = {}
        for line in (self.src / "rooms.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                name, text = line.split(maxsplit=1)
                self.help[name] = text
        self.order = {name: place for place, name in enumerate(self.help)}
        self.files = sorted(p for p in self.src.rglob("*.[ch]"))
        self.text = {p: p.read_text() for p in self.files}
        self.wrong = []
        self.arrows = {}  # (from, to): number of files

    def room(self, path):
        return path.relative_to(self.src).parts[0]

    def lines(self):
        count = dict.fromkeys(self.order, 0)
        for p in self.files:
            count[self.room(p)] = count.get(self.room(p), 0) + self.text[p].count("\n")
        return count

    # ---- checks ----

    def check_list(self):
        for name in {self.room(p) for p in self.files} ^ set(self.order):
            self.wrong.append(f"src/rooms.txt and the folders of src disagree about '{name}'")

    def includes(self, path):
        return re.findall(r'^#include "([^"]+)"', self.text[path], re.M)

    def parts(self, room):
        """ROOM.h and the headers of its own room that it includes, directly or not."""
        seen, waiting = set(), [f"{room}/{room}.h"]
        while waiting:
            name = waiting.pop()
            path = self.src / name
            if name in seen or not path.exists():
                continue
            seen.add(name)
            waiting += [i for i in self.includes(path) if i.startswith(room + "/")]
        return seen

    def check_includes(self):
        for path in self.files:
            here = path.relative_to(self.src)
            room = self.room(path)
            for name in self.includes(path):
                there = name.split("/")[0]
                if there == "psdm" or "/" not in name:
                    continue
                if there == room:
                    if not (self.src / name).exists():
                        self.wrong.append(f"{here}: includes {name}, which does not exist")
                elif name != f"{there}/{there}.h":
                    self.wrong.append(f"{here}: includes {name}; of another room only {there}/{there}.h")
                elif self.order[there] > self.order[room]:
                    self.wrong.append(f"{here}: includes {name} of a higher room")
                else:
                    self.arrows.setdefault((room, there), set()).add(str(here))
        for path in self.files:
            room, name = self.room(path), str(path.relative_to(self.src))
            if name in STAND_INS:
                continue
            if path.suffix == ".h" and not name.endswith("_priv.h") and name not in self.parts(room):
                self.wrong.append(f"{name}: a header that {room}/{room}.h does not include is named *_priv.h")
            if path.suffix == ".h" and name.endswith("_priv.h") and name in self.parts(room):
                self.wrong.append(f"{name}: private, but {room}/{room}.h includes it")

    def symbols(self):
        """The symbols that each object of the library defines and needs, by nm."""
        defined, needed = {}, {}
        # of existing files: objects of moved or deleted ones remain in the folder
        objects = [o for o in sorted(self.objects.rglob("*.o")) if (self.src / str(o.relative_to(self.objects))[:-2]).exists()]
        out = subprocess.run(["nm", "-g", "-A", *map(str, objects)], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            obj, (kind, name) = pathlib.Path(line[: line.index(".o:") + 2]), line.split()[-2:]
            if kind == "U":
                needed.setdefault(name, []).append(obj)
            elif kind not in "wv":
                defined[name] = obj
        return defined, needed

    def check_symbols(self):
        defined, needed = self.symbols()
        if len(defined) < 500:
            self.wrong.append(f"{self.objects}: {len(defined)} symbols found, which is not the library")
        for name, users in needed.items():
            if name not in defined:
                continue
            there = defined[name].relative_to(self.objects).parts[0]
            for user in users:
                here = user.relative_to(self.objects)
                room = here.parts[0]
                if room == there:
                    continue
                if self.order[there] > self.order[room]:
                    self.wrong.append(f"{str(here)[:-2]}: needs {name} of the higher room {there}")
                self.arrows.setdefault((room, there), set()).add(str(here)[:-2])
        for name, obj in defined.items():
            room = obj.relative_to(self.objects).parts[0]
            if name.startswith("psdmp_") and not name.startswith(f"psdmp_{room}_"):
                self.wrong.append(f"{str(obj.relative_to(self.objects))[:-2]}: {name} does not carry its room, psdmp_{room}_...")

    def check_types(self):
        """Types of headers carry their room, and no two headers or sources name different types alike."""
        where = {}
        for path in self.files:
            room = self.room(path)
            for name in re.findall(r"^typedef (?:struct|enum|union) (psdmp_\w+)", self.text[path], re.M):
                if not name.startswith(f"psdmp_{room}_") and name != f"psdmp_{room}":
                    self.wrong.append(f"{path.relative_to(self.src)}: type {name} does not carry its room, psdmp_{room}_...")
                where.setdefault(name, set()).add(str(path.relative_to(self.src)))
            where.update()

    def check_size(self):
        for room, count in self.lines().items():
            if count > MOST_LINES:
                self.wrong.append(f"src/{room}: {count} lines, more than {MOST_LINES}")

    def fields(self):
        """Names of the settings of all commands, from the tables of the library and of the tool."""
        files = [p for folder in ("src", "include", "tools") for p in (self.src.parent / folder).rglob("*.[ch]")]
        row = r'\bX\((?:text|flag|number|vector|list), (\w+),|\{"(\w+)", PSDM_SETTING_'
        return {name for p in files for names in re.findall(row, p.read_text()) for name in names if name}

    def check_texts(self):
        fields = self.fields()
        if len(fields) < 100:
            self.wrong.append(f"{len(fields)} settings found, which is not all of them")
        for path in self.files:
            here = str(path.relative_to(self.src))
            if self.room(path) in OTHER_PROGRAMS:
                continue
            # pieces of one text are one
            code = re.sub(r'"\s*\n\s*"', "", re.sub(r"/\*.*?\*/", "", self.text[path], flags=re.S))
            for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', code):
                if here not in COMMAND_LINES and re.search(r"(?<![\w-])--[a-z]", text):
                    self.wrong.append(f"{here}: names an option: '{text}'; name the field, in backquotes")
                for name in re.findall(r"`([A-Za-z_]\w*)(?: = [^`]*)?`", text):
                    if name not in fields:
                        self.wrong.append(f"{here}: `{name}` is no setting of any command")

    def check(self):
        self.check_list()
        if not self.wrong:
            self.check_includes()
            self.check_symbols()
            self.check_types()
            self.check_size()
            self.check_texts()
        return self.wrong

    # ---- the drawing ----

    def direct(self):
        """Arrows that no chain of others implies: all of them would make the drawing black."""
        uses = {room: {b for a, b in self.arrows if a == room} for room in self.order}
        reach = {}
        for room in self.order:  # lowest first
            reach[room] = set().union(*({b} | reach[b] for b in uses[room])) if uses[room] else set()
        return {(a, b) for a in uses for b in uses[a] if not any(b in reach[c] for c in uses[a] if c != b)}

    def layers(self, direct):
        """Rows from the top, with a bend (from, to, row) wherever an arrow passes a row, and the lines from row to row."""
        level = {}
        for room in self.order:
            level[room] = 1 + max((level[b] for a, b in direct if a == room), default=-1)
        rows = [[r for r in self.order if level[r] == k] for k in range(max(level.values()), -1, -1)]
        top = len(rows) - 1
        lines = []
        for a, b in sorted(direct, key=lambda x: (self.order[x[0]], self.order[x[1]])):
            chain = [a] + [(a, b, k) for k in range(top - level[a] + 1, top - level[b])] + [b]
            for bend in chain[1:-1]:
                rows[bend[2]].append(bend)
            lines.append(chain)
        return rows, lines

    def spread(self, rows, lines, wide):
        """Orders each row by its neighbours, so that few lines cross, then moves it towards them, so that lines are straight."""
        near = {}
        for chain in lines:
            for a, b in zip(chain, chain[1:]):
                near.setdefault(a, []).append(b)
                near.setdefault(b, []).append(a)
        at = {x: (i + 0.5) / len(row) for row in rows for i, x in enumerate(row)}
        for turn in range(24):
            for row in rows if turn % 2 else rows[::-1]:
                row.sort(key=lambda x: sum(at[y] for y in near[x]) / len(near[x]))
                at.update((x, (i + 0.5) / len(row)) for i, x in enumerate(row))
        space = {x: wide / 2 + 9 if isinstance(x, str) else 9 for x in near}
        at = {x: (i - len(row) / 2) * wide for row in rows for i, x in enumerate(row)}
        wish = {}
        for turn in range(200):
            for row in rows if turn % 2 else rows[::-1]:
                for x in row:  # straight lines matter more than centred rooms
                    pull = {y: 1 if isinstance(x, str) or isinstance(y, str) else 8 for y in near[x]}
                    wish[x] = sum(at[y] * w for y, w in pull.items()) / sum(pull.values())
                self.settle(row, at, wish, space)
        left = min(at[x] - space[x] for x in near)
        return {x: at[x] - left for x in near}, max(at[x] + space[x] for x in near) - left

    @staticmethod
    def settle(row, at, wish, space):
        """Positions of a row as close to the wanted ones as its order and the widths allow (pooled neighbours)."""
        shift, blocks = 0, []
        for i, x in enumerate(row):
            shift += space[row[i - 1]] + space[x] if i else 0
            blocks.append([wish[x] - shift, 1])
            while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
                (v, n), (w, m) = blocks[-2:]
                blocks[-2:] = [[(v * n + w * m) / (n + m), n + m]]
        values = [v for v, n in blocks for _ in range(n)]
        shift = 0
        for i, x in enumerate(row):
            shift += space[row[i - 1]] + space[x] if i else 0
            at[x] = values[i] + shift

    def svg(self):
        direct = self.direct()
        wide, high, step = 166, 58, 94
        rows, lines = self.layers(direct)
        at, width = self.spread(rows, lines, wide)
        depth = {x: k for k, row in enumerate(rows) for x in row}
        width, height = round(width) + 20, len(rows) * step
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" text-anchor="middle" fill="#1d2733">',
               '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#6b7785"/></marker></defs>',
               f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
        for chain in lines:
            x, y = 10 + at[chain[0]], 15 + depth[chain[0]] * step + high
            path = f"M{x:.0f} {y}"
            for point in chain[1:]:
                to, down = 10 + at[point], 15 + depth[point] * step
                path += f"C{x:.0f} {y + 20} {to:.0f} {down - 20} {to:.0f} {down}"
                x, y = to, down
                if not isinstance(point, str):
                    y = down + high
                    path += f"V{y}"
            out.append(f'<path d="{path}" fill="none" stroke="#6b7785" stroke-width="1.2" marker-end="url(#tip)"><title>{chain[0]} uses {chain[-1]}</title></path>')
        for room in self.order:
            x, y = 10 + at[room], 15 + depth[room] * step
            words = textwrap.wrap(self.help[room], 30)
            out.append(f'<rect x="{x - wide / 2:.0f}" y="{y}" width="{wide}" height="{high}" rx="6" fill="#eef3fb" stroke="#2f5fa7"/>'
                       f'<text x="{x:.0f}" y="{y + 17}" font-size="13" font-weight="600">{room}</text><text font-size="10">'
                       + "".join(f'<tspan x="{x:.0f}" y="{y + 31 + 11 * k}">{text}</tspan>' for k, text in enumerate(words)) + "</text>")
        out.append("</svg>\n")
        return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("objects")
    parser.add_argument("--svg")
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    rooms = Rooms(args.source, args.objects)
    wrong = rooms.check()
    for line in wrong:
        print(line)
    if args.svg:
        pathlib.Path(args.svg).write_text(rooms.svg())
    if not args.quiet:
        count = rooms.lines()
        print(f"{len(rooms.order)} rooms, {len(rooms.arrows)} arrows, {len(rooms.direct()) if not wrong else '?'} of them direct, {sum(count.values())} lines, "
              f"largest {max(count, key=count.get)} with {max(count.values())}; {len(wrong)} breaks of the rules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
