"""The pages about rules and checkers: what each protects, an example that trips it, and GE.

Everything is said once: rules and checkers in their docstrings, reasons with their codes, examples
as case files of their plugin, differences to GE in one table.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ge_core.api import InputKind, OutputKind
from ge_core.memory.checkers import PairRule
from ge_core.passes.codes import Code
from ge_core.passes.registry import PassDeclaration
from ge_tensormove.rules import CHAIN
from scripts.markdown import anchor, code, page, table
from scripts.registry_pages import levels, registries
from scripts.rule_examples import MATRIX, TRACES, all_examples, examples, named_examples, shown

DIFFERENCES: Final = Path(__file__).with_name("ge_differences.toml")
DELETE: Final = "TensorMoveDeletePass"
LAYOUT: Final = "MemLayoutConflictOptimizer"
READ_WRITE: Final = ("HandleMemoryRWConflict", "CheckRWConflict")
EXACT: Final = ("TensorMoveCoalescePass", "WriteBackRemovePass")
PACKAGES: Final = ("graph-engine-tensormove", "graph-engine-memconflict")
RULES: Final = {
    "R0": "marks",
    "R1": "where the value comes from",
    "R2": "the caller's memory",
    "R3": "others on the same memory",
    "R4": "reading and writing",
    "R5": "layout",
}
_KIND: Final = re.compile(r'^    \w+ = "(\w+)"\n(?:    """(.*?)""")?', re.MULTILINE | re.DOTALL)
SURROUNDINGS: Final = "it depends on what surrounds a compile"
BOUND: Final = "no small graph reaches the bound"
RARE: Final = "no small graph is known that ends with it"
UNTOLD: Final = {
    (DELETE, "REMOVAL_FAILED"): RARE,
    (DELETE, "RAISES_PEAK"): SURROUNDINGS,
    (DELETE, "R4_NO_CHECKER"): SURROUNDINGS,
    (DELETE, "R5_NO_CHECKERS"): SURROUNDINGS,
    (READ_WRITE[0], "ISOLATES_BY_CHECKER"): "it takes a plugin's checker",
    (LAYOUT, "CLASH"): "it takes a plugin's rule",
    ("HcclContinuousMemcpyPass", "SEARCH_LIMIT"): BOUND,
    ("HcclMemcpyPass", "SEARCH_LIMIT"): BOUND,
    ("HcclMemcpyPass", "COPY_WOULD_HIDE_A_STORE"): RARE,
    ("InnerIdentityAddPass", "SEARCH_LIMIT"): BOUND,
    ("InnerIdentityDeletePass", "SEARCH_LIMIT"): BOUND,
    ("SubgraphPass", "SEARCH_LIMIT"): BOUND,
    (EXACT[0], "O4_REMOVAL_FAILED"): RARE,
    (EXACT[0], "O4_RAISES_PEAK"): SURROUNDINGS,
    (EXACT[0], "O4_NO_CHECKERS"): SURROUNDINGS,
    (EXACT[0], "O4_TOO_MANY_RUNS"): "it takes calls of calls, many deep",
    (EXACT[1], "W_RAISES_PEAK"): SURROUNDINGS,
}
"""Codes without an example, and why."""


def pages() -> dict[str, str]:
    """Every page of this subject by its file's name."""
    return {
        "rules.md": _overview(),
        "rules-removal.md": _removal(),
        "rules-read-write.md": _read_write(),
        "rules-layout.md": _layout(),
        "rules-companions.md": _companions(),
        "rules-exact.md": _exact(),
        "ge-differences.md": _differences(),
    }


# ---- overview ------------------------------------------------------------------------------------


def declared() -> list[PassDeclaration]:
    """The passes about copies, in running order."""
    found = [d for d in registries().passes if d.owner.distribution in PACKAGES]
    return sorted(found, key=lambda d: (d.place.rank, d.name))


def page_of(name: str) -> str:
    """The page that tells a pass's rules."""
    if name == DELETE:
        return "rules-removal.md"
    if name in READ_WRITE:
        return "rules-read-write.md"
    if name == LAYOUT:
        return "rules-layout.md"
    return "rules-exact.md" if name in EXACT else "rules-companions.md"


def _overview() -> str:
    rows = (
        [
            code(d.place),
            f"[{d.name}]({page_of(d.name)}#{anchor(d.name)})",
            levels(d.levels),
            _summary(d),
            str(len(d.codes)),
        ]
        for d in declared()
    )
    return page(
        "Rules and checkers",
        "What takes copies out, what puts them in, and every rule on the way. Each is shown with a "
        "small graph that trips it, the remark that this graph really gets, and what GE does. The "
        "graphs are [case files](case-files.md) in the `examples/` of their plugin, run as tests: "
        "`ge case FILE` runs one.",
        "## In running order",
        table(["stage", "pass", "on at", "what it does", "reasons"], rows),
        "## Where to look",
        "* [Removal of moves](rules-removal.md): the rules R0 to R5, and traces\n"
        "* [Reading and writing](rules-read-write.md): the matrix, and the Identity nodes that it "
        "wants\n"
        "* [Layout](rules-layout.md): every pair of anchor types and its checker\n"
        "* [Companions](rules-companions.md): passes that protect stores, collectives and the "
        "ends of subgraphs\n"
        "* [Exact removal](rules-exact.md): what O4 does beyond GE\n"
        "* [Where GE differs](ge-differences.md): its known faults, and what is done here",
        "[Copies](copies.md) says how to read a remark; [reason codes](reason-codes.md) lists all.",
    )


def _summary(declaration: PassDeclaration) -> str:
    return declaration.summary.partition("\n")[0]


# ---- removal -------------------------------------------------------------------------------------


def _removal() -> str:
    declaration = registries().passes.get(DELETE)
    by_rule: dict[str | None, list[Code]] = {}
    for reason in declaration.codes:
        by_rule.setdefault(reason.rule, []).append(reason)
    parts = [f"## {DELETE}", _class_text(declaration), *_reasons(DELETE, by_rule.pop(None, []))]
    for rule, title in RULES.items():
        parts += [f"## {rule}: {title}", *_docs_of(rule)]
        parts += _reasons(DELETE, by_rule.pop(rule, []))
    assert not by_rule, f"codes of rules that this page lacks: {sorted(map(str, by_rule))}"
    return page(
        "Rules of the removal of moves",
        "A TensorMove goes where no rule says no. The first no is the reason that is given; a rule "
        "further on may say no as well.",
        *parts,
        "## Traces",
        "Where a value was made is said by trace rules, those for one op first. Plugins "
        "[add theirs](checkers.md#trace-rules).",
        table(
            ["op", "package", "the step"],
            (
                [
                    "every op" if rule.op == "*" else code(rule.op),
                    code(rule.owner.distribution),
                    _first_paragraph(rule.step),
                ]
                for rule in registries().trace_rules
            ),
        ),
        *_named(TRACES, "Trace: ", story=True),
    )


def _named(folder: str, title: str, *, story: bool) -> Iterator[str]:
    """The examples of a folder, each under its name."""
    for name, example in named_examples(folder).items():
        yield f"### {title}{name}"
        yield shown(example, story=story)


def _docs_of(rule: str) -> Iterator[str]:
    """The docstrings of the rules of one number, in the order of the chain."""
    for one in CHAIN:
        if (inspect.getmodule(type(one)).__doc__ or "").startswith(rule):
            yield inspect.cleandoc(type(one).__doc__ or "")


# ---- reading and writing -------------------------------------------------------------------------


def _read_write() -> str:
    checker = registries().checkers.make_read_write()
    kinds = list(InputKind)
    rows = (
        [code(made.value), *(checker.verdict(made, read).value for read in kinds)]
        for made in OutputKind
    )
    return page(
        "Rules of reading and writing",
        "What a reader does to an input's memory meets what the memory of an output allows. Where "
        "the matrix says `identity`, the reader gets a copy, and the removal of moves keeps the "
        "one that is there ([R4](rules-removal.md#r4-reading-and-writing)); `wrong graph` is a "
        "conflict too.",
        "## The matrix",
        table(["output", *(code(kind.value) for kind in kinds)], rows),
        _kinds("Outputs", OutputKind),
        _kinds("Inputs", InputKind),
        *_named(MATRIX, "Entry: ", story=False),
        *_passes(READ_WRITE),
    )


def _kinds(title: str, kinds: type[Any]) -> str:
    """The kinds with what their definition says of them."""
    source = inspect.getsource(kinds)
    found = re.findall(
        r'^    \w+ = "(\w+)"\n(?:    """(.*?)""")?', source, re.MULTILINE | re.DOTALL
    )
    said = [f"* {code(name)}: {' '.join(text.split())}" for name, text in found if text]
    return f"{title}:\n\n" + "\n".join(said)


# ---- layout --------------------------------------------------------------------------------------


def _layout() -> str:
    rules = [rule for rule in registries().checkers if rule.kind != "never"]
    givers: dict[str, list[PairRule]] = {}
    for rule in rules:
        for name in rule.codes:
            givers.setdefault(name, []).append(rule)
    declaration = _found(LAYOUT)
    reasons = () if declaration is None else declaration.codes
    parts = []
    for reason in reasons:
        parts.append(f"### {reason.name}")
        parts.append(f"*{_plain(reason.text)}*")
        parts += _pairs(givers.pop(reason.name, []))
        parts.append(_example(LAYOUT, reason.name))
    for name, pairs in givers.items():
        parts += [f"### {name}", *_pairs(pairs)]
    never = [rule for rule in registries().checkers if rule.kind == "never"]
    return page(
        "Rules of layout",
        "Anchors of one memory make demands on it by their [types](anchor-types.md). A pair of "
        "types is always a conflict, never one, or is looked at by a checker. The removal of moves "
        "asks before it joins two memories ([R5](rules-removal.md#r5-layout)); the last step "
        "before memory is planned puts a copy in wherever two clash.",
        "Never a conflict: " + "; ".join(" with ".join(map(code, r.types)) for r in never) + ".",
        f"## {LAYOUT}",
        "" if declaration is None else _class_text(declaration),
        *parts,
    )


def _pairs(rules: Sequence[PairRule]) -> Iterator[str]:
    """The pairs of types that give a reason, by the checker that looks at them."""
    by_text: dict[str, list[PairRule]] = {}
    for rule in rules:
        text = "Always a conflict." if rule.function is None else _first_paragraph(rule.function)
        by_text.setdefault(text, []).append(rule)
    for text, found in by_text.items():
        pairs = "; ".join(" with ".join(code(name) for name in rule.types) for rule in found)
        yield f"{text}\n\nAsked about {pairs}."


# ---- the other passes ----------------------------------------------------------------------------


def _companions() -> str:
    names = [d.name for d in declared() if page_of(d.name) == "rules-companions.md"]
    return page(
        "Companions of the removal",
        "Passes that put copies in where a store, a collective or the end of a subgraph needs "
        "memory of its own, take those away that turn out to be unneeded, and warn. A copy that "
        "would hide a store from somebody who is to see it is not put in.",
        *_passes(names),
    )


def _exact() -> str:
    return page(
        "Rules of exact removal",
        "Level O4 looks at who really reads and writes a memory, through views, calls and "
        "branches, in which order, and adds the order that is missing. The proof checks what "
        "comes of it. GE has no such passes.",
        *_passes(EXACT),
    )


def _passes(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        declaration = _found(name)
        if declaration is not None:
            yield f"## {name}"
            yield _class_text(declaration)
            yield from _reasons(name, declaration.codes)


def _found(name: str) -> PassDeclaration | None:
    return next((d for d in registries().passes if d.name == name), None)


def _class_text(declaration: PassDeclaration) -> str:
    """What a pass says of itself."""
    return inspect.cleandoc(declaration.load().__doc__ or declaration.summary)


def _reasons(name: str, reasons: Iterable[Code]) -> Iterator[str]:
    for reason in reasons:
        yield f"### {reason.name}"
        yield f"*{_plain(reason.text)}*"
        yield _example(name, reason.name)


def _example(name: str, reason: str) -> str:
    found = examples().get((name, reason))
    story = name in (DELETE, *EXACT)
    if found is None:
        return f"No example: {UNTOLD.get((name, reason), 'there is none yet')}."
    return shown(found, story=story)


def _plain(text: str) -> str:
    """A code's text without the braces around what is filled in."""
    return re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), text)


def _first_paragraph(what: object) -> str:
    return " ".join(inspect.cleandoc(what.__doc__ or "").partition("\n\n")[0].split())


# ---- differences ---------------------------------------------------------------------------------


def _differences() -> str:
    known = tomllib.loads(DIFFERENCES.read_text(encoding="utf-8"))
    shows: dict[str, list[str]] = {name: [] for name in known}
    for (owner, reason), example in all_examples().items():
        title = f"Trace: {reason}" if owner == TRACES else reason
        home = page_of(DELETE if owner == TRACES else owner)
        for name in example.extra.get("differs", ()):
            shows[name].append(f"[{owner}: {reason}]({home}#{anchor(title)})")
    parts = []
    for name, entry in known.items():
        seen = ", ".join(shows[name])
        text = f"**GE:** {entry['ge']}\n\n**Here:** {entry['here']}"
        parts.append(f"### {name}\n\n{text}" + (f"\n\nShown by {seen}." if seen else ""))
    return page(
        "Where GE differs",
        "GE's rules were read from its sources. Where its code contradicts its design note, "
        "miscompiles, or does what nobody can have meant, this is what it does and what is done "
        "here. Examples of rules name these entries.",
        *parts,
    )
