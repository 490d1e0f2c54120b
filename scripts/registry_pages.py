"""Pages made from what this project's own distributions register; third parties' are left out."""

from __future__ import annotations

import itertools
from functools import cache

from ge_core import errors as error_module
from ge_core.errors import GeError
from ge_core.passes.claims import Claim
from ge_core.passes.closing import KERNEL_CODES
from ge_core.passes.codes import Code
from ge_core.passes.kernel_claims import kernel_claims
from ge_core.passes.options import OptionDeclaration
from ge_core.passes.pass_options import describe_options
from ge_core.passes.registry import PassDeclaration
from ge_core.plugin.index import PluginIndex, index_plugins
from ge_core.plugin.loading import load_plugins
from ge_core.plugin.registries import Registries
from scripts.markdown import anchor, bullets, code, codes, page, table


@cache
def registries() -> Registries:
    """What the kernel and the plugins of this workspace register."""
    index = index_plugins(environ={})
    own = tuple(c for c in index.candidates if c.is_first_party)
    return load_plugins(PluginIndex(own), strict=True).registries


# ---- passes --------------------------------------------------------------------------------------


def passes() -> str:
    """One section per pass, in running order."""
    declared = sorted(registries().passes, key=lambda d: (d.place.rank, d.name))
    listed = table(
        ["stage", "pass", "on at", "what it does"],
        (
            [code(d.place), f"[{d.name}](#{anchor(d.name)})", levels(d.levels), d.summary]
            for d in declared
        ),
    )
    intro = (
        "The passes of this project's own packages, in the order of their stages. "
        "`ge passes` lists those that are installed, third parties' among them; "
        "`ge passes why NAME` says whether one runs."
    )
    return page("Passes", intro, listed, *(_pass(declaration) for declaration in declared))


def _pass(declaration: PassDeclaration) -> str:
    facts = bullets(
        [
            ("package", code(declaration.owner.distribution)),
            ("stage", code(declaration.place)),
            ("on at", levels(declaration.levels)),
            ("switch option", codes(declaration.switch)),
            ("before", codes(declaration.before)),
            ("after", codes(declaration.after)),
            ("needs", codes(declaration.needs)),
            ("requires", codes(declaration.requires)),
            ("establishes", codes(declaration.establishes)),
            ("invalidates", codes(declaration.invalidates)),
            ("keeps right", codes(declaration.preserves)),
            ("repeats", _repeats(declaration)),
            ("required", "yes, it can't be switched off" if declaration.required else ""),
            ("changes values", "yes" if declaration.changes_values else ""),
            ("explains ops of kind", codes(declaration.handles)),
        ]
    )
    parts = [f"## {declaration.name}", declaration.summary, facts]
    counted = bullets((code(name), text) for name, text in declaration.counters.items())
    parts.append(f"Counts:\n\n{counted}" if counted else "")
    fields = describe_options(declaration)
    if fields:
        rows = (
            [code(f"{declaration.name}.{f.name}"), f.type, code(f.default), f.help] for f in fields
        )
        parts.append(table(["option", "type", "default", "meaning"], rows))
    if declaration.codes:
        target = f"reason-codes.md#{anchor(declaration.name)}"
        parts.append(f"Its {len(declaration.codes)} reason codes: [{declaration.name}]({target}).")
    return "\n\n".join(part for part in parts if part)


def _repeats(declaration: PassDeclaration) -> str:
    most = declaration.repeat
    return "" if most == 1 else f"until it changes nothing, at most {most} times"


def levels(names: tuple[str, ...]) -> str:
    """A set of levels in as few words as it can be said."""
    ladder = ["O0", "O1", "O2", "O3", "O4"]
    if list(names) == ladder:
        return "every level"
    if names and list(names) == ladder[ladder.index(names[0]) :] and len(names) > 1:
        return f"{names[0]} and above"
    return ", ".join(names) or "no level"


# ---- options -------------------------------------------------------------------------------------


def options() -> str:
    """A table per category, then the options of passes."""
    declared = sorted(registries().options, key=lambda option: (option.category, option.name))
    parts = []
    for category, members in itertools.groupby(declared, key=lambda option: option.category):
        rows = ([code(o.name), _values(o), _default(o), o.help + _remarks(o)] for o in members)
        head = ["option", "values", "default", "meaning"]
        parts.append(f"## {category.capitalize()}\n\n{table(head, rows)}")
    rows = (
        [code(f"{d.name}.{f.name}"), f.type, code(f.default), f.help]
        for d in registries().passes
        for f in describe_options(d)
    )
    head = ["option", "values", "default", "meaning"]
    parts.append(f"## Of single passes\n\n{table(head, rows)}")
    intro = (
        "Given by `--set NAME=VALUE`, `ge_core.compile(options={...})`, `[tool.ge.set]`, a "
        "pipeline file, or the environment (`GE_OPTION_ge__oo__level=O1`); [the guide]"
        "(guide.md#options-and-who-decides) says which wins. A malformed value is an error, unless "
        "`ge.strictOptions` is `false` and GE reads it somehow (*tolerant*)."
    )
    return page("Options", intro, *parts)


def _values(option: OptionDeclaration) -> str:
    if option.type == "choice":
        return ", ".join(code(choice) if choice else "empty" for choice in option.choices)
    words = {
        "switch": "`true`, `false`, empty (= true)",
        "flag": "`0`, `1`",
        "integer": "a whole number",
        "level": "a level",
    }
    return words.get(option.type, option.type)


def _default(option: OptionDeclaration) -> str:
    if option.default is None:
        return ""
    if isinstance(option.default, str):
        shown = code(option.default) or "empty"
    else:
        shown = ", ".join(f"{k}: {code(v) or 'empty'}" for k, v in option.default.items())
    at = levels(option.levels)
    return shown if at == "every level" else f"{shown} ({at})"


def _remarks(option: OptionDeclaration) -> str:
    notes = []
    notes += [f"ATC: {code(name)}" for name in option.show_names.values()]
    if option.tolerant:
        notes.append("tolerant")
    if str(option.visibility) != "user":
        notes.append(str(option.visibility))
    return f" *({', '.join(notes)})*" if notes else ""


# ---- reason codes --------------------------------------------------------------------------------


def reason_codes() -> str:
    """A table per pass or rule, and one for all layout checkers."""
    found = [*KERNEL_CODES, *registries().codes().all()]
    checked = [c for c in found if " and " in c.giver]
    given = sorted((c for c in found if " and " not in c.giver), key=_by_giver)
    parts = []
    for giver, members in itertools.groupby(given, key=lambda c: c.giver):
        rows = ([code(c.name), _meaning(c), c.rule or ""] for c in sorted(members, key=_by_name))
        parts.append(f"## {giver}\n\n{table(['code', 'meaning', 'rule'], rows)}")
    rows = ([code(c.name), c.giver, c.text] for c in sorted(checked, key=_by_name))
    parts.append(f"## Layout checkers\n\n{table(['code', 'anchor types', 'meaning'], rows)}")
    intro = (
        "Every move, join, pack, split and slice ends with one remark, and each remark gives one "
        "of these codes. A code keeps its meaning. Names in braces are filled in. *Rule* is what "
        "case files call `kept_reason`. Where no pass has spoken, the kernel (`ge_core`) does. A "
        "layout checker answers a pass, which names that code in its own remark."
    )
    return page("Reason codes", intro, *parts)


def _meaning(declared: Code) -> str:
    return (
        f"{declared.text} (not given since {declared.retired})"
        if declared.retired
        else (declared.text)
    )


def _by_giver(declared: Code) -> tuple[bool, str]:
    return declared.giver != KERNEL_CODES[0].giver, declared.giver


def _by_name(declared: Code) -> str:
    return declared.name


# ---- anchor types --------------------------------------------------------------------------------


def anchor_types() -> str:
    """The types, and what holds for each pair that has a rule."""
    types = table(
        ["anchor type", "package", "which anchors"],
        (
            [code(t.name), code(t.owner.distribution), t.about.partition("\n")[0]]
            for t in registries().anchor_types
        ),
    )
    words = {"always": "always a conflict", "never": "never one", "check": "looked at"}
    rules = table(
        ["one", "other", "in one memory", "codes"],
        (
            [code(r.types[0]), code(r.types[1]), words[r.kind], codes(r.codes)]
            for r in registries().checkers
        ),
    )
    intro = (
        "What anchors demand of the memory that they share with others. A pair without a rule is "
        "no conflict. [Checkers](checkers.md) says how to add types and rules."
    )
    return page("Anchor types and layout rules", intro, types, "## Rules per pair", rules)


# ---- claims --------------------------------------------------------------------------------------


def claims() -> str:
    """What passes may rely on, and from when on it holds."""
    found = {**kernel_claims(), **{c.name: c for c in registries().passes.claims}}
    rows = (
        [code(claim.name), code(claim.owner.distribution), claim.summary, _holds(claim)]
        for claim in sorted(found.values(), key=lambda claim: claim.name)
    )
    intro = (
        "Properties of the graph that passes rely on. A pass names them in `establishes=`, "
        "`requires=` and `invalidates=` when it is registered; from where a claim is established "
        "on, a pass that breaks it is an error that names that pass and its package. "
        "[Writing a pass](pass-authors.md#claims) shows how, and how to add one."
    )
    return page("Claims", intro, table(["claim", "package", "what holds", "from"], rows))


def _holds(claim: Claim) -> str:
    if claim.always:
        return "the incoming graph on"
    if claim.holds_after is not None:
        return f"the end of {code(claim.holds_after)} on"
    return "the pass that establishes it on"


# ---- errors --------------------------------------------------------------------------------------


def errors() -> str:
    """Every error class with its code and exit code."""
    classes = [
        found
        for found in vars(error_module).values()
        if isinstance(found, type) and issubclass(found, GeError)
    ]
    listed = table(
        ["code", "class", "exit code", "meaning"],
        (
            [code(c.code), code(c.__name__), str(c.exit_code), (c.__doc__ or "").split("\n")[0]]
            for c in classes
        ),
    )
    intro = (
        "All are importable from `ge_core.api`. A message says what was asked, what is near, who "
        "owns it and what to do."
    )
    return page("Errors", intro, listed)
