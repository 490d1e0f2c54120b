"""The last word on copies that no pass spoke about: the kernel's own two codes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ge_core.ir import Node
from ge_core.passes.checks import subjects_of
from ge_core.passes.codes import Code
from ge_core.passes.copied import copied_bytes, is_write_back
from ge_core.passes.environment import Environment
from ge_core.passes.levels import Level
from ge_core.passes.planning import Schedule
from ge_core.passes.precedence import LEVEL, Because
from ge_core.passes.registry import PassDeclaration
from ge_core.passes.remarks import Hint, Remark, RemarkKind
from ge_core.passes.vetoes import VETO

KERNEL = "ge_core"
"""The pass that remarks of the kernel itself name."""

PASS_OFF = Code("PASS_OFF", "pass {pass_name} is off ({why})", "switch", giver=KERNEL)
NO_RULE_AT_LEVEL = Code(
    "NO_RULE_AT_LEVEL",
    "no pass that runs at level {level} has a rule for it",
    "level",
    giver=KERNEL,
)
KERNEL_CODES = (PASS_OFF, NO_RULE_AT_LEVEL)


def close_remarks(env: Environment, schedule: Schedule, originals: Iterable[Node]) -> None:
    """Give every move, join, pack, split and slice that has no final remark its last word.

    So it does with write-backs of the model that nobody has said anything of: they are counted.

    Args:
        originals: those of the graph before any pass ran; they may be gone by now.
    """
    nodes = {node.name: node for node in originals}
    for node in subjects_of(env):
        nodes.setdefault(node.name, node)
    silent = {name: node for name, node in nodes.items() if env.remarks.final(name) is None}
    represented: dict[str, Node] = {}
    if any(env.root.find(name) is None for name in silent):
        # Only then somebody else may stand for one: looking costs a walk over all nodes.
        represented = {name: node for node in env.root.all_nodes() for name in node.origin}
    told = {remark.node for remark in env.remarks} | silent.keys()
    for node in env.root.all_nodes():
        if is_write_back(node, env.ops) and node.origin and node.name not in told:
            silent[node.name] = node
    for name, node in silent.items():
        standing = represented.get(name)
        final = None if standing is None else env.remarks.final(standing.name)
        if final is not None:
            env.remarks.add(replace(final, node=name, op=node.op))
        else:
            env.remarks.add(_last_word(env, schedule, node))


def _last_word(env: Environment, schedule: Schedule, node: Node) -> Remark:
    kind = env.ops.of(node.op, env.root.source).kind
    about = (kind, node.op)
    handling = [d for d in schedule.declarations if any(name in about for name in d.handles)]
    for declaration in handling:
        why = _why_off(schedule, declaration)
        if why is not None:
            hint = Hint("text", _way_on(why, declaration.name))
            fields = {"pass_name": declaration.name, "why": f"{why.source}: {why.value}"}
            return _remark(env, node, PASS_OFF, fields, hint, declaration)
    level = _first_level(handling, schedule)
    hint_up = None if level is None else Hint("set", f"{LEVEL}={level}")
    fields = {"level": schedule.level.name}
    return _remark(env, node, NO_RULE_AT_LEVEL, fields, hint_up, None)


def _why_off(schedule: Schedule, declaration: PassDeclaration) -> Because | None:
    """The rule that switched a pass off, unless it was the level."""
    decision = schedule.decisions[declaration.name]
    if decision.runs or decision.because[0].rule == "level":
        return None
    return decision.because[0]


def _way_on(why: Because, name: str) -> str:
    """What would have the pass run."""
    return f"run without {why.source}" if why.rule == VETO else f"--enable {name}"


def _first_level(handling: Iterable[PassDeclaration], schedule: Schedule) -> Level | None:
    off = [d for d in handling if not schedule.decisions[d.name].runs]
    return next((level for level in Level if any(level in d.levels for d in off)), None)


def _remark(
    env: Environment,
    node: Node,
    code: Code,
    fields: dict[str, str],
    hint: Hint | None,
    declaration: PassDeclaration | None,
) -> Remark:
    return Remark(
        kind=RemarkKind.MISSED,
        pass_name=KERNEL if declaration is None else declaration.name,
        owner=str(env.kernel) if declaration is None else str(declaration.owner),
        graph=env.root.name if node.graph is None else node.graph.name,
        node=node.name,
        op=node.op,
        code=code.name,
        reason=code.text.format(**fields),
        bytes=copied_bytes(node, env.ops),
        hint=hint,
        rule=code.rule,
        data=fields,
    )
