"""The keys that the report reads from results, by the texts of its sources, against the schemas of the results.

    keys.py SOURCE SCHEMAS     prints keys that no result has
"""
import json
import pathlib
import re
import sys

OTHER_DOCUMENTS = ("section_bench_charts.c",)  # figures that programs of bench/ write
NAMES = {"settings", "functions", "baseline"}  # what comes behind is a name: of a setting, of a function
PARAMETER_FILE = {"format"}


def keys_of(schema):
    """All keys that the objects of a schema may have."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return own.union(*map(keys_of, schema.values()))


def paths_of(text):
    """Paths in calls that read a node, and in tables of a label, a path, digits and a unit."""
    text = re.sub(r'"\s*\n\s*"', "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    calls = re.findall(r'psdmp_report_(?:node|number|text|truth)\((?:[^()"]|\([^()]*\))*?, "([^"]*)"', text)
    return {*calls, *re.findall(r'\{"[^"]*", "([\w.%]+)", (?:\d+|PSDMP_REPORT_\w+), ', text)}


def main():
    source, schemas = map(pathlib.Path, sys.argv[1:])
    known = PARAMETER_FILE.union(*(keys_of(json.loads(p.read_text())) for p in schemas.glob("*.schema.json")))
    wrong, count = [], 0
    for file in sorted((source / "src/report").glob("*.c")):
        for path in sorted(paths_of(file.read_text())) if file.name not in OTHER_DOCUMENTS else ():
            parts = [p for p in path.split(".") if not re.fullmatch(r"%\w+|\d*", p)]
            count += 1
            for before, part in zip([None, *parts], parts):
                if part not in known and before not in NAMES:
                    wrong.append(f"{file.name}: reads '{path}', and no result has '{part}'")
    if len(known) < 300 or count < 250:
        wrong.append(f"{len(known)} keys, {count} paths: not all were found")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{count} paths, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
