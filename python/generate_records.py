"""Writes the classes of `warpbound/records` from the JSON Schemas of the commands.

Usage: python generate_records.py SCHEMAS FOLDER
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WIDTH = 110
# the commands that the package has as functions
COMMANDS = (
    "cfg", "check", "compare", "diff", "explore", "hybrid", "inspect", "list", "pwcet", "run", "static", "wcet", "why",
)  # fmt: skip


IMPORTS = (
    "from __future__ import annotations\n\n"
    "from typing import Any, ClassVar, Literal\n\n"
    "from .._record import Record, Rows\n"
)
# what several commands have in their outputs
SHARED = "_shared"
# what the reports of all commands have
BASE = "AnyReport"


def main() -> None:
    """Writes one module for each schema, and one with the classes that several of them have."""
    schemas, folder = Path(sys.argv[1]), Path(sys.argv[2])
    outputs = {command: Schema(json.loads((schemas / f"{command}.json").read_text())) for command in COMMANDS}
    shared, base = shared_classes(list(outputs.values())), base_fields(list(outputs.values()))
    (folder / f"{SHARED}.py").write_text(shared_module(list(outputs.values()), shared, base))
    for command, schema in outputs.items():
        module = command.replace("-", "_")
        module += "_" if keyword.iskeyword(module) else ""
        (folder / f"{module}.py").write_text(generated(schema, command, shared, base))


class Schema:
    """The schema of a command, with the text of each of its classes."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.report = schema
        self.defs = {name: merged(body, schema.get("$defs", {})) for name, body in schema.get("$defs", {}).items()}
        classes = {name: body for name, body in self.defs.items() if "properties" in body}
        self.classes = {name: class_of(name, body, self.defs) for name, body in sorted(classes.items())}
        self.uses = {name: set(nested_of(body, self.defs).values()) for name, body in classes.items()}


def shared_classes(schemas: list[Schema]) -> list[str]:
    """Returns the classes that are the same wherever they occur, in several schemas, and so are the
    classes that they use."""
    names = {name for schema in schemas for name in schema.classes}
    texts = {name: [schema.classes[name] for schema in schemas if name in schema.classes] for name in names}
    shared = {name for name, found in texts.items() if len(found) > 1 and len(set(found)) == 1}
    while True:
        kept = {name for name in shared if all(s.uses[name] <= shared for s in schemas if name in s.classes)}
        if kept == shared:
            return sorted(shared)
        shared = kept


def base_fields(schemas: list[Schema]) -> list[str]:
    """Returns the fields that the reports of all commands have."""
    first = schemas[0].report

    def is_same(field: str, report: dict[str, Any]) -> bool:
        same_type = report["properties"].get(field) == first["properties"][field]
        return same_type and (field in report["required"]) == (field in first["required"])

    return [field for field in first["properties"] if all(is_same(field, schema.report) for schema in schemas)]


def shared_module(schemas: list[Schema], shared: list[str], base: list[str]) -> str:
    """Returns the module with the classes that several commands have."""
    parts = [f'"""What the outputs of several commands have. Generated from their JSON Schemas."""\n\n{IMPORTS}']
    parts += [next(schema.classes[name] for schema in schemas if name in schema.classes) for name in shared]
    report = schemas[0].report
    own = {**report, "properties": {field: report["properties"][field] for field in base}}
    parts.append(class_of(BASE, {**own, "description": "What the reports of all commands have."}, schemas[0].defs))
    parts.append(bound([*shared], [*shared, BASE]))
    return "\n\n".join(parts)


def generated(schema: Schema, command: str, shared: list[str], base: list[str]) -> str:
    """Returns the module of a command."""
    imported = [name for name in schema.classes if name in shared]
    own = [name for name in schema.classes if name not in shared]
    parts = [
        f'"""The output of `{command}`. Generated from its JSON Schema."""\n\n{IMPORTS}'
        f"from .{SHARED} import {', '.join([BASE, *imported])}\n\n"
        # every module has the same imports, whether it needs them all or not
        f"__all__ = {json.dumps(sorted(['Any', 'ClassVar', 'Literal', 'Record', 'Report', 'Rows', *schema.classes]))}\n"
    ]
    parts += [schema.classes[name] for name in own]
    parts.append(class_of("Report", schema.report, schema.defs, BASE, base))
    parts.append(bound([*schema.classes], [*own, "Report"]))
    return "\n\n".join(parts)


def bound(names: list[str], owners: list[str]) -> str:
    """Returns the code that tells classes by which names they find others."""
    nested = ", ".join(f'"{name}": {name}' for name in sorted(names))
    lines = [f"_CLASSES: dict[str, type[Record]] = {{{nested}}}"]
    return "\n".join([*lines, *(f"{owner}._classes = _CLASSES" for owner in owners)]) + "\n"


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


def nested_of(body: dict[str, Any], defs: dict[str, Any]) -> dict[str, str]:
    """Returns the classes of the objects in an object, by field."""
    found = {field: annotated(type, defs)[1] for field, type in body["properties"].items()}
    return {field: of for field, of in sorted(found.items()) if of}


def class_of(
    name: str, body: dict[str, Any], defs: dict[str, Any], base: str = "Record", inherited: Sequence[str] = ()
) -> str:
    """Returns the class of an object; `inherited` are the fields that its base has."""
    lines = [f"class {name}({base}):", docstring(body.get("description", "An object."), 4)]
    required = set(body.get("required", []))
    for field, type in body["properties"].items():
        annotation, _ = annotated(type, defs)
        if field not in required and not annotation.endswith("| None"):
            annotation += " | None"
        hidden = not field.isidentifier() or keyword.iskeyword(field) or field in ("keys", "items", "values")
        if hidden or field in inherited:
            continue
        lines.append(f"    {field}: {annotation}")
        if "description" in type:
            lines.append(docstring(type["description"], 4))
    pairs = ", ".join(f'"{field}": "{of}"' for field, of in nested_of(body, defs).items())
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
