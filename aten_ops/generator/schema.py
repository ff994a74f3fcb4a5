"""The installed torch's operators, through ``torchgen``: the one module of the generator that touches its internals.

What is used of it stands in docs/private_surface.md; differences between torch versions are handled here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import torchgen
import torchgen.api.meta
import torchgen.api.structured
from torchgen.api.types import NativeSignature
from torchgen.context import native_function_manager
from torchgen.dest.register_dispatch_key import RegisterDispatchKey, StructuredRegisterDispatchKey
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import (
    BackendIndex,
    BackendMetadata,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    SchemaKind,
    TensorOptionsArguments,
)
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import Target

from .operator_list import Entry, near

OUR_NAMESPACE = "anvil::native"
ATEN_NAMESPACE = "at::native"
WRAPPER_PREFIX = "wrapper_PrivateUse1_"


@dataclass(frozen=True)
class Operator:
    """An entry of the list joined with its schema: what `emit` turns into text."""

    entry: Entry
    kernel: str
    namespace: str
    function: NativeFunction | None  # of an unstructured operator
    group: NativeFunctionsGroup | None  # of a structured one

    @property
    def functions(self) -> list[NativeFunction]:
        """The overloads that the entry registers."""
        if self.function is not None:
            return [self.function]
        assert self.group is not None
        return list(self.group.functions())

    @property
    def base(self) -> str:
        """The name of the per-operator headers, <ATen/ops/{base}_native.h>."""
        return self.functions[-1].root_name

    @property
    def backend_index(self) -> BackendIndex:
        metadata = BackendMetadata(self.kernel, self.group is not None, self.namespace)
        return BackendIndex(
            dispatch_key=DispatchKey.PrivateUse1,
            use_out_as_primary=True,
            device_guard=True,
            external=False,
            index={f.func.name: metadata for f in self.functions},
        )


class Schema:
    """The operators of the installed torch."""

    def __init__(self, include: Path | None = None) -> None:
        root = Path(torchgen.__file__).parent
        native = root / "packaged" / "ATen" / "native"
        self.include = include or root.parent / "torch" / "include"
        parsed = parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml"))
        self._indices = parsed.backend_indices
        self._by_name: dict[str, tuple[NativeFunction, NativeFunctionsGroup | None]] = {}
        for item in get_grouped_native_functions(parsed.native_functions):
            group = item if isinstance(item, NativeFunctionsGroup) else None
            for function in item.functions() if group else [item]:
                self._by_name[str(function.func.name)] = (function, group)

    def resolve(self, entry: Entry) -> Operator:
        """Joins an entry with its schema; raises ListError where they do not fit."""
        if entry.op not in self._by_name:
            raise entry.error(f"torch has no operator '{entry.op}'{near(entry.op, self._by_name)}")
        function, group = self._by_name[entry.op]
        structured = group if group is not None and group.structured else None
        if entry.via in ("stub", "impl"):
            return self._resolve_structured(entry, function, structured)
        if structured is not None:
            raise entry.error(
                f"'{entry.op}' belongs to a structured group: list '{structured.out.func.name}' with via: stub or impl"
            )
        return self._resolve_unstructured(entry, function)

    def _resolve_structured(self, entry: Entry, function: NativeFunction, group: NativeFunctionsGroup | None) -> Operator:
        if entry.devices != "same":
            raise entry.error(f"devices: {entry.devices} applies to via: function and native only")
        if group is None:
            raise entry.error(f"'{entry.op}' is not structured: via: {entry.via} does not apply, use function or native")
        if function is not group.out:
            raise entry.error(
                f"a structured group is listed once, by its out overload: '{group.out.func.name}', not '{entry.op}'"
            )
        if entry.via == "impl":
            kernel = entry.kernel or group.out.func.name.unambiguous_name()
            return Operator(entry, kernel, OUR_NAMESPACE, None, group)
        operator = Operator(entry, entry.kernel or self._shared_stub(entry, group), ATEN_NAMESPACE, None, group)
        self._check_declared(operator, r"struct\s+TORCH_API\s+structured_(\w+)")
        return operator

    def _shared_stub(self, entry: Entry, group: NativeFunctionsGroup) -> str:
        cpu = self._indices[DispatchKey.CPU].get_kernel(group)
        cuda = self._indices[DispatchKey.CUDA].get_kernel(group)
        if cpu is None:
            raise entry.error(f"'{entry.op}' has no CPU class to take over: use via: impl")
        # The ufunc classes (add, ...) are generated for each device, but differ in nothing.
        if cuda is not None and cuda.kernel != cpu.kernel and not cpu.kernel.startswith("ufunc_"):
            raise entry.error(
                f"'{entry.op}' has one class for the CPU ({cpu.kernel}) and another for CUDA ({cuda.kernel}):"
                f" use via: impl, or name the class with kernel: if the CPU's is right for a device"
            )
        return cpu.kernel

    def _resolve_unstructured(self, entry: Entry, function: NativeFunction) -> Operator:
        if function.manual_kernel_registration:
            raise entry.error(f"'{entry.op}' is registered by hand upstream, not through the list")
        if function.has_composite_implicit_autograd_kernel:
            raise entry.error(
                f"'{entry.op}' is composite: a kernel for the device would cut off its autograd formula;"
                " list the operators that it calls"
            )
        if entry.via == "function":
            kernel = entry.kernel or function.func.name.unambiguous_name()
            return Operator(entry, kernel, OUR_NAMESPACE, function, None)
        operator = Operator(entry, entry.kernel or self._shared_native(entry, function), ATEN_NAMESPACE, function, None)
        self._check_declared(operator, r"TORCH_API\s+[^;{]*?\b(\w+)\(")
        return operator

    def _shared_native(self, entry: Entry, function: NativeFunction) -> str:
        cpu = self._indices[DispatchKey.CPU].get_kernel(function)
        cuda = self._indices[DispatchKey.CUDA].get_kernel(function)
        if cpu is None or cuda is None or cpu.kernel != cuda.kernel:
            names = ", ".join(f"{key}: {m.kernel}" for key, m in (("CPU", cpu), ("CUDA", cuda)) if m is not None)
            raise entry.error(
                f"'{entry.op}' has no kernel that CPU and CUDA share ({names or 'composite'}):"
                " name a device-neutral one with kernel:, or use via: function"
            )
        return cpu.kernel

    def _check_declared(self, operator: Operator, pattern: str) -> None:
        header = self.include / "ATen" / "ops" / f"{operator.base}_native.h"
        declared = sorted(set(re.findall(pattern, header.read_text())))
        if operator.kernel not in declared:
            raise operator.entry.error(
                f"<ATen/ops/{header.name}> exports no '{operator.kernel}'; it has: {', '.join(declared) or 'nothing'}"
            )


@dataclass(frozen=True)
class Signature:
    """The C++ signature that an implementation has, and its wrapper too, as text."""

    name: str
    declaration: str
    definition: str
    arguments: list[str]


def signature(operator: Operator, function: NativeFunction, prefix: str = "", name: str | None = None) -> Signature:
    """`name` replaces the name that torchgen makes from `prefix` and the overload."""
    with native_function_manager(function):
        native = NativeSignature(function.func, prefix=prefix, symint="_symint" in operator.kernel)
        return Signature(
            name=name or native.name(),
            declaration=native.decl(name=name) + ";",
            definition=native.defn(name=name),
            arguments=[a.name for a in native.arguments()],
        )


def device_check(function: NativeFunction, method: str) -> str:
    """Statements that compare the devices of all tensor arguments; empty where upstream has none."""
    arguments = [*function.func.arguments.out, *function.func.arguments.flat_positional]
    text = RegisterDispatchKey.gen_device_check(function.device_check, arguments, method)
    return "" if "No device check" in text else text


def guarded_argument(function: NativeFunction) -> str | None:
    """The expression of the device to make current: `device` for factories, else `device_of(first tensor)`."""
    if not function.device_guard:
        return None
    arguments = function.func.arguments
    if any(isinstance(a, TensorOptionsArguments) for a in arguments.non_out):
        return "device"
    own = [arguments.self_arg.argument] if arguments.self_arg is not None else []
    for argument in [*own, *arguments.out, *arguments.flat_positional]:
        if argument.type.is_tensor_like():
            return f"device_of({argument.name})"
    return None


def impl_class(operator: Operator) -> str:
    """Declaration of the class whose impl() we write, for via: impl."""
    assert operator.group is not None
    with native_function_manager(operator.group.out):
        parent = torchgen.api.meta.name(operator.group)
        arguments = ", ".join(a.decl() for a in torchgen.api.structured.impl_arguments(operator.group))
    return f"struct structured_{operator.kernel} : public at::meta::structured_{parent} {{\n  void impl({arguments});\n}};"


@dataclass(frozen=True, kw_only=True)
class StructuredWrapper(StructuredRegisterDispatchKey):
    """torchgen's wrapper of a structured operator, with our allocation, device guard and counter."""

    operator: Operator

    @staticmethod
    def of(operator: Operator) -> StructuredWrapper:
        return StructuredWrapper(
            operator=operator,
            backend_index=operator.backend_index,
            target=Target.ANONYMOUS_DEFINITION,
            selector=SelectiveBuilder.get_nop_selector(),
            rocm=False,
            symint=True,
            class_method_name=None,
            skip_dispatcher_op_registration=False,
            g=operator.group,
        )

    def gen_class_set_output_body(self, k: SchemaKind, maybe_create_proxy: bool) -> str:
        guard = "anvil::set_guard(guard_, options.device());\n"
        if k is SchemaKind.functional:
            return f"{guard}outputs_[output_idx] = anvil::create_out(sizes, strides, options);"
        check = "check_inplace(out, sizes, options)" if k is SchemaKind.inplace else "resize_out(out, sizes, strides, options)"
        text = f"{guard}const auto& out = outputs_[output_idx].get();\nanvil::{check};"
        if maybe_create_proxy:
            text += "\nproxy_outputs_[output_idx] = anvil::maybe_create_proxy(out, sizes, strides, options);"
        return text

    def gen_class(self, f: NativeFunction, k: SchemaKind, **names) -> str:
        text = super().gen_class(f, k, **names)
        assert text.endswith("};")
        return text.removesuffix("};") + "    anvil::OperatorGuard guard_;\n};"

    def definition(self, function: NativeFunction, count: str) -> str:
        """The wrapper's class and function; `count` is the first statement of its body."""
        text = self.gen_one(function)
        assert text is not None
        head = signature(self.operator, function, WRAPPER_PREFIX).definition + " {\n"
        assert text.count(head) == 1, f"torchgen wrote no wrapper {head}"
        return text.replace(head, head + count)
