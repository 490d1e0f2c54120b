"""`Graph`: nodes in a stable order, edges kept right at both ends, edits that can be rolled back.

Notes to developers: every edit goes through a method here, records its inverse when the journal is
active, and bumps `root.version` so that analyses know they are stale. The node list is linked, so
that inserting and removing is O(1) and iteration survives the removal of the current node.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ge_core.errors import GraphError
from ge_core.ir.desc import TensorDesc
from ge_core.ir.journal import Bypass, Journal, ReadOnly, Transaction
from ge_core.ir.node import InputAnchor, Node, OutputAnchor
from ge_core.ir.value import ConstValue

NOOP_FAN = 1000
"""More predecessor x successor pairs than this are joined through one NoOp (GE's removal rule)."""


class _Shared:
    """What a root graph and its subgraphs have in common."""

    __slots__ = ("graphs", "journal", "most_nodes", "names", "source", "taken_below", "version")

    def __init__(self, source: str) -> None:
        self.names: dict[str, Node] = {}
        self.taken_below: dict[str, int] = {}
        """By stem, the number below which all are taken; forgotten when a name becomes free."""
        self.graphs: dict[str, Graph] = {}
        self.journal = Journal()
        self.version = 0
        self.source = source
        self.most_nodes = sys.maxsize


class Graph:
    """A graph or subgraph.

    Args:
        name: unique among the root and its subgraphs.
        source: "ge" or "onnx": whose effect rules hold. A subgraph shares its root's.
        root: the root graph, for a subgraph (use `root.add_subgraph`).
    """

    __slots__ = (
        "_attrs",
        "_count",
        "_head",
        "_ops",
        "_root",
        "_shared",
        "_tail",
        "callers",
        "name",
    )

    def __init__(
        self, name: str = "root", source: str = "ge", *, root: Graph | None = None
    ) -> None:
        self.name = name
        self._root = root
        self._shared: _Shared = _Shared(source) if root is None else root._shared
        self._attrs: dict[str, Any] = {}
        self._head: Node | None = None
        self._tail: Node | None = None
        self._count = 0
        self._ops: dict[str, int] = {}
        self.callers: list[tuple[Node, str]] = []
        """(node, label) of every node that names this graph as a subgraph."""

    # ---- reading -------------------------------------------------------------------------------

    @property
    def root(self) -> Graph:
        """The outermost graph."""
        return self if self._root is None else self._root

    @property
    def is_root(self) -> bool:
        """Whether this is the outermost graph."""
        return self._root is None

    @property
    def source(self) -> str:
        """Whose effect rules hold: "ge" or "onnx"."""
        return self._shared.source

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Graph attributes; edit through `set_graph_attr`."""
        return self._attrs

    @property
    def version(self) -> int:
        """Grows with every edit, and with every rollback of edits, anywhere below the root."""
        return self._shared.version + self._shared.journal.rollbacks

    @property
    def journal(self) -> Journal:
        """The undo log; analyses that are kept up to date record their own steps in it."""
        return self._shared.journal

    @property
    def nodes(self) -> Iterator[Node]:
        """The nodes in order. The current node may be removed while iterating."""
        node = self._head
        while node is not None:
            yield node
            node = node._next
            # A node removed meanwhile is skipped: it keeps its links, and they still lead on.
            while node is not None and node.graph is not self:
                node = node._next

    def __len__(self) -> int:
        return self._count

    def nodes_of(self, *ops: str) -> list[Node]:
        """The nodes with one of these op types, in order."""
        wanted = frozenset(ops)
        return [node for node in self.nodes if node.op in wanted]

    def count_of(self, *ops: str) -> int:
        """How many nodes have one of these op types; known without looking at the nodes."""
        return sum(self._ops.get(op, 0) for op in ops)

    def find(self, name: str) -> Node | None:
        """The node of that name anywhere below the root, or None."""
        return self._shared.names.get(name)

    def node(self, name: str) -> Node:
        """The node of that name; raises `GraphError` where there is none."""
        found = self._shared.names.get(name)
        if found is None:
            raise GraphError("no such node", node=name)
        return found

    @property
    def subgraphs(self) -> Mapping[str, Graph]:
        """All subgraphs below the root by name, in the order they were added."""
        return self._shared.graphs

    def all_graphs(self) -> list[Graph]:
        """The root, then every subgraph in the order they were added."""
        return [self.root, *self._shared.graphs.values()]

    def all_nodes(self) -> Iterator[Node]:
        """Nodes of the root, then of every subgraph."""
        for graph in self.all_graphs():
            yield from graph.nodes

    @property
    def net_output(self) -> Node | None:
        """The NetOutput node, or None: a graph without one is accepted."""
        for node in self._backwards():
            if node.op == "NetOutput":
                return node
        return None

    @property
    def data_nodes(self) -> list[Node]:
        """Data nodes by `index` (root) or parent index (subgraph), then listing order."""
        key = "index" if self.is_root else "_parent_node_index"
        found = [(node.attrs.get(key), at, node) for at, node in enumerate(self.nodes_of("Data"))]
        found.sort(
            key=lambda item: (item[0] is None, item[0] if item[0] is not None else 0, item[1])
        )
        return [node for _, _, node in found]

    def _backwards(self) -> Iterator[Node]:
        node = self._tail
        while node is not None:
            yield node
            node = node._prev

    # ---- transactions --------------------------------------------------------------------------

    def transaction(self) -> Transaction:
        """Edits inside roll back as a whole on an exception or on `rollback()`."""
        return self._shared.journal.begin()

    def limit_nodes(self, most: int | None) -> None:
        """Refuse nodes beyond so many, subgraphs included; None for no limit."""
        self._shared.most_nodes = sys.maxsize if most is None else most

    def read_only(self) -> ReadOnly:
        """For calls into code that may only look: an edit inside is a `GraphError`."""
        return self._shared.journal.lock()

    def _edited(self, undo: Callable[[], object]) -> None:
        journal = self._shared.journal
        if journal.locks:
            undo()
            raise GraphError("edits the graph, where it may only look at it")
        self._shared.version += 1
        if journal.active:
            journal.record(undo)

    # ---- nodes ---------------------------------------------------------------------------------

    def add_subgraph(self, name: str) -> Graph:
        """A new, empty subgraph of the root. Raises `GraphError` for a name in use."""
        if name in self._shared.graphs or name == self.root.name:
            raise GraphError(f"graph name {name!r} is used twice", field="subgraphs")
        graph = Graph(name, root=self.root)
        self._shared.graphs[name] = graph
        self._edited(lambda: self._shared.graphs.pop(name))
        return graph

    def remove_subgraph(self, graph: Graph) -> None:
        """Drop a subgraph that nobody calls, with its nodes."""
        if graph.callers:
            raise GraphError(
                f"subgraph {graph.name!r} is still called", node=graph.callers[0][0].name
            )
        for node in reversed(list(graph.nodes)):
            graph.remove(node)
        before = dict(self._shared.graphs)
        del self._shared.graphs[graph.name]

        def undo() -> None:
            self._shared.graphs.clear()
            self._shared.graphs.update(before)

        self._edited(undo)

    def add_node(
        self,
        op: str,
        name: str | None = None,
        inputs: Sequence[OutputAnchor | None] = (),
        outputs: Sequence[TensorDesc] = (),
        *,
        attrs: Mapping[str, Any] | None = None,
        control_inputs: Iterable[Node] = (),
        subgraphs: Mapping[str, Graph] | None = None,
        value: ConstValue | None = None,
        origin: Iterable[str] | None = None,
        input_names: Sequence[str] = (),
        output_names: Sequence[str] = (),
        before: Node | None = None,
        after: Node | None = None,
    ) -> Node:
        """Add a node, at the end or next to another one.

        Args:
            op, name: type and name; without a name `<op>_<n>` is made up, deterministically.
            inputs: what feeds each input; None leaves an optional input out.
            outputs: a description per output.
            origin: names of the original nodes it stands for; `()` for a node a pass invented,
                None (the loader's case) for "itself".

        Raises:
            GraphError: the name is taken, or an input belongs to another graph.
        """
        if name is None:
            name = self.fresh_name(op)
        if name in self._shared.names:
            raise GraphError("the name is used twice", node=name)
        if len(self._shared.names) >= self._shared.most_nodes:
            raise GraphError(f"more than {self._shared.most_nodes} nodes: a loop without an end?")
        node = Node(name, op, self)
        if attrs:
            node._attrs = dict(attrs)
        if origin is not None:
            node._origin = tuple(origin)
        node.value = value
        node.input_names, node.output_names = tuple(input_names), tuple(output_names)
        node.outputs = [OutputAnchor(node, at, desc) for at, desc in enumerate(outputs)]
        node.inputs = [InputAnchor(node, at) for at in range(len(inputs))]
        self._shared.names[name] = node
        self._link(node, before, after)
        self._edited(lambda: self._forget(node))
        for anchor, feed in zip(node.inputs, inputs, strict=True):
            if feed is not None:
                self.connect(feed, anchor)
        for earlier in control_inputs:
            self.add_control(earlier, node)
        for label, graph in (subgraphs or {}).items():
            self.set_subgraph(node, label, graph)
        return node

    def fresh_name(self, stem: str) -> str:
        """A name nobody has yet: the stem, else `<stem>_<n>` with the smallest free n."""
        names = self._shared.names
        if stem not in names:
            return stem
        number = self._shared.taken_below.get(stem, 1)
        while f"{stem}_{number}" in names:
            number += 1
        self._shared.taken_below[stem] = number
        return f"{stem}_{number}"

    def remove(self, node: Node) -> None:
        """Remove a node that nobody reads, with its edges; raises `GraphError` if it is read."""
        self._check_mine(node)
        for output in node.outputs:
            if output.readers:
                raise GraphError(f"still read by {output.readers[0]!r}", node=node.name)
        for anchor in node.inputs:
            if anchor.source is not None:
                self.disconnect(anchor)
        for other in node.control_inputs:
            self.remove_control(other, node)
        for other in node.control_outputs:
            self.remove_control(node, other)
        for label, graph in tuple(node.subgraphs.items()):
            graph.callers.remove((node, label))
            self._edited(partial(graph.callers.append, (node, label)))
        previous, following = node._prev, node._next
        del self._shared.names[node.name]
        self._shared.taken_below.clear()
        self._unlink(node)
        node.graph = None

        def undo() -> None:
            node.graph = self
            self._shared.names[node.name] = node
            node._prev = node._next = None
            self._link(node, following, previous if following is None else None)

        self._edited(undo)

    def bypass(self, node: Node, *, input: int = 0, output: int = 0) -> None:
        """Remove a node and link the readers of one output to what feeds one input.

        GE's rule for control edges (removal step 2.8): every predecessor is ordered before every
        successor that the data link did not join already; more than `NOOP_FAN` pairs go through
        one NoOp. Where an edge joins two streams a NoOp takes the node's place on its stream, on
        which others may rely. The other outputs must be without readers.
        """
        self._check_mine(node)
        feed = node.inputs[input].source
        if feed is None:
            raise GraphError("its input is not connected", node=node.name)
        version = self.root.version
        before = _unique([*node.in_nodes, *node.control_inputs])
        after = _unique([*node.out_nodes, *node.control_outputs])
        readers = tuple(node.outputs[output].readers)
        for reader in reversed(readers):  # from the end: each is found at once
            self.disconnect(reader)
        for reader in readers:
            self.connect(feed, reader)
        self._order_all(node, before, after, feed)
        self._tie_callers(node)
        self.remove(node)
        step = Bypass(version, self.root.version, node, feed, node.outputs[output])
        self.journal.bypasses.append(step)

    def _order_all(
        self, node: Node, before: list[Node], after: list[Node], feed: OutputAnchor
    ) -> None:
        # Only the successors are asked: the feed may have very many other readers.
        linked = {b for b in after if any(anchor.source is feed for anchor in b.inputs)}
        pairs = [
            (a, b)
            for a in before
            for b in after
            if a is not b and not (a is feed.node and b in linked)
        ]
        crosses = crosses_streams(node, before) or crosses_streams(node, after)
        if crosses or (len(pairs) > NOOP_FAN and len(pairs) > len(before) + len(after)):
            barrier = self.add_node(
                "NoOp",
                self.fresh_name(f"{node.name}_noop"),
                attrs={"stream_id": node.stream_id} if crosses else None,
                origin=(),
                before=node,
            )
            for a in before:
                self.add_control(a, barrier)
            for b in after:
                self.add_control(barrier, b)
            return
        for a, b in pairs:
            self.add_control(a, b)

    def _tie_callers(self, node: Node) -> None:
        """Keep a call's place on the stream of a node that goes.

        While the node runs inside, its stream and that of a caller wait for each other in front of
        the call and behind it; what is listed there may rely on it.
        """
        for caller, _ in self.callers:
            outer = caller.graph
            if outer is None or not crosses_streams(node, [caller]):
                continue
            for ahead in (True, False):
                around = caller.control_inputs if ahead else caller.control_outputs
                if any(
                    tie.op == "NoOp" and tie.attrs.get("stream_id") == node.stream_id
                    for tie in around
                ):
                    continue
                tie = outer.add_node(
                    "NoOp",
                    outer.fresh_name(f"{node.name}_noop"),
                    attrs={"stream_id": node.stream_id},
                    origin=(),
                    before=caller if ahead else None,
                    after=None if ahead else caller,
                )
                outer.add_control(*((tie, caller) if ahead else (caller, tie)))

    def _check_mine(self, node: Node) -> None:
        if node.graph is not self:
            raise GraphError("the node is not in this graph", node=node.name)

    def _forget(self, node: Node) -> None:
        del self._shared.names[node.name]
        self._shared.taken_below.clear()
        self._unlink(node)
        node.graph = None

    def _link(self, node: Node, before: Node | None, after: Node | None) -> None:
        if before is not None:
            after = before._prev
        elif after is None:
            after = self._tail
        following = self._head if after is None else after._next
        node._prev, node._next = after, following
        if after is None:
            self._head = node
        else:
            after._next = node
        if following is None:
            self._tail = node
        else:
            following._prev = node
        self._count += 1
        self._ops[node.op] = self._ops.get(node.op, 0) + 1

    def _unlink(self, node: Node) -> None:
        # The node keeps its own links, so that an iteration standing on it finds its way on.
        if node._prev is None:
            self._head = node._next
        else:
            node._prev._next = node._next
        if node._next is None:
            self._tail = node._prev
        else:
            node._next._prev = node._prev
        self._count -= 1
        self._ops[node.op] -= 1

    def reorder(self, order: Sequence[Node]) -> None:
        """List the nodes in this order (a permutation of them)."""
        old = list(self.nodes)
        if len(old) != len(order) or {id(n) for n in old} != {id(n) for n in order}:
            raise GraphError(f"not a permutation of the nodes of {self.name!r}")
        self._relist(order)
        self._edited(lambda: self._relist(old))

    def _relist(self, order: Sequence[Node]) -> None:
        self._head = self._tail = None
        self._count = 0
        self._ops.clear()
        for node in order:
            self._link(node, None, None)

    # ---- edges ---------------------------------------------------------------------------------

    def connect(self, source: OutputAnchor, target: InputAnchor, at: int | None = None) -> None:
        """Feed an unconnected input. `at` is the place among the readers, the last by default."""
        if target.source is not None:
            raise GraphError(f"input {target.index} is connected already", node=target.node.name)
        if source.node.graph is not target.node.graph:
            raise GraphError(
                f"{source!r} lies in another graph", node=target.node.name, field="inputs"
            )
        target.source = source
        readers = source.readers
        if at is None:
            readers.append(target)
        else:
            readers.insert(at, target)
        self._edited(lambda: _detach(target))

    def disconnect(self, target: InputAnchor) -> None:
        """Leave an input unconnected."""
        source = target.source
        if source is None:
            return
        at = _detach(target)

        def undo() -> None:
            target.source = source
            source.readers.insert(at, target)

        self._edited(undo)

    def rewire(self, target: InputAnchor, source: OutputAnchor) -> None:
        """Feed an input from somewhere else."""
        self.disconnect(target)
        self.connect(source, target)

    def add_input(
        self, node: Node, source: OutputAnchor | None, desc: TensorDesc | None = None
    ) -> InputAnchor:
        """Append an input anchor to a node."""
        anchor = InputAnchor(node, len(node.inputs))
        anchor.own_desc = desc
        node.inputs.append(anchor)
        self._edited(node.inputs.pop)
        if source is not None:
            self.connect(source, anchor)
        return anchor

    def remove_input(self, node: Node) -> None:
        """Drop the last input anchor of a node."""
        anchor = node.inputs[-1]
        self.disconnect(anchor)
        node.inputs.pop()
        self._edited(lambda: node.inputs.append(anchor))

    def add_output(self, node: Node, desc: TensorDesc) -> OutputAnchor:
        """Append an output anchor to a node."""
        anchor = OutputAnchor(node, len(node.outputs), desc)
        node.outputs.append(anchor)
        self._edited(node.outputs.pop)
        return anchor

    def add_control(self, before: Node, after: Node) -> bool:
        """Order two nodes of one graph; False where the edge is there already."""
        if before.graph is not after.graph:
            raise GraphError(f"{before.name!r} lies in another graph", node=after.name)
        if before is after:
            raise GraphError("a node can't wait for itself", node=after.name)
        out = before._control_out
        if out is not None and after in out:
            return False
        if out is None:
            out = before._control_out = {}
        if after._control_in is None:
            after._control_in = {}
        out[after] = None
        after._control_in[before] = None
        self._edited(lambda: _cut(before, after))
        return True

    def remove_control(self, before: Node, after: Node) -> bool:
        """Drop a control edge; False where there was none."""
        if before._control_out is None or after not in before._control_out:
            return False
        old_out, old_in = dict(before._control_out), dict(after._control_in or {})
        _cut(before, after)

        def undo() -> None:
            before._control_out, after._control_in = old_out, old_in

        self._edited(undo)
        return True

    # ---- facts on nodes ------------------------------------------------------------------------

    def set_desc(self, anchor: OutputAnchor | InputAnchor, desc: TensorDesc | None) -> None:
        """Give an output its description, or an input one of its own (None: inherit)."""
        if isinstance(anchor, OutputAnchor):
            if desc is None:
                raise GraphError("an output needs a description", node=anchor.node.name)
            output, old = anchor, anchor.desc
            output.desc = desc
            self._edited(lambda: setattr(output, "desc", old))
            return
        port, before = anchor, anchor.own_desc
        port.own_desc = desc
        self._edited(lambda: setattr(port, "own_desc", before))

    def set_attr(self, node: Node, name: str, value: Any) -> None:
        """Set a node attribute."""
        attrs = node._attrs
        if attrs is None:
            attrs = node._attrs = {}
        old = dict(attrs) if self._shared.journal.active else None
        attrs[name] = value
        self._edited(lambda: setattr(node, "_attrs", old))

    def del_attr(self, node: Node, name: str) -> None:
        """Drop a node attribute; nothing happens where it is absent."""
        if node._attrs is None or name not in node._attrs:
            return
        old = dict(node._attrs)
        del node._attrs[name]
        self._edited(lambda: setattr(node, "_attrs", old))

    def set_op(self, node: Node, op: str) -> None:
        """Change a node's op type."""
        old = node.op
        _rename_op(node, op)
        self._edited(lambda: _rename_op(node, old))

    def set_value(self, node: Node, value: ConstValue | None) -> None:
        """Give a constant its bytes."""
        old = node.value
        node.value = value
        self._edited(lambda: setattr(node, "value", old))

    def set_origin(self, node: Node, origin: Iterable[str]) -> None:
        """Say which original nodes a node stands for."""
        old = node._origin
        node._origin = tuple(origin)
        self._edited(lambda: setattr(node, "_origin", old))

    def set_graph_attr(self, name: str, value: Any) -> None:
        """Set a graph attribute."""
        old = dict(self._attrs)
        self._attrs[name] = value
        self._edited(lambda: setattr(self, "_attrs", old))

    def set_subgraph(self, node: Node, label: str, graph: Graph) -> None:
        """Name a subgraph of a node; one graph may be named by several nodes."""
        if label in node.subgraphs:
            raise GraphError(f"subgraph label {label!r} is used twice", node=node.name)
        if node._subgraphs is None:
            node._subgraphs = {}
        subgraphs = node._subgraphs
        subgraphs[label] = graph
        graph.callers.append((node, label))

        def undo() -> None:
            graph.callers.remove((node, label))
            del subgraphs[label]

        self._edited(undo)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {self._count} nodes>"


def crosses_streams(node: Node, others: Iterable[Node]) -> bool:
    """Whether one of the others runs on another stream; what feeds graphs and ends them doesn't."""
    return any(
        other.stream_id != node.stream_id
        and ("stream_id" in other.attrs or (other.inputs and other.op != "NetOutput"))
        for other in others
    )


def _rename_op(node: Node, op: str) -> None:
    if node.graph is not None:
        counts = node.graph._ops
        counts[node.op] -= 1
        counts[op] = counts.get(op, 0) + 1
    node.op = op


def _unique(nodes: Iterable[Node]) -> list[Node]:
    return list(dict.fromkeys(nodes))


def _detach(target: InputAnchor) -> int:
    """Cut the edge into an input; returns the place it had among the readers."""
    source = target.source
    assert source is not None
    readers = source.readers
    # From both ends: removals run through a long list forwards or backwards.
    at, back = 0, len(readers) - 1
    while readers[at] is not target:
        if readers[back] is target:
            at = back
            break
        at, back = at + 1, back - 1
    del readers[at]
    target.source = None
    return at


def _cut(before: Node, after: Node) -> None:
    assert before._control_out is not None and after._control_in is not None
    del before._control_out[after]
    del after._control_in[before]
