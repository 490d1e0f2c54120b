"""Names in a pass's declaration that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable

from ge_core.errors import GeError, PluginError, near_matches
from ge_core.ops import KINDS
from ge_core.passes.registry import PassDeclaration
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.session.scheduling import schedule_for


def unknown_name(
    kernel: Kernel, declaration: PassDeclaration, request: CompileRequest, ops: Iterable[str]
) -> str:
    """What is wrong with the first name in `requires`, `preserves`, ... or `handles`; else empty.

    Args:
        request: a compile that has the pass.
        ops: op types that may be handled besides declared ones.
    """
    try:
        schedule_for(kernel, request)
    except PluginError as error:
        return str(error)
    except GeError:
        # An option's value, say, which a compile says better.
        pass
    known = dict.fromkeys((*KINDS, *(traits.op for _, traits in kernel.ops), *ops))
    for name in declaration.handles:
        if name not in known:
            near = near_matches(name, known)
            return "\n  ".join(
                [
                    f"pass {declaration.name!r} handles {name!r}, which is neither a kind of ops"
                    " nor an op type that anybody declared",
                    *([f"near: {', '.join(near)}"] if near else []),
                    f"owner: {declaration.owner}",
                    f"kinds: {', '.join(KINDS)}",
                ]
            )
    return ""
