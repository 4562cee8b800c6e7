"""Checks documents against their JSON Schema: validate.py SCHEMA FILE.json...; supports the keywords that psdm writes."""
import json
import pathlib
import sys

KNOWN = {"$schema", "$defs", "$ref", "title", "description", "unit", "type", "const", "enum", "properties", "required", "items", "minItems", "maxItems",
         "additionalProperties"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_a(value, kind):
    if kind in ("number", "integer"):
        return isinstance(value, (int, float)) and not isinstance(value, bool) and (kind == "number" or value == int(value))
    return isinstance(value, TYPES[kind])


def check(value, schema, root, where):
    """The violations, as texts."""
    unknown = set(schema) - KNOWN
    if unknown:
        yield f"{where}: the schema has {unknown}"
    if "$ref" in schema:
        yield from check(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    kinds = schema.get("type", [])
    if kinds and not any(is_a(value, k) for k in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{where}: {value!r} is not {kinds}"
        return
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not {schema.get('const', schema.get('enum'))}"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where}: {len(value)} items"
        for i, item in enumerate(value):
            yield from check(item, schema.get("items", {}), root, f"{where}[{i}]")
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{where}: lacks {key}"
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if inner is None and "properties" in schema:
                yield f"{where}: {key} is not in the schema"
            yield from check(item, inner or {}, root, f"{where}.{key}")


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    wrong = [text for path in sys.argv[2:] for text in check(json.loads(pathlib.Path(path).read_text()), schema, schema, path)]
    print("\n".join(wrong[:20]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
