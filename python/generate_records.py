"""Writes the classes of `warpbound/records` from the JSON Schemas of the commands.

Usage: python generate_records.py SCHEMAS FOLDER
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

WIDTH = 110
# the commands that the package has as functions
COMMANDS = (
    "cfg", "check", "compare", "diff", "explore", "hybrid", "inspect", "list", "pwcet", "run", "static", "wcet", "why",
)  # fmt: skip


def main() -> None:
    """Writes one module for each schema."""
    schemas, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for path in sorted(schemas / f"{command}.json" for command in COMMANDS):
        module = path.stem.replace("-", "_")
        module += "_" if keyword.iskeyword(module) else ""
        (folder / f"{module}.py").write_text(generated(json.loads(path.read_text()), path.stem))


def generated(schema: dict[str, Any], command: str) -> str:
    """Returns the module of a command."""
    defs = {name: merged(body, schema.get("$defs", {})) for name, body in schema.get("$defs", {}).items()}
    classes = {name for name, body in defs.items() if "properties" in body}
    parts = [
        f'"""The output of `{command}`. Generated from its JSON Schema."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import Any, ClassVar, Literal\n\n"
        "from .._record import Record, Rows\n\n"
        # every module has the same imports, whether it needs them all or not
        '__all__ = ["Any", "ClassVar", "Literal", "Record", "Report", "Rows"]\n'
    ]
    parts += [class_of(name, defs[name], defs) for name in sorted(classes)]
    parts.append(class_of("Report", schema, defs))
    nested = ", ".join(f'"{name}": {name}' for name in sorted(classes))
    parts.append(f"_CLASSES: dict[str, type[Record]] = {{{nested}}}\nReport._classes = _CLASSES\nfor _class in _CLASSES.values():\n    _class._classes = _CLASSES\n")
    return "\n\n".join(parts)


def merged(body: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    """Returns one object for alternatives that are objects: with all fields, of which those are
    required that all alternatives require."""
    alternatives = body.get("oneOf") or body.get("anyOf") or []
    if not alternatives or not all("$ref" in option for option in alternatives):
        return body
    properties: dict[str, Any] = {}
    required: set[str] | None = None
    for option in alternatives:
        inner = defs[option["$ref"].rsplit("/", 1)[1]]
        if "properties" not in inner:
            return body
        # the field that tells the alternatives apart
        own = {name: {"type": "string", "description": "Which alternative it is."} for name in option.get("properties", {})}
        properties = {**inner["properties"], **own, **properties}
        here = {*inner.get("required", []), *option.get("required", [])}
        required = here if required is None else required & here
    return {"description": body.get("description", ""), "properties": properties, "required": sorted(required or [])}


def class_of(name: str, body: dict[str, Any], defs: dict[str, Any]) -> str:
    """Returns the class of an object."""
    lines = [f"class {name}(Record):", docstring(body.get("description", "An object."), 4)]
    required = set(body.get("required", []))
    nested: dict[str, str] = {}
    for field, type in body["properties"].items():
        annotation, of = annotated(type, defs)
        if field not in required and not annotation.endswith("| None"):
            annotation += " | None"
        if of:
            nested[field] = of
        if not field.isidentifier() or keyword.iskeyword(field) or field in ("keys", "items", "values"):
            continue
        lines.append(f"    {field}: {annotation}")
        if "description" in type:
            lines.append(docstring(type["description"], 4))
    pairs = ", ".join(f'"{field}": "{of}"' for field, of in sorted(nested.items()))
    lines.append(f"    _nested: ClassVar[dict[str, str]] = {{{pairs}}}")
    return "\n".join(lines) + "\n"


def annotated(type: dict[str, Any], defs: dict[str, Any]) -> tuple[str, str | None]:
    """Returns the annotation of a type, and the class of the objects in it."""
    if "$ref" in type:
        name = type["$ref"].rsplit("/", 1)[1]
        body = defs[name]
        if "properties" in body and "oneOf" not in body:
            return name, name
        return annotated(body, defs)
    if "anyOf" in type or "oneOf" in type:
        options = type.get("anyOf") or type["oneOf"]
        if all("const" in option for option in options):
            return literal([option["const"] for option in options]), None
        found = [annotated(option, defs) for option in options]
        texts = list(dict.fromkeys(text for text, _ in found))
        classes = {of for _, of in found if of}
        texts.sort(key=lambda text: text == "None")
        return " | ".join(texts) if "Any" not in texts else "Any", classes.pop() if len(classes) == 1 else None
    if "enum" in type:
        return literal(type["enum"]), None
    kinds = type.get("type")
    if isinstance(kinds, list):
        inner = [annotated({**type, "type": kind}, defs) for kind in sorted(kinds, key=lambda kind: kind == "null")]
        return " | ".join(text for text, _ in inner), next((of for _, of in inner if of), None)
    if kinds == "array":
        if "items" not in type:
            return "list[Any]", None
        text, of = annotated(type["items"], defs)
        return (f"Rows[{text}]", of) if of else (f"list[{text}]", None)
    if kinds == "object":
        inside = type.get("additionalProperties")
        if isinstance(inside, dict):
            text, of = annotated(inside, defs)
            return f"dict[str, {text}]", of
        return "dict[str, Any]", None
    simple = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}
    return simple.get(str(kinds), "Any"), None


def literal(values: list[Any]) -> str:
    return f"Literal[{', '.join(json.dumps(value) for value in values)}]"


def docstring(text: str, indent: int) -> str:
    """Returns a text as a docstring."""
    text = " ".join(text.replace("\\", "\\\\").replace('"""', "'''").split())
    pad = " " * indent
    if text.endswith('"'):
        text += " "
    lines = textwrap.wrap(f'"""{text}"""', WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(pad + line for line in lines)


if __name__ == "__main__":
    main()
