"""Misbehaviour of drivers: frontends, backends, executors, kernels, commands."""

from __future__ import annotations

from typing import Final

from .table import GRAPH, HEAD, OUT, Fault

MODEL = f"{OUT}.acme"


def frontend(body: str, what: str, *says: str, exit: int | None = None) -> Fault:
    """A frontend for `.acme` files whose `load` has this body."""
    code = f"{HEAD}\nclass D:\n    def load(self, path, *, input_shapes):\n        {body}\n"
    return Fault(
        f"has a frontend that {what}",
        code,
        says,
        run=("compile", "model.acme"),
        group="ge_core.frontends.v1",
        entry=("acme", "{module}:D"),
        exit=exit,
    )


def backend(body: str, what: str, *says: str, exit: int | None = None) -> Fault:
    """A backend for `.acme` files whose `save` has this body."""
    code = f"{HEAD}\nclass D:\n    def save(self, graph, path, **more):\n        {body}\n"
    return Fault(
        f"has a backend that {what}",
        code,
        says,
        run=("compile", GRAPH, "-o", MODEL),
        group="ge_core.backends.v1",
        entry=("acme", "{module}:D"),
        exit=exit,
    )


EXECUTOR = HEAD + (
    "class R:\n    outputs, arena_bytes, executed_copies, executed_copy_bytes = {}, 0, 0, 0\n\n"
    "class D:\n    def run(self, *a, **k): return R\n    def reference(self, *a, **k): return R\n"
    "    def make_feeds(self, *a, **k): return {}\n    def read_feeds(self, p, g): return {}\n"
    "    def write_outputs(self, p, o): pass\n    def compare(self, a, b): return []\n"
)


def executor(what: str, old: str, new: str, *says: str, exit: int | None = None) -> Fault:
    """An executor with something replaced."""
    assert not old or old in EXECUTOR
    return Fault(
        f"has an executor that {what}",
        EXECUTOR.replace(old, new) if old else EXECUTOR,
        says,
        run=("run", GRAPH, "--check", "--executor", "acme"),
        group="ge_core.executors.v1",
        entry=("acme", "{module}:D"),
        exit=exit,
    )


def kernel(what: str, body: str, *says: str, exit: int = 1) -> Fault:
    """A numpy kernel for Relu whose function has this body."""
    code = (
        f"{HEAD}import numpy\n\ndef compute(node, inputs, ctx):\n    {body}\n\n"
        "@hookimpl\ndef ge_register_kernels(kernels):\n"
        "    kernels.add('Relu', __name__ + ':compute', source='ge')\n"
    )
    return Fault(f"has a kernel that {what}", code, says, run=("run", GRAPH, "--check"), exit=exit)


FAULTS: Final = (
    frontend("return None", "returns nothing", "None", ".acme"),
    frontend("return {'nodes': []}", "returns something that is no graph", "dict", ".acme"),
    frontend("raise ZeroDivisionError('x')", "raises", "ZeroDivisionError"),
    frontend("raise SystemExit(0)", "ends the process", "SystemExit"),
    frontend(
        "g = GraphBuilder('g'); r = g.op('Relu', g.data('x', (4,))); "
        "r.node.inputs[0]._source = None; r.node.inputs.append(None); return g.graph",
        "returns a broken graph",
        ".acme",
    ),
    backend("raise ZeroDivisionError('x')", "raises", "ZeroDivisionError"),
    backend("raise SystemExit(0)", "ends the process", "SystemExit"),
    backend(
        "path.write_text('half'); raise OSError('disk full')",
        "writes half a file and raises",
        "disk full",
    ),
    backend("pass", "writes nothing", "wrote no file"),
    executor("lacks a method", "compare", "compar", "compare"),
    executor("raises", "def run(self, *a, **k): return R", "def run(self, *a, **k): 1 / 0", "Zero"),
    executor(
        "ends the process",
        "def run(self, *a, **k): return R",
        "def run(self, *a, **k): raise SystemExit(0)",
        "SystemExit",
    ),
    executor(
        "returns nothing",
        "def run(self, *a, **k): return R",
        "def run(self, *a, **k): pass",
        "None",
    ),
    executor("compares no output", "", "", "compared"),
    kernel("raises", "1 / 0", "Relu", "ZeroDivisionError"),
    kernel("ends the process", "raise SystemExit(0)", "Relu", "SystemExit"),
    kernel("writes to a read-only input", "inputs[0][...] = 0; return [inputs[0]]", "Relu"),
    kernel("returns another shape", "return [inputs[0][:1]]", "Relu", "[1, 16]"),
    kernel("returns another dtype", "return [inputs[0].astype('float64')]", "Relu", "float64"),
    kernel("returns too many outputs", "return [inputs[0], inputs[0]]", "Relu"),
    kernel("returns nothing", "pass", "Relu"),
    kernel("returns one array instead of a list", "return inputs[0]", "Relu"),
    Fault(
        "has a command that is no click command",
        "D = print",
        ("'acme'", "not a click command"),
        run=("acme",),
        group="ge_core.commands.v1",
        entry=("acme", "{module}:D"),
    ),
    Fault(
        "has a command that raises at import",
        "1 / 0",
        ("'acme'", "ZeroDivisionError"),
        run=("acme",),
        group="ge_core.commands.v1",
        entry=("acme", "{module}:D"),
    ),
    Fault(
        "has a command that raises when it runs",
        "import click\n@click.command('acme')\ndef D(): 1 / 0\n",
        ("'acme'", "ZeroDivisionError"),
        run=("acme",),
        group="ge_core.commands.v1",
        entry=("acme", "{module}:D"),
    ),
)
