"""HTML of results, for notebooks. Pages need neither scripts nor widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

# rows of a table that are shown; a longer one says how many there are
_MOST = 25

_STYLE = (
    "border-collapse:collapse;font-size:13px;margin:6px 0"
)
_CELL = "padding:2px 10px;border-bottom:1px solid rgba(128,128,128,.3)"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], total: int | None = None) -> str:
    """Returns a table; numbers are aligned to the right."""
    shown = [list(row) for row in rows]
    count = len(shown) if total is None else total
    head = "".join(f'<th style="{_CELL};text-align:left">{escape(column)}</th>' for column in columns)
    body = []
    for row in shown[:_MOST]:
        cells = "".join(f'<td style="{_CELL};text-align:{_align(value)}">{_cell(value)}</td>' for value in row)
        body.append(f"<tr>{cells}</tr>")
    more = f"<p>{count - _MOST:,} more rows</p>" if count > _MOST else ""
    return f'<table style="{_STYLE}"><tr>{head}</tr>{"".join(body)}</table>{more}'


def of_record(data: Mapping[str, Any], title: str) -> str:
    """Returns the fields of a record as a table."""
    rows = [(name, _cell(_summary(value))) for name, value in data.items()]
    # numbers stand beside their names, since the column has words, too
    body = "".join(f'<tr><td style="{_CELL};text-align:left">{escape(name)}</td><td style="{_CELL};text-align:left">{value}</td></tr>' for name, value in rows)
    return f'<b>{escape(title)}</b><table style="{_STYLE}">{body}</table>'


def of_rows(rows: Sequence[Any]) -> str:
    """Returns a list of records as a table with a column for each plain field."""
    columns: list[str] = []
    for row in rows[:_MOST]:
        columns += [name for name, value in row.items() if name not in columns and not isinstance(value, (list, dict))]
    return table(columns, [[row.get(column) for column in columns] for row in rows[:_MOST]], len(rows))


def bars(title: str, values: Mapping[str, int], total: int) -> str:
    """Returns shares of a total as horizontal bars, the largest first."""
    rows = []
    for name, value in sorted(values.items(), key=lambda pair: -pair[1]):
        share = value / total if total else 0.0
        bar = f'<div style="background:#4878a8;height:10px;width:{max(1, round(300 * share))}px"></div>'
        rows.append(
            f'<tr><td style="{_CELL}">{escape(name)}</td><td style="{_CELL};text-align:right">{value:,}</td>'
            f'<td style="{_CELL};text-align:right">{100 * share:.1f} %</td><td style="{_CELL}">{bar}</td></tr>'
        )
    return f'<b>{escape(title)}</b><table style="{_STYLE}">{"".join(rows)}</table>'


class Page:
    """A page of HTML, which notebooks show in a frame."""

    def __init__(self, html: str, height: int = 620) -> None:
        self.html = html
        """The page."""
        self.height = height

    def save(self, path: str) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        # the whole page is inside the attribute, so that it needs no server and no file
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" style="width:100%;height:{self.height}px;border:0" '
            'sandbox="allow-scripts allow-downloads"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Page of {len(self.html):,} characters; save(path) writes it>"


class Picture:
    """A picture in SVG."""

    def __init__(self, svg: str) -> None:
        self.svg = svg
        """The picture."""

    def save(self, path: str) -> None:
        """Writes the picture to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture of {len(self.svg):,} characters; save(path) writes it>"


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
