"""Converts the values that people report to proto JSON.

Numbers stay numbers; NaN and the infinities become proto JSON's strings for them. NumPy and PyTorch scalars are
read through their ``item()``, so that this module imports neither package. A value without a JSON form raises in
the reporting call, so that the stack trace has the caller's line.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from typing import Any, Union

from ._limits import GROUP_UNITS_MAX, METRIC_DEPTH_MAX, NAME_CHARACTERS_MAX

Json = Union[None, bool, int, float, str, list[Any], dict[str, Any]]

# A proto JSON number is a double; larger integers are not exact as doubles.
_EXACT_MAX = 2**53
# Between these limits Python writes 1e+16 and JavaScript writes all digits. The SDK does so, too, so that
# REPORT_BYTES_MAX is exact.
_DIGITS_MIN = 1e16
_DIGITS_MAX = 1e21


def to_json(value: Any, where: str, depth: int = 0) -> Json:
    """Returns the proto JSON form of ``value``. Raises TypeError if it has none, and ValueError if it cannot be
    stored. ``where`` names the value in the message.
    """
    kind = type(value)
    if kind is float:
        return _number(value)
    if value is None or isinstance(value, bool):
        return value
    if kind is int:
        return int(value) if -_EXACT_MAX <= value <= _EXACT_MAX else _large(value)
    if kind is str:
        return _text(value, where)
    return _other_to_json(value, where, depth)


def _other_to_json(value: object, where: str, depth: int) -> Json:
    if depth >= METRIC_DEPTH_MAX:
        raise ValueError(
            f"{where} is nested deeper than {METRIC_DEPTH_MAX} levels, or contains itself"
        )
    if isinstance(value, Mapping):
        return {
            _key(key, where): to_json(item, f"{where}[{key!r}]", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [to_json(item, f"{where}[{n}]", depth + 1) for n, item in enumerate(value)]
    if isinstance(value, str):
        return _text(str(value), where)
    if isinstance(value, int):
        return to_json(int(value), where, depth)
    if isinstance(value, float):
        return _number(float(value))
    return _foreign_to_json(value, where, depth)


def _foreign_to_json(value: Any, where: str, depth: int) -> Json:
    """Converts arrays and scalars of numerical libraries, and any other real number."""
    if callable(getattr(value, "item", None)):
        try:
            plain = value.item()
        except (ValueError, RuntimeError, TypeError):
            # A value of more than one element is kept as a list, and is not charted.
            plain = value.tolist() if callable(getattr(value, "tolist", None)) else value
        if type(plain) is not type(value):
            return to_json(plain, where, depth + 1)
    # The method must be the type's: classes and modules may have the attribute without being numbers.
    if hasattr(type(value), "__float__"):
        # An object whose __float__ raises, like complex before Python 3.10, is not a number.
        with contextlib.suppress(TypeError, ValueError):
            return _number(float(value))
    raise TypeError(
        f"{where} has the type {type(value).__name__}, which cannot be stored: "
        "report numbers, strings, booleans, None, "
        "and lists or dicts of these"
    )


def _number(value: float) -> int | float | str:
    if math.isfinite(value):
        # Doubles of this size are whole numbers.
        return int(value) if _DIGITS_MIN <= abs(value) < _DIGITS_MAX else value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _large(value: int) -> int | float | str:
    try:
        return _number(float(value))
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"


def _text(value: str, where: str) -> str:
    if "\0" in value:
        raise ValueError(f"{where} contains the character U+0000, which cannot be stored")
    return value


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(
            f"{where} has the key {key!r} of type {type(key).__name__}: keys must be strings"
        )
    return _text(str(key), where)


def name_of(value: object, what: str) -> str:
    """Checks a group's or a metric's name: a string that can be stored, sent and shown."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {type(value).__name__}")
    if not value or len(value) > NAME_CHARACTERS_MAX:
        raise ValueError(
            f"{what} must have 1 to {NAME_CHARACTERS_MAX} characters, not {len(value)}"
        )
    if any(character < " " or character == "\x7f" for character in value):
        raise ValueError(f"{what} {value!r} contains a control character")
    return str(value)


def group_of(value: object) -> str:
    """Checks the name of a group of metrics."""
    name = name_of(value, "group")
    units = len(name) + sum(character > "\uffff" for character in name)
    if units > GROUP_UNITS_MAX:
        raise ValueError(f"group must have 1 to {GROUP_UNITS_MAX} characters, not {units}")
    return name


def steps_of(value: object) -> int | float:
    """Checks a number of steps: finite, from 0 to 2^53. Returns whole numbers as int."""
    if isinstance(value, bool):
        raise TypeError("steps_completed must be a number, not a bool")
    if type(value) is not int:
        value = to_json(value, "steps_completed")
        if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
            raise ValueError(f"steps_completed must be finite, not {value}")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"steps_completed must be a number, not {type(value).__name__}")
    if value < 0 or value > _EXACT_MAX:
        raise ValueError(f"steps_completed must be from 0 to 2^53, not {value}")
    return int(value) if value == int(value) else value


def metrics_of(metrics: object, what: str = "metrics") -> dict[str, Any]:
    """Checks a mapping from names to values and converts it to proto JSON."""
    if not isinstance(metrics, Mapping):
        raise TypeError(
            f"{what} must be a mapping from names to values, not {type(metrics).__name__}"
        )
    return {
        name_of(name, "a metric's name"): to_json(value, f"{what}[{name!r}]", 1)
        for name, value in metrics.items()
    }


def encode(value: object) -> bytes:
    """Encodes a value as one line of JSON. Raises ValueError for text that has no UTF-8 encoding."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8"
        )
    except UnicodeEncodeError as error:
        raise ValueError(
            f"text with the lone surrogate {error.object[error.start]!r} cannot be stored"
        ) from None
