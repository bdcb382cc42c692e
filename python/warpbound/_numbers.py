"""Numbers of Python and of numpy."""

from __future__ import annotations

from typing import Any


def scalar(value: Any) -> Any:
    """Returns a scalar of numpy as one of Python, and anything else as it is."""
    # only what has a type of elements: other objects with a shape can fail where they are asked for it
    is_scalar = hasattr(value, "dtype") and hasattr(value, "item") and not isinstance(value, type)
    return value.item() if is_scalar and value.shape == () else value


def whole(value: Any) -> int | None:
    """Returns a whole number, also one of numpy, or `None` if it is none; a truth value is none."""
    try:
        return None if isinstance(value, bool) else int(value.__index__())
    except (AttributeError, TypeError):
        return None
