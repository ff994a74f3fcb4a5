"""Writes the C++ text of a family: declarations for the glue, and registrations."""

from __future__ import annotations

from . import schema
from .operator_list import Entry
from .schema import Operator, Schema

_HEADER = """\
// Generated from aten_ops/{family}.yaml; an edit here is lost at the next build.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/core/TensorOptions.h>

#include <optional>
#include <tuple>
#include <vector>
{includes}
namespace anvil::native {{

{body}

}}  // namespace anvil::native
"""

_REGISTRATION = """\
// Generated from aten_ops/{family}.yaml; an edit here is lost at the next build.
#include "aten_ops/Registration.h"
#include "generated/{family}_native.h"

{includes}

namespace at {{
namespace {{

{counters}{body}

}}  // namespace
}}  // namespace at

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {{
{registrations}
}}
"""

# served -> the member of OperatorCounter that a wrapper increments.
_COUNTED = ("kernel", "library")


def native_header(family: str, operators: list[Operator]) -> str:
    """`<family>_native.h`: what native/*.cpp has to define."""
    includes = sorted({f"#include <ATen/ops/{o.base}_meta.h>" for o in operators if o.entry.via == "impl"})
    body = []
    for operator in operators:
        if operator.entry.via == "impl":
            body.append(f"// {operator.entry.op}\n{schema.impl_class(operator)}")
        elif operator.entry.via == "function":
            signature = schema.signature(operator, operator.function, name=operator.kernel)
            body.append(f"// {operator.entry.op}\n{signature.declaration}")
    return _HEADER.format(
        family=family,
        includes="\n".join(["", *includes, ""]) if includes else "",
        body="\n".join(body) or "// Every operator of this family is ATen's own.",
    )


def registration(family: str, operators: list[Operator]) -> str:
    """`Register_<family>.cpp`."""
    bases = {o.base for o in operators if o.namespace == schema.ATEN_NAMESPACE}
    names: list[str] = []
    body: list[str] = []
    registrations: list[str] = []
    for operator in operators:
        wrapper = schema.StructuredWrapper.of(operator) if operator.group is not None else None
        for function in operator.functions:
            count = ""
            if operator.entry.served in _COUNTED:
                count = f"  counters[{len(names)}].{operator.entry.served}();\n"
                names.append(str(function.func.name))
            if wrapper is not None:
                body.append(wrapper.definition(function, count))
            else:
                body.append(_unstructured(operator, count))
            name = schema.signature(operator, function, schema.WRAPPER_PREFIX).name
            registrations.append(f'  m.impl("{function.func.name}", TORCH_FN(at::{name}));')
    counters = ""
    if names:
        slots = ",\n".join(f'    {{"aten::{name}"}}' for name in names)
        counters = f"constinit anvil::OperatorCounter counters[] = {{\n{slots}}};\n\n"
        registrations.insert(0, "  anvil::register_counters(at::counters);")
    definitions = "\n\n".join(body)
    headers = [f"ATen/ops/{base}_native.h" for base in sorted(bases)]
    if "namedinference::" in definitions:  # torch 2.11 to the last version with named tensors
        headers.insert(0, "ATen/NamedTensorUtils.h")
    return _REGISTRATION.format(
        family=family,
        includes="\n".join(f"#include <{header}>" for header in headers),
        counters=counters,
        body=definitions,
        registrations="\n".join(registrations),
    )


def _unstructured(operator: Operator, count: str) -> str:
    function = operator.function
    assert function is not None
    signature = schema.signature(operator, function, schema.WRAPPER_PREFIX)
    same = operator.entry.devices == "same"
    check = schema.device_check(function, signature.name) if same else ""
    guarded = schema.guarded_argument(function) if same else None
    if guarded == "device":
        guard = "  const anvil::OperatorGuard guard(anvil::factory_device(device));\n"
    elif guarded is not None:
        guard = f"  const anvil::OperatorGuard guard({guarded});\n"
    else:
        guard = ""
    arguments = ", ".join(signature.arguments)
    if check:
        check = "  " + check.strip().replace("\n\n", "\n") + "\n"
    call = f"  return {operator.namespace}::{operator.kernel}({arguments});\n"
    return f"{signature.definition} {{\n{count}{check}{guard}{call}}}"


def files(families: dict[str, list[Entry]], torch_schema: Schema) -> dict[str, str]:
    """Name and text of every generated file."""
    result: dict[str, str] = {}
    for family, entries in families.items():
        operators = [torch_schema.resolve(entry) for entry in entries]
        kernels: dict[str, Operator] = {}
        for operator in operators:
            # Two structured classes of one name would be one class.
            if operator.group is not None:
                other = kernels.setdefault(operator.kernel, operator)
                if other is not operator:
                    raise operator.entry.error(
                        f"class structured_{operator.kernel} is used by '{other.entry.op}' already: give a kernel: name"
                    )
        result[f"{family}_native.h"] = native_header(family, operators)
        result[f"Register_{family}.cpp"] = registration(family, operators)
    return result
