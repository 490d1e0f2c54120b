"""A plugin for a later release of API 1, written so that it loads on this kernel too.

The hooks that the later release adds are marked optional, names it adds are asked for softly, and
implementations leave out arguments that they don't need.
"""

import ge_core.api
from ge_core.api import Level, NodePass, Stage, hookimpl

Scheduler = getattr(ge_core.api, "Scheduler", None)


class KeepOrder(NodePass):
    """Looks at every Relu and changes nothing."""

    def visit(self, node, ctx):
        """Nothing."""


@hookimpl
def ge_register_passes(passes):
    """A hook of API 1.0."""
    passes.add(KeepOrder, levels=Level.O1.and_above(), stage=Stage.OPTIMIZE_STAGE1)


@hookimpl
def ge_after_pass(changed):
    """An instrument that takes one of its three arguments."""
    assert changed in (True, False)


@hookimpl(optionalhook=True)
def ge_register_schedulers(schedulers, limits):
    """A hook that this kernel doesn't know."""
    raise AssertionError("no kernel of today calls this")
