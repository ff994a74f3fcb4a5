"""What ``torch.compile`` finds with its default backend: a clear refusal."""

from __future__ import annotations

from typing import Any, NoReturn

_MESSAGE = (
    "torch.compile's default backend, Inductor, does not generate code for the device 'anvil'. "
    'Use torch.compile(..., backend="aot_eager"), which captures the graph and runs Anvil\'s own kernels, or run without '
    "torch.compile."
)


class _Refusal:
    """Stands where Inductor looks for a device's code generators and operations; whatever is asked of it is the error."""

    supports_caching = False

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._refuse()

    @classmethod
    def create(cls, *arguments: Any, **keywords: Any) -> NoReturn:
        cls._refuse()

    @staticmethod
    def _refuse() -> NoReturn:
        raise RuntimeError(_MESSAGE)


def _inductor_backend_init() -> None:
    """Called by Inductor before it compiles for the first time, for any device: only use of this one may fail."""
    from torch._inductor.codegen.common import (
        DeviceOpOverrides,
        register_backend_for_device,
        register_device_op_overrides,
    )

    register_backend_for_device("anvil", _Refusal, _Refusal)  # type: ignore[arg-type]
    register_device_op_overrides("anvil", DeviceOpOverrides())
