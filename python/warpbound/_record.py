"""Objects of JSON, with the names of the JSON as attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, Union, overload

from . import _html

R = TypeVar("R")

# what an object is called by, the most specific first
_NAMES = ("name", "bound", "kernel", "policy", "part", "reason", "unit", "machine", "class", "op")


class Record:
    """An object of the JSON that a command prints.

    Its fields are attributes; a field that the output leaves out is `None`.
    """

    _nested: ClassVar[dict[str, str]] = {}
    _classes: ClassVar[dict[str, type[Record]]] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            # copies and pickles ask for such names before there is any data
            raise AttributeError(name)
        if name in self._data:
            return self._wrapped(name)
        if name in _annotations(type(self)):
            return None
        near = _closest(name, self._data)
        hint = f"; did you mean `{near}`?" if near else f"; it has {', '.join(self._data)}"
        raise AttributeError(f"{type(self).__name__} has no field `{name}`{hint}", name=name, obj=self)

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError as error:
            raise KeyError(str(error)) from None

    def _wrapped(self, name: str) -> Any:
        kind = self._classes.get(self._nested.get(name, ""))
        return _wrap(self._data[name], kind) if kind else self._data[name]

    def __contains__(self, name: object) -> bool:
        return name in self._data

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *(name for name in self._data if name.isidentifier())]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON as plain dictionaries, lists and values."""
        return _plain(self._data)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self._data.items())
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        return _html.of_record(self._data, type(self).__name__)


class Rows(Sequence[R], Generic[R]):
    """A list of objects, which can also be accessed by their names."""

    def __init__(self, data: Sequence[Mapping[str, Any]], kind: type[Record] = Record) -> None:
        self._data = data
        self._kind = kind

    @overload
    def __getitem__(self, which: Union[int, str]) -> R: ...
    @overload
    def __getitem__(self, which: slice) -> Rows[R]: ...
    def __getitem__(self, which: Union[int, str, slice]) -> Any:
        if isinstance(which, slice):
            return Rows(self._data[which], self._kind)
        if isinstance(which, str):
            for row in self._data:
                if self._called(row) == which:
                    return _wrap(row, self._kind)
            raise KeyError(f"`{which}`; there are {', '.join(self.names()) or 'none'}")
        return _wrap(self._data[which], self._kind)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[R]:
        return (_wrap(row, self._kind) for row in self._data)

    def __contains__(self, name: object) -> bool:
        return name in self.names() if isinstance(name, str) else name in list(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and list(self._data) == list(other._data)

    __hash__ = None  # type: ignore[assignment]

    def _called(self, row: Any) -> Any:
        return next((row[name] for name in _NAMES if isinstance(row, Mapping) and name in row), None)

    def names(self) -> list[str]:
        """Returns the names of the objects."""
        return [str(self._called(row)) for row in self._data]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns the objects as plain dictionaries."""
        return [_plain(row) for row in self._data]

    def to_pandas(self) -> Any:
        """Returns a table of pandas."""
        import pandas

        return pandas.json_normalize(self.to_dicts())

    def to_polars(self) -> Any:
        """Returns a table of polars."""
        import polars

        return polars.DataFrame(self.to_dicts(), infer_schema_length=None)

    def __repr__(self) -> str:
        return f"[{', '.join(repr(row) for row in self)}]"

    def _repr_html_(self) -> str:
        return _html.of_rows(self._data)


def _wrap(value: Any, kind: type[Record]) -> Any:
    if isinstance(value, list):
        return Rows(value, kind)
    if isinstance(value, Mapping):
        return kind(value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def _annotations(kind: type) -> set[str]:
    found: set[str] = set()
    for base in kind.__mro__:
        found.update(getattr(base, "__annotations__", {}))
    return found


def _closest(name: str, names: Iterable[str]) -> str | None:
    import difflib

    return next(iter(difflib.get_close_matches(name, list(names), 1)), None)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"[{len(value)}]" if value else "[]"
    if isinstance(value, Mapping):
        return "{..}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
