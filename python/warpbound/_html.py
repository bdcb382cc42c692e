"""HTML of results, for notebooks. Pages need neither scripts nor widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

# rows of a table that are shown; a longer one says how many there are
_MOST = 25

_STYLE = "border-collapse:collapse;font-size:13px;margin:6px 0"
_CELL = "padding:2px 10px;border-bottom:1px solid rgba(128,128,128,.3)"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """Returns a table; numbers are aligned to the right."""
    shown = [list(row) for row in rows]
    count = len(shown) if total is None else total
    head = "".join(f'<th style="{_CELL};text-align:left">{escape(column)}</th>' for column in columns)
    body = [_row((_align(value), _cell(value)) for value in row) for row in shown[:_MOST]]
    more = f"<p>{count - _MOST:,} more rows</p>" if count > _MOST else ""
    return f'<table style="{_STYLE}"><tr>{head}</tr>{"".join(body)}</table>{more}'


def of_record(data: Mapping[str, Any], title: str) -> str:
    """Returns the fields of a record as a table."""
    # numbers stand beside their names, since the column has words, too
    rows = [_row([("left", escape(name)), ("left", _cell(_summary(value)))]) for name, value in data.items()]
    return f'<b>{escape(title)}</b><table style="{_STYLE}">{"".join(rows)}</table>'


def of_rows(rows: Sequence[Any], columns: Sequence[str] | None = None) -> str:
    """Returns a list of records as a table with these columns, or with one for each plain field."""
    if columns is None:
        plain = [name for row in rows[:_MOST] for name, value in row.items() if not isinstance(value, (list, dict))]
        columns = list(dict.fromkeys(plain))
    return table(columns, [[row.get(column) for column in columns] for row in rows[:_MOST]], len(rows))


def _row(cells: Iterable[tuple[str, str]]) -> str:
    """Returns a row of cells, each with its alignment and its HTML."""
    shown = (f'<td style="{_CELL};text-align:{align}">{cell}</td>' for align, cell in cells)
    return f"<tr>{''.join(shown)}</tr>"


def bars(title: str, values: Mapping[str, int], total: int) -> str:
    """Returns shares of a total as horizontal bars, the largest first."""
    rows = []
    for name, value in sorted(values.items(), key=lambda pair: -pair[1]):
        share = value / total if total else 0.0
        bar = f'<div style="background:#4878a8;height:10px;width:{max(1, round(300 * share))}px"></div>'
        rows.append(_row([("left", escape(name)), ("right", f"{value:,}"), ("right", f"{100 * share:.1f} %"), ("left", bar)]))
    return f'<b>{escape(title)}</b><table style="{_STYLE}">{"".join(rows)}</table>'


class _Document:
    """A text that can be shown and written to a file."""

    def __init__(self, text: str) -> None:
        self._text = text

    def save(self, path: str) -> None:
        """Writes it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._text):,} characters; save(path) writes it>"


class Page(_Document):
    """A page of HTML, which notebooks show in a frame."""

    def __init__(self, html: str, height: int = 620) -> None:
        super().__init__(html)
        self.html = html
        """The page."""
        self.height = height

    def _repr_html_(self) -> str:
        # the whole page is inside the attribute, so that it needs no server and no file
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" style="width:100%;height:{self.height}px;border:0" '
            'sandbox="allow-scripts allow-downloads"></iframe>'
        )


class Picture(_Document):
    """A picture in SVG."""

    def __init__(self, svg: str) -> None:
        super().__init__(svg)
        self.svg = svg
        """The picture."""

    def _repr_svg_(self) -> str:
        return self.svg


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return escape(str(value))


def _align(value: Any) -> str:
    return "right" if isinstance(value, (int, float)) and not isinstance(value, bool) else "left"


def _summary(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(map(str, value)) if all(isinstance(v, (str, int)) for v in value[:9]) else f"{len(value)} objects"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_cell(inner)}" for name, inner in value.items() if not isinstance(inner, (list, dict)))
    return value
