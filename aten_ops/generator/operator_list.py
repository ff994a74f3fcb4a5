"""The operator list: YAML files of entries, read with line numbers and checked before anything is generated.

An entry is a mapping::

    - {op: exp.out, via: stub, served: kernel}

``op``      an overload of the installed torch, as in native_functions.yaml; a structured group is named by its out overload
            and registers functional, in-place and out.
``via``     where the implementation comes from, see :data:`VIA`.
``served``  how a call is counted, see :data:`SERVED`.
``kernel``  (optional) name of the implementation, where the default does not fit.
``devices`` (optional) ``any``: the arguments may be on several devices; the implementation checks and guards them itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

VIA = {
    "stub": "upstream's at::native::structured_<kernel>; its DispatchStub is filled in native/*.cpp",
    "impl": "our class over at::meta::structured_<op>; its impl() is written in native/*.cpp",
    "function": "our free function anvil::native::<kernel>",
    "native": "ATen's own device-neutral at::native::<kernel>",
}

SERVED = {
    "kernel": "counted: runs a kernel of ours",
    "library": "counted: runs a vendor library, or ATen's CPU implementation on the simulator's memory",
    "view": "not counted: another view of the same storage",
    "host": "not counted: allocation and metadata, no work on the device",
    "composite": "not counted: calls other operators, which are",
}

REQUIRED = ("op", "via", "served")
OPTIONAL = ("kernel", "devices")

DEVICES = {
    "same": "(default) all tensors on one device, which is current when the implementation is called",
    "any": "no check and no guard: the implementation does it",
}


class ListError(Exception):
    """A mistake in the operator list; the message begins with file and line."""


@dataclass(frozen=True)
class Entry:
    """One line of the list, checked as far as is possible without torch."""

    op: str
    via: str
    served: str
    kernel: str | None
    devices: str
    family: str
    location: str

    def error(self, message: str) -> ListError:
        return ListError(f"{self.location}: {message}")


def near(name: str, names: Iterable[str]) -> str:
    """`; near: a, b` for names that resemble `name`, else an empty string."""
    names = list(names)
    matches = difflib.get_close_matches(name, names, n=4, cutoff=0.6)
    base = name.split(".")[0]
    same_base = [n for n in names if n.split(".")[0] == base and n not in matches]
    found = (same_base + matches)[:8] if base != name or same_base else matches
    return f"; near: {', '.join(found)}" if found else ""


class _Loader(yaml.SafeLoader):
    """SafeLoader that keeps each mapping's line and refuses a key that is given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        line = node.start_mark.line + 1
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise ListError(f"{self.name}:{line}: key '{key}' is given twice")
            seen.add(key)
        mapping = super().construct_mapping(node, deep=deep)
        mapping["__line__"] = line
        return mapping


def _one_of(what: str, value: object, allowed: dict[str, str], location: str) -> str:
    if value not in allowed:
        lines = "".join(f"\n  {name}: {meaning}" for name, meaning in allowed.items())
        raise ListError(f"{location}: {what} '{value}' is not one of{lines}")
    return str(value)


def _entry(raw: object, family: str, file: str, index: int) -> Entry:
    if not isinstance(raw, dict):
        raise ListError(f"{file}: entry {index + 1} ('{raw}') is not a mapping like {{op: ..., via: ..., served: ...}}")
    line = raw.pop("__line__")
    location = f"{file}:{line}"
    for key in raw:
        if key not in REQUIRED + OPTIONAL:
            allowed = ", ".join(REQUIRED + OPTIONAL)
            raise ListError(f"{location}: unknown key '{key}', allowed: {allowed}{near(str(key), REQUIRED + OPTIONAL)}")
    for key in REQUIRED:
        if key not in raw:
            raise ListError(f"{location}: key '{key}' is missing")
    for key, value in raw.items():
        if not isinstance(value, str) or not value:
            raise ListError(f"{location}: '{key}' must be a name, got {value!r} (quote it if YAML reads it otherwise)")
    return Entry(
        op=raw["op"],
        via=_one_of("via", raw["via"], VIA, location),
        served=_one_of("served", raw["served"], SERVED, location),
        kernel=raw.get("kernel"),
        devices=_one_of("devices", raw.get("devices", "same"), DEVICES, location),
        family=family,
        location=location,
    )


def load(files: Iterable[Path]) -> dict[str, list[Entry]]:
    """The entries of each family (a file's stem), in the order of the file. Raises ListError."""
    families: dict[str, list[Entry]] = {}
    first: dict[str, Entry] = {}
    for path in sorted(files):
        loader = _Loader(path.read_text())
        loader.name = path.name
        try:
            document = loader.get_single_data()
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise ListError(f"{path.name}:{line}: not YAML: {error.problem}") from None
        finally:
            loader.dispose()
        if not isinstance(document, list) or not document:
            raise ListError(f"{path.name}:1: expected a list of entries")
        entries = [_entry(raw, path.stem, path.name, index) for index, raw in enumerate(document)]
        for entry in entries:
            if entry.op in first:
                raise entry.error(f"'{entry.op}' is listed already at {first[entry.op].location}")
            first[entry.op] = entry
        families[path.stem] = entries
    return families
