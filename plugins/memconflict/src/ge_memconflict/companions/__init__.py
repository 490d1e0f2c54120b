"""GE's companion passes of the removal of copies: they put protective copies in, and they lint.

Each inserted copy has a clean description and one remark that says why it is there. A graph means
what it computes in its listed order; a copy that would change that is not put in, whatever a rule
says, and then that is remarked.
"""

from __future__ import annotations

from typing import Any, Final

from ge_core.api import ALWAYS, Level, Stage
from ge_memconflict.companions import codes

_HOME: Final = "ge_memconflict.companions"


def register_companions(passes: Any) -> None:
    """Declare the passes at GE's stages and levels."""
    passes.add(
        f"{_HOME}.inner_identity_add:InnerIdentityAddPass",
        levels=ALWAYS,
        stage=Stage.PREPARE,
        codes=codes.INNER_ADD,
        summary="Gives every store into a computed value a copy to store into.",
    )
    passes.add(
        f"{_HOME}.graph_lint:GraphLint",
        levels=ALWAYS,
        stage=Stage.PREPARE,
        after=("InnerIdentityAddPass",),
        codes=codes.LINT,
        summary="Warns of readers and writers of one value that no path of edges orders.",
    )
    # GE runs it in both of its first stages; the later run sees all that the earlier one would.
    passes.add(
        f"{_HOME}.hccl_memcpy:HcclMemcpyPass",
        levels=ALWAYS,
        stage=Stage.OPTIMIZE_STAGE1,
        codes=codes.HCCL,
        summary="Gives collectives copies of inputs that they would destroy and others still need.",
    )
    passes.add(
        f"{_HOME}.inner_identity_delete:InnerIdentityDeletePass",
        levels=ALWAYS,
        stage=Stage.OPTIMIZE_STAGE2,
        codes=codes.INNER_DELETE,
        summary="Removes copies in front of stores where all readers are ordered around the store.",
    )
    passes.add(
        f"{_HOME}.hccl_continuous_memcpy:HcclContinuousMemcpyPass",
        levels=ALWAYS,
        stage=Stage.OPTIMIZE_STAGE2,
        after=("InnerIdentityDeletePass",),
        codes=codes.HCCL_CONTINUOUS,
        summary="Gives packed and peer-memory inputs copies of values that can't lie there.",
    )
    passes.add(
        f"{_HOME}.inplace_support:InplaceSupportCheckPass",
        levels=Level.O3.and_above(),
        stage=Stage.OPTIMIZE_STAGE2,
        after=("HcclContinuousMemcpyPass",),
        counters={"marked": "outputs that may lie where an input lies"},
        summary="Marks outputs that may lie where an input lies that nobody else reads.",
    )
    passes.add(
        f"{_HOME}.subgraph_pass:SubgraphPass",
        levels=ALWAYS,
        stage=Stage.OPTIMIZE_STAGE2,
        after=("InplaceSupportCheckPass",),
        before=("ConcatNotaskPass", "PackNotaskPass", "SplitNotaskPass"),
        codes=codes.SUBGRAPH,
        summary="Copies values at the ends of calls and loops where callers need other memory.",
    )
