"""`TensorDesc`: what is known of a tensor. Immutable and interned: many anchors share few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from types import MappingProxyType
from typing import Any, Final

from ge_core.ir.dtypes import bits, canonical

Shape = tuple[int, ...]
"""Dimensions, -1 for one that is not known."""

UNKNOWN_DIM: Final = -1
_NO_ATTRS: Final[Mapping[str, Any]] = MappingProxyType({})


class TensorDesc:
    """Dtype, shape, format and memory facts of one tensor.

    Attributes:
        dtype: numpy or ml_dtypes name, `string` or `undefined`.
        shape: runtime shape in elements; a dimension of -1 is unknown, None is an unknown rank.
        format: runtime layout ("ND", "NCHW", "NC1HWC0", ...).
        origin_shape, origin_format: before format transfer; default to the runtime ones.
        mem_type: "HBM" by default, "L1", "L2", "UB", "P2P", "HOST", "TS".
        size: bytes of storage where they differ from dtype x shape.
        reuse_input: index of the input whose memory this output shares (a RefOp).
        attrs: further facts by GE's attribute names; read-only.
    """

    __slots__ = (
        "_data_bytes",
        "attrs",
        "dtype",
        "format",
        "mem_type",
        "origin_format",
        "origin_shape",
        "reuse_input",
        "shape",
        "size",
    )

    dtype: str
    shape: Shape | None
    format: str
    origin_shape: Shape | None
    origin_format: str
    mem_type: str
    size: int | None
    reuse_input: int | None
    attrs: Mapping[str, Any]
    _data_bytes: int | None

    def __init__(self) -> None:
        raise TypeError("descriptions are interned: use TensorDesc.make(...) or desc.replace(...)")

    @staticmethod
    def make(
        dtype: str = "float32",
        shape: Iterable[int] | None = (1, 16),
        format: str = "ND",
        *,
        origin_shape: Iterable[int] | None = None,
        origin_format: str | None = None,
        mem_type: str = "HBM",
        size: int | None = None,
        reuse_input: int | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> TensorDesc:
        """The one description with these facts. Raises `InputFileError` for an unknown dtype."""
        shape = None if shape is None else tuple(shape)
        origin = shape if origin_shape is None else tuple(origin_shape)
        key = (
            canonical(dtype),
            shape,
            format,
            origin,
            format if origin_format is None else origin_format,
            mem_type,
            size,
            reuse_input,
            freeze(attrs) if attrs else None,
        )
        found = _INTERNED.get(key)
        if found is not None:
            return found
        desc = object.__new__(TensorDesc)
        (
            desc.dtype,
            desc.shape,
            desc.format,
            desc.origin_shape,
            desc.origin_format,
            desc.mem_type,
            desc.size,
            desc.reuse_input,
            _,
        ) = key
        desc.attrs = MappingProxyType(dict(attrs)) if attrs else _NO_ATTRS
        desc._data_bytes = _data_bytes(desc.dtype, shape)
        return _INTERNED.setdefault(key, desc)

    def replace(self, **changes: Any) -> TensorDesc:
        """This description with some facts changed.

        A new shape or format is also the new origin where the origin equalled the old one.
        """
        facts: dict[str, Any] = {name: getattr(self, name) for name in _FACTS}
        if "shape" in changes and "origin_shape" not in changes and self.origin_shape == self.shape:
            facts["origin_shape"] = changes["shape"]
        if (
            "format" in changes
            and "origin_format" not in changes
            and self.origin_format == self.format
        ):
            facts["origin_format"] = changes["format"]
        facts.update(changes)
        return TensorDesc.make(**facts)

    def with_attr(self, name: str, value: Any) -> TensorDesc:
        """This description with one attribute set."""
        return self.replace(attrs={**self.attrs, name: value})

    def without_attr(self, name: str) -> TensorDesc:
        """This description with one attribute gone."""
        return self.replace(attrs={k: v for k, v in self.attrs.items() if k != name})

    @property
    def is_static(self) -> bool:
        """Whether every dimension is known."""
        return self.shape is not None and all(dim >= 0 for dim in self.shape)

    @property
    def elements(self) -> int | None:
        """Number of elements; None when a dimension or the rank is unknown."""
        return prod(self.shape) if self.shape is not None and self.is_static else None

    @property
    def data_bytes(self) -> int | None:
        """Bytes of dtype x shape, sub-byte types packed; None when not static or widthless."""
        return self._data_bytes

    @property
    def nbytes(self) -> int | None:
        """Bytes of storage: `size` where given, else `data_bytes`; None can't be planned."""
        return self._data_bytes if self.size is None else self.size

    def __repr__(self) -> str:
        dims = "?" if self.shape is None else "x".join("?" if d < 0 else str(d) for d in self.shape)
        extra = "" if self.format == "ND" else f":{self.format}"
        return f"{self.dtype}[{dims}]{extra}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (
            {name: getattr(self, name) for name in _FACTS if name != "attrs"},
            dict(self.attrs),
        )


def freeze(value: Any) -> Any:
    """A hashable stand-in for a JSON-like value; tells 1, 1.0 and True apart."""
    if isinstance(value, Mapping):
        return ("{", *((key, freeze(value[key])) for key in sorted(value)))
    if isinstance(value, (list, tuple)):
        return ("[", *(freeze(item) for item in value))
    return (type(value).__name__, value)


def _data_bytes(dtype: str, shape: Shape | None) -> int | None:
    width = bits(dtype)
    if shape is None or width is None or any(dim < 0 for dim in shape):
        return None
    return (prod(shape) * width + 7) // 8


def _remake(facts: dict[str, Any], attrs: dict[str, Any]) -> TensorDesc:
    return TensorDesc.make(attrs=attrs, **facts)


_FACTS: Final = (
    "dtype",
    "shape",
    "format",
    "origin_shape",
    "origin_format",
    "mem_type",
    "size",
    "reuse_input",
    "attrs",
)
_INTERNED: Final[dict[tuple[Any, ...], TensorDesc]] = {}
