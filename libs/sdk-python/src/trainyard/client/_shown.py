"""Shows objects of the API: as one line in a terminal, and as an HTML table in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from html import escape
from typing import Any, ClassVar, TypeVar, overload

from ._progress import duration_text, left_text, percent_text

# A notebook or a terminal shows at most this many rows of a list.
ROWS_SHOWN_MAX = 60
# A longer value is cut in a table: hyperparameters may have thousands of characters.
CELL_CHARACTERS_MAX = 120


class Shown:
    """An object of the API. ``as_json`` returns the platform's own object."""

    # The attributes that a line and a table show, in this order.
    _shown: ClassVar[tuple[str, ...]] = ()
    # The attributes that the object alone shows, too, if they are not empty.
    _shown_alone: ClassVar[tuple[str, ...]] = ()

    def __init__(self, message: Mapping[str, Any]) -> None:
        self._message = message

    def as_json(self) -> dict[str, Any]:
        """Returns the platform's JSON object, as ``-o json`` of the command line prints it."""
        return dict(self._message)

    def __repr__(self) -> str:
        names = (*self._shown, *self._shown_alone)
        known = ((name, getattr(self, name)) for name in names)
        fields = (
            f"{name}={_shortly(value)}" for name, value in known if value not in ("", None, {}, [])
        )
        return f"{type(self).__name__}({', '.join(fields)})"

    def _repr_html_(self) -> str:
        alone = [name for name in self._shown_alone if getattr(self, name)]
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(cell(name, getattr(self, name)))}</td></tr>"
            for name in (*self._shown, *alone)
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"

    def cells(self) -> dict[str, str]:
        """Returns the texts of the object's row in a table, by column."""
        return {name: cell(name, getattr(self, name)) for name in self._shown}


Item = TypeVar("Item", bound=Shown)


class Listing(Sequence[Item]):
    """The objects of a list. The pages are requested when their objects are needed, and kept: ``list(…)``,
    ``len(…)`` and a negative index request all of them. A notebook shows the first rows as a table.
    """

    def __init__(self, source: Iterator[Item]) -> None:
        self._source = source
        self._read: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        index = 0
        while self._has(index + 1):
            yield self._read[index]
            index += 1

    def __len__(self) -> int:
        self._read.extend(self._source)
        return len(self._read)

    def __bool__(self) -> bool:
        return self._has(1)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, int) and index >= 0:
            self._has(index + 1)
        else:
            len(self)
        return self._read[index]

    def __repr__(self) -> str:
        titles, rows, more = self._table()
        if not rows:
            return "(none)"
        widths = [max(len(row[at]) for row in [titles, *rows]) for at in range(len(titles))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
            for row in [titles, *rows]
        ]
        return "\n".join([*lines, "…"] if more else lines)

    def _repr_html_(self) -> str:
        titles, rows, more = self._table()
        if not rows:
            return "<p>(none)</p>"
        head = "".join(f"<th>{escape(title)}</th>" for title in titles)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
        )
        end = "<p>…</p>" if more else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{end}"

    def _table(self) -> tuple[list[str], list[list[str]], bool]:
        """Returns the titles, the rows that are shown, and whether there are more."""
        more = self._has(ROWS_SHOWN_MAX + 1)
        cells = [item.cells() for item in self._read[:ROWS_SHOWN_MAX]]
        return (list(cells[0]) if cells else []), [list(row.values()) for row in cells], more

    def _has(self, count: int) -> bool:
        while len(self._read) < count:
            try:
                self._read.append(next(self._source))
            except StopIteration:
                return False
        return True


def cell(name: str, value: Any) -> str:
    """Returns a value as the text of a cell. Times are in UTC, durations in units, and numbers have six significant
    digits. Control characters are escaped: a name may have any characters.
    """
    if value is None:
        text = ""
    elif name.endswith("_ms"):
        text = datetime.fromtimestamp(value / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    elif name == "progress":
        text = percent_text(value)
    elif name == "left_s":
        text = f"about {left_text(value)}"
    elif name.endswith("_s"):
        text = duration_text(value)
    elif isinstance(value, float):
        text = f"{value:.6g}"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}={cell(str(key), one)}" for key, one in value.items())
    elif isinstance(value, (list, tuple)):
        text = ", ".join(cell("", one) for one in value)
    else:
        text = str(value)
    text = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
    return text if len(text) <= CELL_CHARACTERS_MAX else f"{text[: CELL_CHARACTERS_MAX - 1]}…"


def _shortly(value: Any) -> str:
    """Returns the ``repr`` of a value, of a number with a fraction with six significant digits."""
    if not isinstance(value, float):
        return repr(value)
    return str(int(value)) if value.is_integer() else f"{value:.6g}"


def text_of(message: Mapping[str, Any], name: str) -> str:
    """Returns a text of proto JSON, which leaves out empty ones."""
    return str(message.get(name) or "")


def time_of(message: Mapping[str, Any], name: str) -> float | None:
    """Returns a time in milliseconds since 1970; None if it is absent."""
    value = message.get(name)
    return None if value is None else float(value)
