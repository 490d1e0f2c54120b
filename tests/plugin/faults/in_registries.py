"""Misbehaviour towards the registries: wrong types, taken names, names that are none."""

from __future__ import annotations

from typing import Final

from .table import COMPILE, Fault, hook

PASS = "class P(GraphPass):\n    '''A pass.'''\n    def run(self, graph, ctx): pass\n"


def passes(body: str) -> str:
    """A plugin that registers passes."""
    return hook("passes", body, PASS)


def loads_not(what: str, code: str, *says: str) -> Fault:
    """A fault that keeps the plugin from being loaded."""
    return Fault(what, code, says, "warning")


def options(arguments: str) -> str:
    """A plugin that registers an option."""
    return hook("options", f"options.add({arguments})")


PASSES: Final = (
    loads_not(
        "registers a function as a pass",
        passes("passes.add(lambda g, c: None, name='P', levels=ALWAYS, stage='CHECK')"),
        "ge_register_passes",
        "not a subclass of GraphPass",
    ),
    loads_not(
        "registers an instance as a pass",
        passes("passes.add(P(), name='P', levels=ALWAYS, stage='CHECK')"),
        "ge_register_passes",
        "not a subclass of GraphPass",
    ),
    loads_not(
        "gives levels as one text",
        passes("passes.add(P, levels='O3', stage='CHECK')"),
        "levels='O3' is not a list",
    ),
    Fault(
        "names a level that nobody registers",
        passes("passes.add(P, levels=('O33',), stage='CHECK')"),
        ("acme.P", "level 'O33'", "levels are O0, O1, O2, O3, O4"),
        "warning",
    ),
    loads_not(
        "misspells a stage",
        passes("passes.add(P, levels=ALWAYS, stage='CHEKC')"),
        "no stage 'CHEKC'",
        "near: CHECK",
    ),
    loads_not(
        "gives a stage that is no text",
        passes("passes.add(P, levels=ALWAYS, stage=7)"),
        "stage 7",
    ),
    *(
        loads_not(
            f"names a pass {shown}",
            passes(f"passes.add(P, name={name!r}, levels=ALWAYS, stage='CHECK')"),
            "is no name",
        )
        for shown, name in (
            ("with nothing", ""),
            ("with a number", 7),
            ("with a blank in it", "a b"),
            ("with a line end in it", "a\nb"),
            ("with a terminal escape in it", "\x1b[31mred"),
            ("with letters that look like others", "T\u0435nsor"),
            ("with 100,000 letters", "x" * 100_000),
        )
    ),
    loads_not(
        "registers two passes of one name",
        passes("for _ in range(2): passes.add(P, levels=ALWAYS, stage='CHECK')"),
        "pass 'P' is registered twice",
    ),
    loads_not(
        "gives a pass three switch options",
        passes("passes.add(P, levels=ALWAYS, stage='CHECK', switch=('a', 'b', 'c'))"),
        "3 switch options",
    ),
    Fault(
        "gives its pass the name of a built-in one",
        passes("passes.add(P, name='TensorMoveDeletePass', levels=ALWAYS, stage='CHECK')"),
        ("acme.TensorMoveDeletePass",),
        "fine",
        run=("passes", "why", "acme.TensorMoveDeletePass"),
    ),
    Fault(
        "refers to a module that is not there",
        passes("passes.add('acme_ghost:P', levels=ALWAYS, stage='CHECK')"),
        ("'acme_ghost:P' can't be loaded",),
    ),
    Fault(
        "refers to a name that its module does not have",
        passes("passes.add('ge_core.api:Ghost', levels=ALWAYS, stage='CHECK')"),
        ("'ge_core.api:Ghost' can't be loaded",),
    ),
    Fault(
        "refers to something that is no pass",
        passes("passes.add('ge_core.api:Graph', levels=ALWAYS, stage='CHECK')"),
        ("acme.Graph", "not a subclass of GraphPass"),
    ),
    loads_not(
        "gives a pass a reference that is none",
        passes("passes.add('just words', name='P', levels=ALWAYS, stage='CHECK')"),
        "'just words' is not a reference",
    ),
    loads_not(
        "has a pass whose options have no default",
        hook(
            "passes",
            "passes.add(Q, levels=ALWAYS, stage='CHECK')",
            "@dataclass(frozen=True)\nclass Q(GraphPass):\n    n: int\n"
            "    def run(self, graph, ctx): pass\n",
        ),
        "option 'n' without a default",
    ),
)

OPTIONS: Final = (
    loads_not(
        "takes the name of one of GE's options",
        options("'ge.oo.level', help='Mine.'"),
        "'ge.oo.level'",
        "ge.",
    ),
    loads_not(
        "takes the prefix of another plugin",
        hook("options", "options.add('tensormove.speed', help='Mine.')"),
        "'tensormove.speed'",
        "prefix",
    ),
    loads_not(
        "gives an option a default that is no value",
        options("'n', type='integer', default='many', help='N.'"),
        "default 'many' is no value",
    ),
    loads_not(
        "gives an option a default that is no text",
        options("'n', type='integer', default=5, help='N.'"),
        "default 5",
        "text",
    ),
    loads_not(
        "gives an option an unknown type",
        options("'n', type='number', help='N.'"),
        "type 'number'",
    ),
    loads_not(
        "gives an option a default of ten million letters",
        options("'n', default='x' * 10_000_000, help='N.'"),
        "default",
        "long",
    ),
    loads_not(
        "gives an option a help text of ten million letters",
        options("'n', help='x' * 10_000_000"),
        "help",
        "long",
    ),
    loads_not(
        "gives an option a million choices",
        options("'n', type='choice', choices=[str(i) for i in range(1_000_000)], help='N.'"),
        "choices",
    ),
    loads_not(
        "gives an option a checker that is no function",
        options("'n', checker=5, help='N.'"),
        "checker",
    ),
    loads_not(
        "has an option whose checker raises about its own default",
        options("'n', default='1', checker=lambda text: 1 / 0, help='N.'"),
        "checker",
        "ZeroDivisionError",
    ),
    Fault(
        "has an option whose checker raises about a value",
        options("'n', checker=lambda text: 1 / 0, help='N.'"),
        ("acme.n", "checker", "ZeroDivisionError"),
        run=(*COMPILE, "--set", "acme.n=3"),
    ),
    Fault(
        "has an option whose checker answers True instead of a reason",
        options("'n', checker=lambda text: text.isdigit(), help='N.'"),
        ("acme.n", "checker", "True"),
        run=(*COMPILE, "--set", "acme.n=3"),
    ),
)

OTHERS: Final = (
    loads_not(
        "registers two pipelines of one name",
        hook("pipelines", "for _ in range(2): pipelines.add_text('mine', 'NoSuchPass')"),
        "pipeline 'mine' is registered twice",
    ),
    loads_not(
        "registers a level set that is the kernel's",
        hook("pipelines", "pipelines.add_level('O3', extends='O1')"),
        "level 'O3' is called like a level of the kernel",
    ),
    Fault(
        "registers level sets that extend each other",
        hook(
            "pipelines",
            "pipelines.add_level('a1', extends='a2'); pipelines.add_level('a2', extends='a1')",
        ),
        ("level sets extend each other", "a1 -> a2 -> a1"),
        run=(*COMPILE, "-O", "a1"),
    ),
    loads_not(
        "has a pipeline text that can't be read",
        hook("pipelines", "pipelines.add_text('mine', 'A{,')"),
        "ge_register_pipelines",
    ),
    loads_not(
        "registers a target without an alignment",
        hook("targets", "targets.add(Target('npu', align_bytes=0))"),
        "align_bytes 0",
    ),
    loads_not(
        "registers a target with a negative alignment",
        hook("targets", "targets.add(Target('npu', align_bytes=-64))"),
        "align_bytes -64",
    ),
    loads_not(
        "registers a target with an odd alignment",
        hook("targets", "targets.add(Target('npu', align_bytes=48))"),
        "align_bytes 48 is not a power of two",
    ),
    loads_not(
        "registers a target with an alignment that is no whole number",
        hook("targets", "targets.add(Target('npu', align_bytes=True))"),
        "align_bytes True",
    ),
    loads_not(
        "registers a name as a target",
        hook("targets", "targets.add('npu')"),
        "'npu' is not a Target",
    ),
    loads_not(
        "takes the kernel's target",
        hook("targets", "targets.add(Target('generic'))"),
        "target 'generic' is registered twice",
    ),
    loads_not(
        "declares an op of an unknown kind",
        hook("ops", "ops.add(OpTraits('AcmeGelu', kind='magic'))"),
        "kind 'magic'",
    ),
    loads_not(
        "declares an op that is declared already",
        hook("ops", "ops.add(OpTraits('Reshape'), source='ge')"),
        "op 'Reshape' of ge graphs is declared twice",
    ),
    loads_not(
        "declares the inputs of an op as a text",
        hook("ops", "ops.add(OpTraits('AcmeGelu', writes='0'))"),
        "writes='0'",
    ),
    loads_not(
        "declares a text as an op",
        hook("ops", "ops.add('AcmeGelu')"),
        "'AcmeGelu' is not an OpTraits",
    ),
    loads_not(
        "registers an anchor type without a function",
        hook("anchor_types", "types.add('PINNED', marks=True)"),
        "True is no function",
    ),
    loads_not(
        "registers a checker that is no function",
        hook("conflict_checkers", "checkers.check('A', 'B', 'my_check')"),
        "'my_check'",
    ),
    loads_not(
        "registers a trace rule that is no function",
        hook("trace_rules", "rules.add('Cast', step='skip')"),
        "'skip' is no function",
    ),
    loads_not(
        "registers a delete rule that is no function",
        hook("delete_rules", "rules.add('mine', 'keep', codes=('NO',))"),
        "'keep' is no function",
    ),
    loads_not(
        "registers a kernel that is no reference",
        hook("kernels", "kernels.add('AcmeGelu', len)"),
        "AcmeGelu",
        "reference",
    ),
    loads_not(
        "registers an assigner that is none",
        hook("memory_assigners", "assigners.add('low', 7)"),
        "7 is no class and no reference",
    ),
)

FAULTS = (*PASSES, *OPTIONS, *OTHERS)
