"""The rooms of the library and the arrows between them, from includes and from the symbols of the objects.

    rooms.py SOURCE OBJECTS            checks the rules; prints what breaks them
    rooms.py SOURCE OBJECTS --svg FILE the drawing of docs/architecture.md

Rules: src/rooms.txt lists every room, lowest first. A file includes public headers, ROOM/ROOM.h of rooms above it in that list, and headers of its own room.
Every other header is named *_priv.h, or is included by ROOM.h, which includes no *_priv.h. No object needs a symbol of a room further down in the list.
Private names carry their room: psdmp_ROOM_... No room has more than 9000 lines.
"""
import argparse
import pathlib
import re
import subprocess
import sys

MOST_LINES = 9000


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

    # ---- what is checked ----

    def check_list(self):
        for name in {self.room(p) for p in self.files} ^ set(self.order):
            self.wrong.append(f"src/rooms.txt and the folders of src disagree about '{name}'")

    def includes(self, path):
        return re.findall(r'^#include "([^"]+)"', self.text[path], re.M)

    def parts(self, room):
        """ROOM.h and the headers of its own room that it includes, directly or not."""
        seen, todo = set(), [f"{room}/{room}.h"]
        while todo:
            name = todo.pop()
            path = self.src / name
            if name in seen or not path.exists():
                continue
            seen.add(name)
            todo += [i for i in self.includes(path) if i.startswith(room + "/")]
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
            if path.suffix == ".h" and not name.endswith("_priv.h") and name not in self.parts(room):
                self.wrong.append(f"{name}: a header that {room}/{room}.h does not include is named *_priv.h")
            if path.suffix == ".h" and name.endswith("_priv.h") and name in self.parts(room):
                self.wrong.append(f"{name}: private, but {room}/{room}.h includes it")

    def symbols(self):
        """What each object of the library defines and needs, by nm."""
        defined, needed = {}, {}
        for obj in sorted(self.objects.rglob("*.o")):
            room = obj.relative_to(self.objects).parts[0]
            if not (self.src / str(obj.relative_to(self.objects))[:-2]).exists():
                continue  # of a file that has moved or gone
            out = subprocess.run(["nm", "-g", str(obj)], capture_output=True, text=True, check=True).stdout
            for line in out.splitlines():
                kind, name = line.split()[-2:]
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

    def check(self):
        self.check_list()
        if not self.wrong:
            self.check_includes()
            self.check_symbols()
            self.check_types()
            self.check_size()
        return self.wrong

    # ---- the drawing ----

    def direct(self):
        """Arrows that no chain of others implies: the drawing would be black with all of them."""
        uses = {room: {b for a, b in self.arrows if a == room} for room in self.order}
        reach = {}
        for room in self.order:  # lowest first
            reach[room] = set().union(*({b} | reach[b] for b in uses[room])) if uses[room] else set()
        return {(a, b) for a in uses for b in uses[a] if not any(b in reach[c] for c in uses[a] if c != b)}

    def svg(self):
        level = {}
        direct = self.direct()
        for room in self.order:
            level[room] = 1 + max((level[b] for a, b in direct if a == room), default=-1)
        rows = [[r for r in self.order if level[r] == k] for k in range(max(level.values()) + 1)]
        place = {}
        self.spread(rows, direct)
        width, step, high, wide = 1180, 74, 36, 124
        for k, row in enumerate(reversed(rows)):
            for i, room in enumerate(row):
                place[room] = ((i + 0.5) * width / len(row), 30 + k * step)
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {30 + len(rows) * step}" font-family="sans-serif" font-size="13">',
               '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a93a0"/></marker></defs>',
               f'<rect width="{width}" height="{30 + len(rows) * step}" fill="#ffffff"/>']
        for a, b in sorted(direct, key=lambda x: (self.order[x[0]], self.order[x[1]])):
            (x0, y0), (x1, y1) = place[a], place[b]
            y0, y1 = y0 + high, y1 - 1
            middle = (y0 + y1) / 2
            out.append(f'<path d="M{x0:.0f} {y0:.0f}C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1:.0f}" fill="none" stroke="#8a93a0" stroke-width="1.2" marker-end="url(#tip)"/>')
        for room, (x, y) in place.items():
            out.append(f'<g><title>{room}: {self.help[room]}</title><rect x="{x - wide / 2:.0f}" y="{y:.0f}" width="{wide}" height="{high}" rx="6" fill="#eef3fb" stroke="#2f5fa7"/>'
                       f'<text x="{x:.0f}" y="{y + 23:.0f}" text-anchor="middle" font-weight="600" fill="#1d2733">{room}</text></g>')
        out.append("</svg>\n")
        return "\n".join(out)

    def spread(self, rows, direct):
        """Orders each row by where its neighbours below stand, so that few arrows cross."""
        for _ in range(12):
            at = {room: (i + 0.5) / len(row) for row in rows for i, room in enumerate(row)}
            for row in rows:
                def pull(room):
                    near = [at[b] for a, b in direct if a == room] + [at[a] for a, b in direct if b == room]
                    return (sum(near) / len(near) if near else at[room], self.order[room])
                row.sort(key=pull)


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
