"""R4: the copy's readers must be able to stand where the copy stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ge_core.api import InputAnchor, InputKind, Keep, OutputAnchor, OutputKind
from ge_tensormove.candidate import Candidate

_NEVER_SCRATCH: Final = frozenset(
    {OutputKind.READ_ONLY_CONST, OutputKind.WRITEABLE, OutputKind.INVALID}
)
"""Memory that is not its readers' to use up, however few they are."""


class ReadWrite:
    """Keeps copies that the read/write checker would put back.

    Asked for the direct producer and, other than in GE, for the traced source: a view between the
    two doesn't make a graph input anybody's scratch memory. Where the source is a constant or
    updated in place, what overwrites the copy further down, behind a merge say, is asked about too;
    a graph input has been declared reusable where this is asked, and only its direct readers count.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        checker = copy.ctx.read_write
        if checker is None:
            return Keep("R4_NO_CHECKER")
        source = copy.origin.output
        for output in dict.fromkeys((copy.feed, source)):
            kind = copy.run.effects.output_kind(output)
            for reader_kind, reader in _direct_kinds(copy):
                if checker.conflict(kind, reader_kind):
                    return _keep("R4_CONFLICT", output, kind, reader, reader_kind)
        kind = copy.run.effects.output_kind(source)
        if kind not in _NEVER_SCRATCH or not copy.copy.outputs or copy.run.is_data(source.node):
            return None
        for writer in copy.hidden_writers():
            if not isinstance(writer, InputAnchor):
                continue
            reader_kind = copy.run.effects.plain_kind(writer)
            if checker.conflict(kind, reader_kind):
                return _keep("R4_BEHIND_VIEW", source, kind, writer, reader_kind)
        return None


def _direct_kinds(copy: Candidate) -> Iterator[tuple[InputKind, InputAnchor]]:
    """Each kind of direct reader once, with a reader of that kind."""
    for kind, readers in copy.successors.kinds.items():
        for reader in readers:
            yield kind, reader
            break
    for reader in copy.successors.wrappers:
        yield copy.run.effects.input_kind(reader), reader


def _keep(
    code: str, output: OutputAnchor, kind: OutputKind, reader: InputAnchor, reader_kind: InputKind
) -> Keep:
    if kind is OutputKind.INVALID or reader_kind is InputKind.INVALID:
        code = "R4_UNKNOWN"
    fields = {
        "output": str(output),
        "output_kind": kind.value,
        "reader": str(reader),
        "reader_kind": reader_kind.value,
    }
    return Keep(code, blame=[output, reader], fields=fields)
