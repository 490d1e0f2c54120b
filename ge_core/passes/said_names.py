"""Names in what passes say that name nothing: a misspelt one would never have an effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from ge_core.errors import GeError, near_matches
from ge_core.ops import OpRegistry
from ge_core.passes.checks import SUBJECT_KINDS
from ge_core.passes.misspelled import SAME_WORD
from ge_core.passes.options import OptionRegistry
from ge_core.passes.pass_options import describe_options
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.remarks import Remark


def unknown_handles(
    declarations: Iterable[PassDeclaration], ops: OpRegistry, present: Iterable[str]
) -> Iterator[str]:
    """Warnings about `handles=` names that are neither a kind that must be explained nor an op.

    An op type that nobody declares is an ordinary one, so it is only doubted where it isn't
    written like one, or is nearly another.

    Args:
        present: op types of the graph, which are right whoever declares them.
    """
    known = dict.fromkeys([*SUBJECT_KINDS, *(traits.op for _, traits in ops), *sorted(present)])
    for declaration in declarations:
        for name in declaration.handles:
            # Case counts: an op Join is not the kind join.
            near = () if name in known else get_close_matches(name, known, 1, SAME_WORD)
            if near or (name not in known and not name[:1].isupper()):
                meant = near[0] if near else " or ".join(SUBJECT_KINDS)
                yield (
                    f"pass {declaration.name} ({declaration.owner}) says handles {name}, which is"
                    f" no kind of copy and no op type: is {meant} meant?"
                )


def unknown_hints(
    remarks: Iterable[Remark],
    options: OptionRegistry,
    declarations: Mapping[str, PassDeclaration],
) -> Iterator[str]:
    """Warnings about hints to set an option that nobody has; one for each pass and option."""
    doubted: set[tuple[str, str]] = set()
    for remark in remarks:
        if remark.hint is None or remark.hint.kind != "set":
            continue
        name = remark.hint.value.partition("=")[0].strip()
        if (remark.pass_name, name) in doubted or options.current(name)[0] in options:
            continue
        doubted.add((remark.pass_name, name))
        fields = _fields_of(name, declarations)
        if name not in fields:
            near = near_matches(name, [*fields, *options.names()], 1)
            meant = f": is {near[0]} meant?" if near else ""
            yield (
                f"pass {remark.pass_name} ({remark.owner}) hints at setting {name},"
                f" which is no option{meant}"
            )


def _fields_of(name: str, declarations: Mapping[str, PassDeclaration]) -> list[str]:
    """The options of the pass that a name starts with; none where it can't be loaded."""
    declaration = declarations.get(name.rpartition(".")[0])
    if declaration is None:
        return []
    try:
        return [f"{declaration.name}.{option.name}" for option in describe_options(declaration)]
    except GeError:
        return []
