r"""Which operators ran where, and what happens when one has no kernel."""

from __future__ import annotations

__all__: list[str] = []
