"""`op_traits_conformance`: what is declared of ops, held against the kernels that compute them.

The proof trusts op traits, so a wrong one is worse than a missing one: an input that is written
though it is said to be read, or an output that may lie on its input and does not bear it, would be
proved right and compute something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final

from ge_core.errors import GeError, UsageError
from ge_core.ir import Graph, GraphBuilder, Node, OutputAnchor, TensorDesc, clone
from ge_core.ops import OpTraits, ref_of, scribbled_inputs, written_inputs
from ge_core.plugin.registries import Registries
from ge_core.session.compiler import Compiler
from ge_core.session.execution import make_executor
from ge_core.session.kernel import Kernel
from ge_core.session.request import CompileRequest
from ge_core.tasks.kernels import KernelEntry
from ge_core.testing.examining import execute_and_compare
from ge_core.testing.kernels import PluginSpec, kernel_with, owned
from ge_core.testing.suite import Suite, fail, make_suite, plainly

PLACES: Final = 6
"""Elements that are changed one by one, to see what depends on them."""


@dataclass(frozen=True)
class OpSample:
    """One way to use an op.

    Attributes:
        op: op type.
        inputs: descriptions of its inputs, or shapes of float32 ones; None leaves one out.
        outputs: descriptions of its outputs; one like the first input by default.
        attrs: of the node.
        output_attrs: marks of output 0's description (`reuse_input` is given by `outputs`).
        source: whose graphs: "ge" or "onnx".
    """

    op: str
    inputs: Sequence[TensorDesc | tuple[int, ...] | None] = ((4, 8),)
    outputs: Sequence[TensorDesc | tuple[int, ...]] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    source: str = "ge"

    def build(self) -> tuple[Graph, Node]:
        """A graph of the op alone, between ops that make its inputs and read its outputs."""
        build = GraphBuilder("root", self.source)
        feeds: list[OutputAnchor | None] = []
        for at, given in enumerate(self.inputs):
            if given is None:
                feeds.append(None)
                continue
            desc = _desc(given)
            made = build.data(f"x{at}", desc=desc)
            # An op that writes or destroys an input must not find the caller's memory there.
            feeds.append(build.op("Identity", made, name=f"own{at}", outputs=[desc]))
        like = next((_desc(given) for given in self.inputs if given is not None), TensorDesc.make())
        outputs = [_desc(given) for given in self.outputs] or [like]
        node = build.node(self.op, *feeds, name="op", outputs=outputs, attrs=dict(self.attrs))
        ends = [
            build.op("Identity", out, name=f"end{out.index}",
                     outputs=[out.desc.replace(reuse_input=None)])
            for out in node.outputs
        ]  # fmt: skip
        build.net_output(*ends)
        return build.graph, node


def _desc(given: TensorDesc | tuple[int, ...]) -> TensorDesc:
    return given if isinstance(given, TensorDesc) else TensorDesc.make("float32", given)


def op_traits_conformance(
    *ops: str | OpSample,
    plugin: PluginSpec = None,
    traits: Callable[[Any], object] | None = None,
    kernels: Callable[[Any], object] | None = None,
    executor: str = "numpy",
    seeds: int = 3,
) -> type[Any]:
    """A suite of conformance tests for op traits.

    `test_x = op_traits_conformance("AcmeGelu")` is all of it.

    Args:
        ops: op types, or samples that say what their inputs look like.
        plugin: the module that declares and computes them, where that isn't installed.
        traits, kernels: hook functions that declare and compute them, where no plugin does.
        executor: who makes inputs and executes.
        seeds: how many sets of inputs.
    """
    if not ops:
        raise UsageError("op_traits_conformance needs at least one op")
    samples = [op if isinstance(op, OpSample) else OpSample(op) for op in ops]
    subject = _Subject(samples, plugin, traits, kernels, executor, seeds)
    return make_suite(OpTraitsSuite, samples[0].op if len(samples) == 1 else "ops", subject)


@dataclass
class _Subject:
    given: list[OpSample]
    plugin: PluginSpec
    declare: Callable[[Any], object] | None
    compute: Callable[[Any], object] | None
    executor: str
    seeds: int

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel that has the ops."""
        kernel, _ = kernel_with(self.plugin)
        if self.declare is None and self.compute is None:
            return kernel
        staged = Registries()
        if self.declare is not None:
            self.declare(staged.ops)
        if self.compute is not None:
            self.compute(staged.kernels)
        return owned(kernel, staged)

    @cached_property
    def uses(self) -> list[_Use]:
        """The samples, built."""
        return [_Use(self, sample) for sample in self.given]

    def judge(self, promise: str, check: Callable[[_Use], str | None]) -> None:
        """Fail with what a check says of each op; ops without a kernel are another test's."""
        __tracebackhide__ = True
        faults = []
        for use in self.uses:
            if use.problem is None:
                fault = check(use)
                if fault:
                    faults.append(f"  {use.sample.op} ({use.owners}): {fault}")
        if faults:
            fail(promise, *faults)


@dataclass(frozen=True)
class _Context:
    """What a kernel may ask (`KernelContext`)."""

    traits: OpTraits
    seed: int
    writes: tuple[int, ...]
    scribbles: tuple[int, ...]
    aliases: Mapping[int, int]
    call: tuple[str, ...] = ()
    origin: str = "op"


class _Use:
    """One op with inputs to run it on."""

    def __init__(self, subject: _Subject, sample: OpSample) -> None:
        self.subject, self.sample = subject, sample
        self.graph, self.node = sample.build()
        ops = subject.kernel.ops
        self.traits = ops.of(sample.op, sample.source)
        self.entry: KernelEntry | None = subject.kernel.registries.kernels.find(
            sample.op, sample.source
        )
        shared = {out.index: ref_of(out, ops) for out in self.node.outputs}
        self.context = _Context(
            self.traits,
            1,
            written_inputs(self.node, ops),
            scribbled_inputs(self.node, ops),
            {out: at for out, at in shared.items() if at is not None},
        )

    @property
    def owners(self) -> str:
        """Who declares the op, and who computes it."""
        computed = "nobody" if self.entry is None else str(self.entry.owner)
        return f"declared by {self.traits.owner or 'nobody'}, computed by {computed}"

    @cached_property
    def problem(self) -> str | None:
        """Why the op can't be judged: no kernel of its own, or one that fails on the sample."""
        if self.entry is None:
            return "no kernel computes it"
        if self.entry.op is None and self.sample.source == "ge":
            return "only a stand-in computes it, which says nothing about traits"
        try:
            results = self.run(self.feeds(0))
        except GeError as error:
            return f"its kernel can't be run: {error}"
        except Exception as error:  # a kernel may raise anything
            return f"its kernel raised {type(error).__name__}: {error}"
        if len(results) < len(self.node.outputs):
            return f"{len(results)} results for {len(self.node.outputs)} outputs"
        for output, value in zip(self.node.outputs, results, strict=False):
            shape = getattr(value, "shape", None)
            if value is not None and output.desc.is_static and shape != output.desc.shape:
                return f"output {output.index} has shape {shape}, not {output.desc.shape}"
        return None

    def feeds(self, seed: int) -> list[Any]:
        """Arrays for its inputs, writable and of their own; None for one that is left out."""
        import numpy as np

        runner = make_executor(self.subject.executor)
        made = runner.make_feeds(self.graph, seed, {}, ops=self.subject.kernel.ops)
        names = [None if a.source is None else f"x{a.index}" for a in self.node.inputs]
        return [None if name is None else np.array(made[name]) for name in names]

    def run(self, values: list[Any], *, seed: int = 1, frozen: bool = False) -> list[Any]:
        """The kernel's results.

        Args:
            frozen: inputs that it has no right to write are read-only, as an executor's are.
        """
        import numpy as np

        assert self.entry is not None
        kernel = self.subject.kernel.registries.kernels.load(self.entry)
        if frozen:
            for at, value in enumerate(values):
                if value is not None and at not in self.context.writes:
                    value.flags.writeable = False
        with np.errstate(all="ignore"):
            # Random inputs are in nobody's domain; executors run kernels like this, too.
            return list(kernel(self.node, values, replace(self.context, seed=seed)))

    def outputs(self, values: list[Any], *, seed: int = 1) -> list[Any]:
        """What is in its outputs afterwards: those that alias an input are that input's array."""
        results = self.run(values, seed=seed)
        return [
            values[self.context.aliases[at]] if at in self.context.aliases else results[at]
            for at in range(len(self.node.outputs))
        ]


class OpTraitsSuite(Suite):
    """What op traits promise."""

    subject: ClassVar[_Subject]

    @plainly
    def test_a_kernel_computes_each_op(self) -> None:
        """Traits can be held against it only where one does, and it fits the sample."""
        bad = [(use.sample.op, use.problem) for use in self.subject.uses if use.problem]
        if bad:
            fail(
                "traits can't be held against the kernel:",
                *(f"  {op}: {problem}" for op, problem in bad),
                "  register one in ge_register_kernels, or say what its inputs look like:"
                " OpSample(op, inputs=[...], attrs={...})",
            )

    @plainly
    def test_inputs_that_are_only_read_stay(self) -> None:
        """An input that is not declared as written keeps every byte."""

        def check(use: _Use) -> str | None:
            for values in _feeds(use):
                before = [_bytes(value) for value in values]
                use.run(values)
                free = {*use.context.writes, *use.context.scribbles}
                for at, value in enumerate(values):
                    if at not in free and _bytes(value) != before[at]:
                        return f"input {at} is written: declare writes=({at},)"
                try:
                    use.run(use.feeds(0), frozen=True)
                except Exception as error:  # a kernel may raise anything
                    return f"it needs its read-only inputs writable: {error}"
            return None

        self.subject.judge("what is only read must stay as it is", check)

    @plainly
    def test_aliasing_outputs_are_their_inputs(self) -> None:
        """An output declared as an input's memory holds that input's bytes, as many as they are."""

        def check(use: _Use) -> str | None:
            for out, at in sorted(use.context.aliases.items()):
                values = use.feeds(0)
                result = use.run(values)[out]
                if result is not None and _bytes(result) != _bytes(values[at]):
                    return (
                        f"output {out} is declared as the memory of input {at}, and holds"
                        " something else"
                    )
            return None

        self.subject.judge("an aliasing output must be its input", check)

    @plainly
    def test_in_place_pairs_can_be_computed_in_place(self) -> None:
        """Element i of the output depends on element i of that input and on no other of it."""

        def check(use: _Use) -> str | None:
            for out, at in use.traits.inplace:
                if at < len(use.node.inputs) and use.node.inputs[at].source is not None:
                    fault = _not_elementwise(use, out, at)
                    if fault:
                        return fault
            return None

        self.subject.judge("what may lie on its input must be computed element by element", check)

    @plainly
    def test_only_the_shape_is_read_where_declared(self) -> None:
        """Other values in a shape-only input give the same results."""

        def check(use: _Use) -> str | None:
            for at in use.traits.shape_only:
                if at >= len(use.node.inputs) or use.node.inputs[at].source is None:
                    continue
                one, other = use.feeds(0), use.feeds(0)
                other[at] = use.feeds(1)[at]
                if _all(use.outputs(one)) != _all(use.outputs(other)):
                    return f"input {at} is declared shape_only, and its values show in the results"
            return None

        self.subject.judge("shape-only inputs must not be looked into", check)

    @plainly
    def test_equal_inputs_give_equal_results(self) -> None:
        """Run again, with another seed where the op doesn't declare to draw random numbers."""

        def check(use: _Use) -> str | None:
            seed = 1 if use.traits.nondeterministic else 2
            for values in _feeds(use):
                again = [None if v is None else v.copy() for v in values]
                if _all(use.outputs(values, seed=1)) != _all(use.outputs(again, seed=seed)):
                    if use.traits.nondeterministic:
                        return "drawn with one seed, its results differ: use ctx.seed"
                    return "its results differ from run to run: declare nondeterministic=True"
            return None

        self.subject.judge("equal inputs must give equal results", check)

    @plainly
    def test_it_works_in_poisoned_memory(self) -> None:
        """In the arena, outputs poisoned and lying on inputs where traits allow it."""

        def check(use: _Use) -> str | None:
            kernel, runner = self.subject.kernel, make_executor(self.subject.executor)
            for inplace in ("0", "1"):
                options = {"ge.memory.inplace": inplace} if _has_inplace(kernel) else {}
                request = CompileRequest(level="O3", options=options)
                result = Compiler(kernel).compile(clone(use.graph), request)
                assert result.proof is not None
                if not result.proof.ok:
                    return f"its graph is not proved: {result.proof.violations[0]}"
                try:
                    problem = execute_and_compare(result, runner)
                except GeError as error:
                    return f"it can't be executed: {error}"
                if problem:
                    return problem
            return None

        self.subject.judge("results must not depend on what was in the memory before", check)


def _has_inplace(kernel: Kernel) -> bool:
    return "ge.memory.inplace" in kernel.registries.options


def _feeds(use: _Use) -> Iterator[list[Any]]:
    for seed in range(use.subject.seeds):
        yield use.feeds(seed)


def _bytes(value: Any) -> bytes:
    return b"" if value is None else bytes(value.tobytes())


def _all(values: Sequence[Any]) -> list[bytes]:
    return [_bytes(value) for value in values]


def _not_elementwise(use: _Use, out: int, at: int) -> str | None:
    """How an output depends on more of an input than the element at its own place."""
    import numpy as np

    base, other = use.feeds(0), use.feeds(1)
    first = np.array(use.outputs([None if v is None else v.copy() for v in base])[out])
    size, width = base[at].size, base[at].dtype.itemsize
    if first.size != size or first.dtype.itemsize != width:
        # Ranges that aren't the same are never laid over one another.
        return None
    for place in range(0, size, max(1, size // PLACES)):
        values: list[Any] = [None if v is None else v.copy() for v in base]
        values[at].reshape(-1)[place] = other[at].reshape(-1)[place]
        changed = np.array(use.outputs(values)[out])
        one = first.reshape(-1).view(np.uint8).reshape(size, width)
        two = changed.reshape(-1).view(np.uint8).reshape(size, width)
        touched = np.flatnonzero((one != two).any(axis=1))
        strays = [int(p) for p in touched if p != place]
        if strays:
            return (
                f"declared inplace ({out}, {at}), and element {place} of input {at} shows in"
                f" element {strays[0]} of output {out}"
            )
    return None
