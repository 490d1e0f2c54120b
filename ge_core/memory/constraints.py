"""What must lie where: aliases, task-free joins and splits, padded runs, call boundaries.

Only what the graph demands is laid down here; places that tensors may share without harm (arms,
turns, in-place ops) are chosen later. Two relations come out: tensors at fixed distances
(`layout`), and among them those that are one memory with one content after another (`alias`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ge_core.analysis import Piece, is_free_join, is_free_split, join_pieces, split_pieces
from ge_core.analysis.clocks import has_task
from ge_core.analysis.pieces import WINDOW_MARK
from ge_core.errors import GraphError, LayoutConflict
from ge_core.ir import Node
from ge_core.memory.boundaries import outer_tensor, results
from ge_core.memory.expand import Expansion, Region
from ge_core.memory.layout import Layout
from ge_core.memory.plan import Strided
from ge_core.memory.problem import round_up
from ge_core.memory.rows import RowPlaces
from ge_core.memory.sizes import UNKNOWN, data_bytes, room_bytes
from ge_core.ops import is_no_task, parent_index, ref_of

AXIS_MARK = "_reuse_input_on_dim_index"
_NEVER_RUN = frozenset({"data", "constant", "variable", "net_output", "noop"})
_NAMED = ("ref_var_src_var_name", "_assign_var_name")


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a whole: bytes of `part` are bytes of `whole`, and flow that way or back."""

    whole: int
    part: int
    join: bool


class Constraints:
    """The demands of one expanded graph.

    Args:
        work: the instances.
        align: what the members of a padded run are rounded up to.

    Attributes:
        data, room: by tensor, bytes held and bytes kept; `UNKNOWN` where not known.
        layout: tensors at fixed distances.
        alias: tensors that are one memory.
        alias_of: by tensor, the one whose memory it was said to be.
        tasks: by instance: whether something runs there.
        windows: pieces of joins and splits.
        handed: (result, target) pairs of subgraphs' results that were put where they are wanted.
        strided: how the rows of a tensor lie where they have gaps.

    Raises:
        LayoutConflict: two demands contradict each other.
        GraphError: a mark is malformed.
    """

    def __init__(self, work: Expansion, align: int) -> None:
        self.work = work
        self.align = align
        count = len(work.owner)
        self.data: list[int] = [0] * count
        self.room: list[int] = [0] * count
        self.layout = Layout(count, work.name)
        self.alias = Layout(count, work.name)
        self.alias_of: dict[int, int] = {}
        self.tasks: list[bool] = []
        self.windows: list[Window] = []
        self.handed: list[tuple[int, int]] = []
        self.strided: dict[int, Strided] = {}
        self._weights: dict[Node, int] = {}
        # With gaps, where a piece lies depends on how the whole does: known when all is visited.
        self._late: list[tuple[Window, Piece, str]] | None = None
        if any(
            node.attrs and (node.attrs.get(AXIS_MARK) or _has_gaps(node)) for node in work.nodes
        ):
            self._late = []
        self._measure()
        for instance, node in enumerate(work.nodes):
            if work.traits(node).kind in ("constant", "variable"):
                self._weights.setdefault(node, instance)
        for instance in range(len(work.nodes)):
            self._visit(instance)
        if self._late:
            self._lay_rows(self._late)
        self._run_unplanned_views()

    # ---- sizes ---------------------------------------------------------------------------------

    def _measure(self) -> None:
        at = 0
        known: dict[int, tuple[int, int]] = {}
        for node in self.work.nodes:
            for output in node.outputs:
                # Descriptions are interned and outlive this loop, so their ids are theirs alone.
                sizes = known.get(id(output.desc))
                if sizes is None:
                    sizes = data_bytes(output.desc), room_bytes(output.desc)
                    known[id(output.desc)] = sizes
                self.data[at], self.room[at] = sizes
                at += 1

    # ---- one instance --------------------------------------------------------------------------

    def _visit(self, instance: int) -> None:
        work = self.work
        node = work.nodes[instance]
        kind = work.traits(node).kind
        region = work.regions[instance]
        self.tasks.append(has_task(node, work.ops) and not _no_library(node))
        if kind == "data" and region.outer is not None:
            self._inner_data(instance, region)
            return
        if kind in ("constant", "variable"):
            self._weight(instance)
            return
        if kind == "net_output" and region.outer is not None:
            self._results(instance, region)
        elif kind == "merge":
            self._merge(instance)
        else:
            self._outputs(instance, kind)
        self._runs(instance)

    def same(self, tensor: int, other: int, reason: str) -> None:
        """Say that `tensor` is the memory of `other`."""
        self.layout.join(other, tensor, 0, reason)
        self.alias.join(other, tensor, 0, reason)
        if tensor != other:
            self.alias_of.setdefault(tensor, other)

    def _inner_data(self, instance: int, region: Region) -> None:
        node = self.work.nodes[instance]
        index = parent_index(node)
        if index is None:
            return
        outer = outer_tensor(self.work, region, index)
        if outer is not None:
            for output in range(len(node.outputs)):
                self.same(self.work.tensor(instance, output), outer, "input of a subgraph")

    def _weight(self, instance: int) -> None:
        """A constant or variable is one memory, however often its graph is called."""
        node = self.work.nodes[instance]
        first = self._weights[node]
        for output in range(len(node.outputs) if first != instance else 0):
            self.same(
                self.work.tensor(instance, output), self.work.tensor(first, output), "one weight"
            )

    def _results(self, instance: int, region: Region) -> None:
        for result in results(self.work, region, instance):
            if result.role == "alias" and result.target is not None:
                self.same(result.target, result.tensor, "result of a call")

    def _merge(self, instance: int) -> None:
        """Whatever arm a merge hands on lies in one place."""
        if not self.work.nodes[instance].outputs:
            return
        out = self.work.tensor(instance, 0)
        for index in range(len(self.work.nodes[instance].inputs)):
            source = self.work.source(instance, index)
            if source is not None:
                self.same(out, source, "merge")

    def _outputs(self, instance: int, kind: str) -> None:
        node = self.work.nodes[instance]
        windows = is_free_split(node) or (is_free_join(node) and len(node.inputs) > 1)
        for output in node.outputs:
            tensor = self.work.tensor(instance, output.index)
            self._named(tensor, node, output.desc.attrs)
            # While slots are chosen later: a loop may not destroy what others still read.
            at = None if windows or kind == "while" else ref_of(output, self.work.ops)
            source = None if at is None else self.work.source(instance, at)
            if source is not None:
                self.same(tensor, source, f"{node.op} {node.name} shares its input {at}")

    def _named(self, tensor: int, node: Node, attrs: Mapping[str, object]) -> None:
        """An output that names a variable is that variable."""
        for mark in _NAMED:
            name = attrs.get(mark) or node.attrs.get(mark)
            found = self.work.graph.find(name) if isinstance(name, str) else None
            if found is None or found is node or not found.outputs:
                continue
            if self.work.traits(found).kind == "variable" and found in self._weights:
                other = self.work.tensor(self._weights[found], 0)
                self.same(tensor, other, f"named {name}")

    # ---- runs ----------------------------------------------------------------------------------

    def _runs(self, instance: int) -> None:
        node = self.work.nodes[instance]
        if is_free_split(node) and not is_free_join(node):
            self._split(instance, node)
        elif is_free_join(node) and len(node.inputs) > 1:
            self._join(instance, node)
        elif len(node.inputs) > 1 and node.attrs.get("continuous_input"):
            tensors = [self.work.source(instance, at) for at in range(len(node.inputs))]
            self._padded(node, [tensor for tensor in tensors if tensor is not None], "inputs")
        if len(node.outputs) > 1 and node.attrs.get("continuous_output"):
            self._padded_outputs(instance, node)

    def _join(self, instance: int, node: Node) -> None:
        if not node.outputs:
            return
        whole = self.work.tensor(instance, 0)
        pieces = self._pieces(node, join_pieces(node))
        for at, piece in enumerate(pieces):
            part = self.work.source(instance, at)
            if part is not None:
                self._window(node, whole, part, piece, join=True)

    def _split(self, instance: int, node: Node) -> None:
        whole = self.work.source(instance, 0)
        if whole is None:
            return
        pieces = self._pieces(node, split_pieces(node))
        for at, piece in enumerate(pieces):
            self._window(node, whole, self.work.tensor(instance, at), piece, join=False)

    def _pieces(self, node: Node, pieces: list[Piece] | None) -> list[Piece]:
        axis = node.attrs.get(AXIS_MARK, 0)
        shapes = [output.desc.shape for output in node.outputs]
        ranks = [len(shape) for shape in shapes if shape is not None]
        if not isinstance(axis, int) or axis < 0 or any(axis >= max(rank, 1) for rank in ranks):
            raise GraphError(
                f"axis {axis!r} is not one of its shapes'", node=node.name, field=AXIS_MARK
            )
        if pieces is None:
            raise LayoutConflict(
                f"{node.op} {node.name!r} can't do without a task: its pieces have unknown sizes, "
                "no byte boundaries, different rows or a place outside"
            )
        return pieces

    def _window(self, node: Node, whole: int, part: int, piece: Piece, *, join: bool) -> None:
        what = "operand of the join" if join else "piece of the split"
        window, reason = Window(whole, part, join), f"{what} {node.name}"
        self.windows.append(window)
        if self._late is None:
            self.layout.join(whole, part, piece.delta, reason)
        else:
            self._late.append((window, piece, reason))

    def _lay_rows(self, late: list[tuple[Window, Piece, str]]) -> None:
        """Put pieces where their wholes' rows put them; every name of a memory has its gaps."""
        group = [self.alias.find(tensor)[0] for tensor in range(len(self.data))]
        rows = RowPlaces(self.work.name)
        for window, piece, _ in late:
            rows.add(window.whole, window.part, piece, group)
        deltas = rows.resolve()
        for (window, _, reason), delta in zip(late, deltas, strict=True):
            self.layout.join(window.whole, window.part, delta, reason)
        for tensor, size in enumerate(self.data):
            found = rows.shapes.get(group[tensor])
            if found is None:
                continue
            if size not in (UNKNOWN, found.row * found.count):
                raise LayoutConflict(
                    f"{self.work.name(tensor)} has {size} bytes, and its memory "
                    f"{found.count} rows of {found.row} bytes, {found.pitch} bytes apart"
                )
            self.strided[tensor] = Strided(found.row, found.pitch, found.count)

    def _padded_outputs(self, instance: int, node: Node) -> None:
        refs = [ref_of(output, self.work.ops) for output in node.outputs]
        if all(at is not None for at in refs):
            return
        if any(at is not None for at in refs):
            raise GraphError(
                "some outputs of a continuous run are inputs, others are not", node=node.name
            )
        tensors = [self.work.tensor(instance, at) for at in range(len(node.outputs))]
        self._padded(node, tensors, "outputs")

    def _padded(self, node: Node, tensors: list[int], what: str) -> None:
        distance = 0
        for tensor in tensors:
            if self.room[tensor] == UNKNOWN:
                raise LayoutConflict(
                    f"continuous {what} of {node.name!r}: {self.work.name(tensor)} has no size"
                )
            reason = f"continuous {what} of {node.name}"
            self.layout.join(tensors[0], tensor, distance, reason)
            distance += round_up(self.room[tensor], self.align)

    def _run_unplanned_views(self) -> None:
        """A view without a planned place is made when the graph runs, by a node that reads."""
        find = self.layout.find
        unknown = {find(tensor)[0] for tensor, size in enumerate(self.data) if size == UNKNOWN}
        if not unknown:
            return
        work = self.work
        for instance, node in enumerate(work.nodes):
            if self.tasks[instance] or not node.inputs or is_no_task(node):
                continue
            base = work.base[instance]
            outputs = range(base, base + len(node.outputs))
            if work.traits(node).kind not in _NEVER_RUN and any(
                find(tensor)[0] in unknown for tensor in outputs
            ):
                self.tasks[instance] = True

    # ---- reading -------------------------------------------------------------------------------

    def span(self, tensor: int) -> int:
        """Bytes from a tensor's first byte behind its last, gaps and padding included."""
        strided = self.strided.get(tensor)
        return self.room[tensor] if strided is None else strided.span

    def extent(self, tensor: int) -> int:
        """The same without padding, which others may cover."""
        strided = self.strided.get(tensor)
        return self.data[tensor] if strided is None else strided.span


def _has_gaps(node: Node) -> bool:
    """Whether a node is a slice that says of its result that it lies in rows."""
    window = node.attrs.get(WINDOW_MARK)
    return isinstance(window, (list, tuple)) and window[-1:] != [1]


def _no_library(node: Node) -> bool:
    """A node that names no kernel library launches nothing."""
    for key in ("_ge_attr_op_kernel_lib_name", "op_kernel_lib"):
        if key in node.attrs:
            return not node.attrs[key]
    return False
