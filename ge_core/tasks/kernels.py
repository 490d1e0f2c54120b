"""`Kernels`: how an executor computes an op, contributed through `ge_register_kernels`.

A kernel is a lazy reference to a function `compute(node, inputs, ctx) -> list of outputs`:

* `inputs` holds per input an array in the tensor's shape and dtype, None for an input left out, or
  a Python object where the value is no tensor (a sequence, an optional).
* an output that is the memory of an input (`ctx.aliases`) is answered with None.
* inputs listed in `ctx.writes` are updated in place, in the given arrays; every other array is
  read-only.

The kernel holds no arrays itself, so the types here say `Any`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, Protocol, Self

from ge_core.errors import PluginError, UsageError
from ge_core.foreign import foreign, shortened
from ge_core.ir import Node
from ge_core.ops import OpTraits
from ge_core.registry import NOBODY, Owner, check_open, resolve_reference
from ge_core.tasks.model import Call

SOURCES: Final = ("ge", "onnx")


class KernelContext(Protocol):
    """What a kernel may ask of the executor."""

    @property
    def call(self) -> Call:
        """Call path of the node instance."""
        ...

    @property
    def traits(self) -> OpTraits:
        """Traits of the node's op."""
        ...

    @property
    def origin(self) -> str:
        """Names of the original nodes that the node stands for."""
        ...

    @property
    def seed(self) -> int:
        """For random ops: from `origin` and how often the node ran before.

        A rewritten graph draws the same numbers as the original.
        """
        ...

    @property
    def writes(self) -> Sequence[int]:
        """Inputs that the node updates in place."""
        ...

    @property
    def scribbles(self) -> Sequence[int]:
        """Inputs whose bytes are lost after the node has run; the executor sees to that."""
        ...

    @property
    def aliases(self) -> Mapping[int, int]:
        """Output -> input whose memory it is."""
        ...


class Kernel(Protocol):
    """Computes one node."""

    def __call__(self, node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
        """The outputs by index."""
        ...


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """One registered kernel; `op` is None for the fallback of a source."""

    op: str | None
    source: str
    reference: str
    owner: Owner = NOBODY

    def __str__(self) -> str:
        what = "fallback" if self.op is None else f"op {self.op!r}"
        return f"{what} of {self.source} graphs"


class Kernels:
    """Kernels by op type and source of the graph ("ge", "onnx", "*" for both).

    Looked up from the special to the general: the op for this source, the op for both, the
    fallback for this source, the fallback for both.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str | None, str], KernelEntry] = {}
        self._loaded: dict[KernelEntry, Kernel] = {}
        self.closed = False

    def add(self, op: str, reference: str, *, source: str = "*") -> None:
        """Say how an op is computed.

        Args:
            op: op type in the graph, e.g. "ConcatD" or "domain::Op".
            reference: `"module:function"`, imported when the op is first run.
            source: whose graphs: "ge", "onnx" or "*".

        Raises:
            UsageError: the source is none of these.
            PluginError: the op has a kernel for that source already.
        """
        self._put(KernelEntry(op, _checked(source, op), reference))

    def fallback(self, source: str, reference: str) -> None:
        """Say how every op without a kernel of its own is computed."""
        self._put(KernelEntry(None, _checked(source, None), reference))

    def find(self, op: str, source: str) -> KernelEntry | None:
        """The entry that computes an op in graphs of that source, or None."""
        for key in ((op, source), (op, "*"), (None, source), (None, "*")):
            found = self._entries.get(key)
            if found is not None:
                return found
        return None

    def load(self, entry: KernelEntry) -> Kernel:
        """The function behind an entry; imported once.

        Raises:
            PluginError: it can't be imported; names the owner.
        """
        found = self._loaded.get(entry)
        if found is None:
            kernel: Kernel = resolve_reference(entry.reference, entry.owner)
            if not callable(kernel):
                raise PluginError(
                    f"the kernel for {entry}, {entry.reference!r}, is no function",
                    owner=str(entry.owner),
                )
            found = self._loaded[entry] = kernel if entry.owner.builtin else _named(kernel, entry)
        return found

    def _put(self, entry: KernelEntry) -> None:
        check_open(self.closed, "kernel", entry.op or "fallback")
        reference: object = entry.reference
        if not isinstance(reference, str) or ":" not in reference:
            raise PluginError(
                f"the kernel for {entry} is {shortened(entry.reference)}, which is no reference",
                hint="write 'module:function'",
            )
        key = (entry.op, entry.source)
        taken = self._entries.get(key)
        if taken is not None:
            raise PluginError(
                f"the kernel for {entry} is registered twice", owner=f"{taken.owner}, {entry.owner}"
            )
        self._entries[key] = entry

    def fork(self) -> Self:
        """A copy that can be changed without changing this one."""
        copy = type(self)()
        copy._entries = dict(self._entries)
        return copy

    def absorb(self, staged: Self, owner: Owner) -> None:
        """Take over what one plugin registered; raises `PluginError` for an op that is taken."""
        for entry in staged:
            self._put(KernelEntry(entry.op, entry.source, entry.reference, owner))

    def __iter__(self) -> Iterator[KernelEntry]:
        """The entries by op and source, fallbacks last."""
        return iter(
            sorted(self._entries.values(), key=lambda e: (e.op is None, e.op or "", e.source))
        )

    def __len__(self) -> int:
        return len(self._entries)


def _named(kernel: Kernel, entry: KernelEntry) -> Kernel:
    """A third party's kernel: what it raises, and answers that are none, name its package."""

    @wraps(kernel)
    def compute(node: Node, inputs: list[Any], ctx: KernelContext) -> Sequence[Any]:
        with foreign(f"the kernel for {entry}", str(entry.owner)):
            answer = kernel(node, inputs, ctx)
        if not isinstance(answer, (list, tuple)) or len(answer) != len(node.outputs):
            raise PluginError(
                f"the kernel for {entry} answered {type(answer).__name__}, "
                f"not a list of {len(node.outputs)} outputs",
                owner=str(entry.owner),
            )
        return answer

    return compute


def _checked(source: str, op: str | None) -> str:
    if source != "*" and source not in SOURCES:
        what = "the fallback" if op is None else f"op {op!r}"
        raise UsageError(f"kernel of {what}: source {source!r} is none of ge, onnx, *")
    return source
