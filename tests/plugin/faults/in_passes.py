"""Misbehaviour of passes at work."""

from __future__ import annotations

from typing import Final

from .table import COMPILE, Fault, a_pass

RAISING: Final = tuple(
    Fault(f"has a pass that raises {name}", a_pass(f"raise {name}('oops')"), ("acme.P", name))
    for name in ("ValueError", "BaseException", "GeneratorExit", "SystemExit", "MemoryError")
)

WORK: Final = (
    Fault(
        "has a pass that recurses without end",
        a_pass("self.run(graph, ctx)"),
        ("acme.P", "RecursionError"),
    ),
    Fault(
        "has a pass that is interrupted by the user",
        a_pass("raise KeyboardInterrupt"),
        ("interrupted",),
        exit=130,
    ),
    Fault(
        "has a node pass that always asks for another visit",
        a_pass("ctx.revisit(node)", kind="NodePass"),
        ("acme.P", "10 visits per node"),
        "warning",
    ),
    Fault(
        "has a node pass that adds a node at every visit",
        a_pass(
            "new = ctx.graph.add_node('Relu', ctx.graph.fresh_name('n'), [], [])\nctx.revisit(new)",
            kind="NodePass",
        ),
        ("acme.P", "10 visits per node"),
        "warning",
    ),
    Fault(
        "has a pass that adds nodes for ever",
        a_pass("while True: graph.add_node('Relu', graph.fresh_name('n'), [], [])"),
        ("acme.P", "more than", "nodes"),
    ),
    Fault(
        "has a repeated pass that always changes something",
        a_pass("graph.set_graph_attr('mine', graph.attrs.get('mine', 0) + 1)", more=", repeat=5"),
        ("acme.P", "5"),
        "warning",
    ),
    Fault(
        "has an analysis pass that edits",
        a_pass("graph.set_graph_attr('mine', 1)", kind="AnalysisPass"),
        ("acme.P", "AnalysisPass"),
    ),
    Fault(
        "has a pass that adds nodes after SCHEDULE",
        a_pass("graph.add_node('Relu', 'late', [], [])", stage="OFFSETS"),
        ("acme.P", "after SCHEDULE"),
    ),
    Fault(
        "has a pass that rewires edges after SCHEDULE",
        a_pass(
            "graph.rewire(graph.find('c').inputs[0], graph.find('b').outputs[0])", stage="OFFSETS"
        ),
        ("the proof failed", "plugins of others took part: acme"),
        exit=5,
    ),
    Fault(
        "has a pass that deletes a copy without a remark",
        a_pass("graph.bypass(graph.find('mv'))"),
        ("acme.P", "without saying so"),
    ),
    Fault(
        "has a pass that gives a code which it did not declare",
        a_pass("ctx.missed(graph.find('mv'), 'DNOE')"),
        ("acme.P", "'DNOE'", "near: acme.DONE"),
    ),
    Fault(
        "has a pass that reports bytes as a text",
        a_pass("ctx.missed(graph.find('mv'), 'NOT_YET', bytes='256')"),
        ("acme.P", "bytes='256'"),
    ),
    Fault(
        "has a pass that reports negative bytes",
        a_pass("ctx.missed(graph.find('mv'), 'NOT_YET', bytes=-1)"),
        ("acme.P", "bytes=-1"),
    ),
    Fault(
        "has a pass that blames an object which is nothing of the graph",
        a_pass("ctx.missed(graph.find('mv'), 'NOT_YET', blame=[object()])"),
        ("acme.P", "blame"),
    ),
    Fault(
        "has a pass that speaks about something which is no node",
        a_pass("ctx.missed('mv', 'NOT_YET')"),
        ("acme.P", "'mv'"),
    ),
    Fault(
        "has a pass that claims a copy is gone and leaves it",
        a_pass("ctx.applied(graph.find('from_input'), 'DONE', bytes=256)"),
        ("acme.P", "'from_input' is gone", "still there"),
        "warning",
    ),
    Fault(
        "has a pass that leaves a broken graph",
        a_pass("graph.find('b').inputs.clear()"),
        ("acme.P",),
        run=(*COMPILE, "--verify-each"),
    ),
    Fault(
        "has a pass that sets slots instead of calling the graph's methods",
        a_pass("graph.find('b').op = 'Exp'"),
        ("the proof failed", "plugins of others took part: acme"),
        exit=5,
    ),
    Fault(
        "has a pass that changes what is computed and does not say so",
        a_pass("graph.set_op(graph.find('b'), 'Exp')"),
        ("the proof failed", "plugins of others took part: acme"),
        exit=5,
    ),
    Fault(
        "has a pass that wires in an output of another graph",
        a_pass(
            "other = GraphBuilder('other').data('x', (4, 16))\n"
            "graph.rewire(graph.find('b').inputs[0], other)"
        ),
        ("acme.P", "x"),
    ),
    Fault(
        "has a pass that joins graphs of two compiles",
        a_pass(
            "KEPT.append(graph)\n"
            "if len(KEPT) > 1: KEPT[0].rewire(KEPT[0].find('b').inputs[0], "
            "graph.find('c').outputs[0])"
        ),
        ("acme.P", "another graph"),
    ),
    Fault(
        "has a pass that uses a removed node",
        a_pass(
            "node = graph.find('mv')\nctx.applied(node, 'DONE')\ngraph.bypass(node)\n"
            "graph.rewire(graph.find('b').inputs[0], node.outputs[0])"
        ),
        ("acme.P", "mv"),
    ),
    Fault(
        "has a pass that leaves a transaction open",
        a_pass("KEPT.append(graph.transaction()); KEPT[-1].__enter__()"),
        ("acme.P", "transaction"),
    ),
    Fault(
        "has a pass that closes a transaction of the kernel's",
        a_pass(
            "t = graph.transaction()\nt.__enter__()\n"
            "t.__exit__(None, None, None)\nt.__exit__(None, None, None)"
        ),
        ("acme.P", "transaction"),
    ),
    Fault(
        "has a pass that replaces the graph of the compile",
        a_pass("ctx.environment.root = clone(graph)"),
        ("acme.P", "environment", "root"),
    ),
    Fault(
        "has a pass that replaces the target",
        a_pass("ctx.environment.target = Target('mine', align_bytes=1)"),
        ("acme.P", "environment", "target"),
    ),
    Fault(
        "has a pass that changes options of the compile",
        a_pass("ctx.environment.options.values['ge.oo.level'] = None"),
        ("acme.P",),
    ),
    Fault(
        "has a pass that declares ops while compiling",
        a_pass("ctx.ops.add(OpTraits('Softplus', inplace=((0, 0),)))"),
        ("acme.P", "while the plugin is loaded"),
    ),
    Fault(
        "has a pass that registers rules while compiling",
        a_pass("ctx.environment.trace_rules.add('*', lambda o, t: None)"),
        ("acme.P", "while the plugin is loaded"),
    ),
    Fault(
        "has a pass that changes the working directory",
        a_pass("import os; os.chdir('/')"),
        ("acme.P", "changed the working directory"),
        alone=True,
    ),
    Fault(
        "has a pass that imports a heavy module when it runs",
        a_pass("import numpy; import logging; import locale"),
        (),
        "fine",
        alone=True,
    ),
    Fault(
        "has a pass that prints to standard output",
        a_pass("print('hello')"),
        ("hello",),
        "fine",
    ),
    Fault(
        "has a pass that needs another which nobody registers",
        a_pass("pass", more=", needs=('acme.Ghost',)"),
        ("acme.P", "acme.Ghost"),
    ),
    Fault(
        "has passes that must run before each other",
        a_pass(
            "pass",
            more=", before=('acme.Q',))\n    passes.add(P, name='Q', levels=ALWAYS, "
            "stage='OPTIMIZE_STAGE1', before=('acme.P',)",
        ),
        ("acme.P", "acme.Q"),
    ),
    Fault(
        "has a pass whose constructor raises",
        a_pass("pass").replace(
            "    '''Misbehaves.'''", "    def __init__(self): raise OSError('no')"
        ),
        ("acme.P", "no"),
    ),
    Fault(
        "writes a pass as a coroutine",
        a_pass("pass").replace("def run", "async def run"),
        ("acme.P", "coroutine"),
    ),
    Fault(
        "writes a pass as a generator",
        a_pass("yield graph"),
        ("acme.P", "generator"),
    ),
    Fault(
        "has a pass that returns a new graph instead of editing",
        a_pass("return clone(graph)"),
        ("acme.P", "returned"),
    ),
)

FAULTS = (*RAISING, *WORK)
