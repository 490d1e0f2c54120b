"""Read/write matrix, anchor types and layout checkers: what memories may not be shared."""

from typing import Any

from ge_core.api import hookimpl
from ge_memconflict.anchor_types import register_anchor_types
from ge_memconflict.checkers import register_checkers
from ge_memconflict.companions import register_companions
from ge_memconflict.layout import register_layout_passes
from ge_memconflict.readwrite import register_passes as register_read_write_passes


@hookimpl
def ge_register_passes(passes: Any) -> None:
    """Declare the passes."""
    register_companions(passes)
    register_read_write_passes(passes)
    register_layout_passes(passes)


@hookimpl
def ge_register_anchor_types(types: Any) -> None:
    """Declare GE's anchor types."""
    register_anchor_types(types)


@hookimpl
def ge_register_conflict_checkers(checkers: Any) -> None:
    """Declare the layout rules and the read/write checker."""
    register_checkers(checkers)
    checkers.read_write("ge_memconflict.matrix:ReadWriteMatrix")
