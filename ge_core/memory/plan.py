"""`Plan`: where every tensor and scratch area of one compiled graph lies (`ge-plan/1`).

All sizes, offsets and pitches are bytes; an offset counts from the start of its pool. A tensor is
one output of one *node instance*: the call path (names of the calling nodes, outermost first) and
the node's name. Positions are those of the expanded listing order: 0 is the start of the run, nodes
count from 1 (a parent, then the nodes of its subgraphs, then what follows), and the last position
is the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from ge_core.analysis import Piece, pieces_overlap
from ge_core.errors import InputFileError, UnknownNameError, near_matches

SCHEMA: Final = "ge-plan/1"

ARENA: Final = "HBM"
"""The arena: temporaries, graph inputs and graph outputs."""
CONSTANTS: Final = "CONST"
"""Constants, written before the run and never again."""
VARIABLES: Final = "VAR"
"""Variables, one place per name; they keep their content between runs."""

Io = Literal["input", "output", "constant", "variable"]
CallPath = tuple[str, ...]


def tensor_name(call: Sequence[str], node: str, output: int) -> str:
    """How a tensor is written in plans and messages: `call/.../node:output`."""
    return "/".join((*call, f"{node}:{output}"))


def scratch_name(call: Sequence[str], node: str, index: int) -> str:
    """How a scratch area is written in plans and messages: `call/.../node:ws<index>`."""
    return "/".join((*call, f"{node}:ws{index}"))


@dataclass(frozen=True, slots=True)
class Strided:
    """An inner-axis piece: `count` rows of `row` bytes, starts `pitch` bytes apart."""

    row: int
    pitch: int
    count: int

    @property
    def span(self) -> int:
        """Bytes from the first byte of the first row behind the last byte of the last."""
        return (self.count - 1) * self.pitch + self.row if self.count and self.row else 0


def rows_at(offset: int, span: int, strided: Strided | None) -> Piece:
    """The bytes of a place: a range, or rows with gaps."""
    if strided is None:
        return Piece(offset, span, span, 1)
    return Piece(offset, strided.row, strided.pitch, strided.count)


@dataclass(frozen=True, slots=True)
class Run:
    """Membership in tensors that lie together: which run, and how far behind its start."""

    id: str
    delta: int


@dataclass(frozen=True, slots=True)
class PlanTensor:
    """The place of one output of one node instance.

    Attributes:
        bytes: bytes that the tensor holds, without padding.
        strided: how its rows lie where they are not contiguous.
        alias_of: name of the tensor whose memory this is (a view, a call boundary, an in-place op).
        run: the run it is a piece of.
        io: what it is to the caller; None for a temporary.
        life: positions of the first and the last access to its bytes.
    """

    call: CallPath
    node: str
    output: int
    pool: str
    offset: int
    bytes: int
    strided: Strided | None = None
    alias_of: str | None = None
    run: Run | None = None
    io: Io | None = None
    life: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        """`call/.../node:output`."""
        return tensor_name(self.call, self.node, self.output)

    @property
    def end(self) -> int:
        """Offset behind its last byte."""
        return self.offset + (self.bytes if self.strided is None else self.strided.span)

    @property
    def rows(self) -> Piece:
        """Its bytes in the pool."""
        return rows_at(self.offset, self.bytes, self.strided)


@dataclass(frozen=True, slots=True)
class PlanWorkspace:
    """The place of one scratch area, in use while its node runs."""

    call: CallPath
    node: str
    index: int
    pool: str
    offset: int
    bytes: int

    @property
    def name(self) -> str:
        """`call/.../node:ws<index>`."""
        return scratch_name(self.call, self.node, self.index)

    @property
    def end(self) -> int:
        """Offset behind its last byte."""
        return self.offset + self.bytes

    @property
    def rows(self) -> Piece:
        """Its bytes in the pool."""
        return rows_at(self.offset, self.bytes, None)


@dataclass(frozen=True, slots=True)
class PoolTotals:
    """What one pool takes.

    Attributes:
        bytes: its size.
        lower_bound: no plan of the same problem takes less.
        no_reuse: what it would take if no two buffers shared bytes.
        optimal: whether `bytes` is known to be the least possible.
    """

    bytes: int
    lower_bound: int
    no_reuse: int
    optimal: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why two tensors may or may not share bytes, and whether they do in this plan."""

    a: str
    b: str
    may_share: bool | None
    shares: bool
    reason: str

    def __str__(self) -> str:
        """Two lines: the rule's answer with its reason, and what the plan does."""
        verdict = {True: "may share", False: "must not share", None: "share or not"}[self.may_share]
        done = "share bytes" if self.shares else "do not share bytes"
        return f"{self.a} and {self.b} {verdict}: {self.reason}\nin this plan they {done}"


@dataclass(slots=True)
class Plan:
    """Where everything lies, and what that takes.

    Attributes:
        tensors: in expanded listing order, then by output.
        unplanned: names of the tensors without a planned size; they get buffers at run time.
        options: the options in force that planning depends on.
        warnings: what of the options was left out, or read otherwise than it stands there; plans
            read from a file have none.
    """

    target: str = ""
    level: str = ""
    options: dict[str, str] = field(default_factory=dict)
    pools: dict[str, PoolTotals] = field(default_factory=dict)
    tensors: list[PlanTensor] = field(default_factory=list)
    workspace: list[PlanWorkspace] = field(default_factory=list)
    unplanned: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list, compare=False)
    judge: Callable[[str, str], tuple[bool, str]] | None = field(
        default=None, repr=False, compare=False
    )
    """Answers by the rule of reuse for two names; plans read from a file have none."""
    _index: dict[tuple[CallPath, str, int], PlanTensor] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def at(self, call: Sequence[str], node: str, output: int) -> PlanTensor | None:
        """The place of an output, or None where it has none (unplanned, or no such output).

        The table behind it is made on the first call: edit `tensors` before, or in a new Plan.
        """
        if self._index is None:
            self._index = {(t.call, t.node, t.output): t for t in self.tensors}
        return self._index.get((tuple(call), node, output))

    def scratch(self, call: Sequence[str], node: str) -> list[PlanWorkspace]:
        """The scratch areas of a node instance, by index."""
        path = tuple(call)
        found = [w for w in self.workspace if w.node == node and w.call == path]
        return sorted(found, key=lambda w: w.index)

    def find(self, name: str) -> PlanTensor | PlanWorkspace:
        """The tensor or scratch area of that name (`call/.../node:0`, `node:ws0`).

        The call path may be left out where the node has one instance only.

        Raises:
            UnknownNameError: nothing, or more than one thing, has that name.
        """
        places: list[PlanTensor | PlanWorkspace] = [*self.tensors, *self.workspace]
        exact = [place for place in places if place.name == name]
        if len(exact) == 1:
            return exact[0]
        short = [place for place in places if place.name.removeprefix(_prefix(place)) == name]
        if len(short) == 1:
            return short[0]
        if short:
            raise UnknownNameError(
                f"{name!r} has several instances", near=[place.name for place in short[:3]]
            )
        raise UnknownNameError(
            f"the plan has no tensor {name!r}", near=near_matches(name, (p.name for p in places))
        )

    def explain(self, a: str, b: str) -> Explanation:
        """Why two tensors or scratch areas may or may not share bytes.

        Raises:
            UnknownNameError: the plan has no such tensor.
        """
        one, other = self.find(a), self.find(b)
        shares = one.pool == other.pool and pieces_overlap(one.rows, other.rows)
        if self.judge is not None:
            may, reason = self.judge(one.name, other.name)
            return Explanation(one.name, other.name, may, shares, reason)
        return Explanation(
            one.name, other.name, None, shares, "the plan was read without its graph"
        )

    def table(self) -> str:
        """One line per tensor and scratch area, by pool and offset."""
        from ge_core.memory.table import render

        return render(self)

    def to_json(self) -> dict[str, Any]:
        """The `ge-plan/1` document."""
        return {
            "schema": SCHEMA,
            "target": self.target,
            "level": self.level,
            "options": dict(self.options),
            "pools": {
                name: {
                    "bytes": pool.bytes,
                    "lower_bound": pool.lower_bound,
                    "no_reuse": pool.no_reuse,
                    "optimal": pool.optimal,
                }
                for name, pool in self.pools.items()
            },
            "tensors": [_tensor_to_json(tensor) for tensor in self.tensors],
            "workspace": [
                {
                    "call": list(area.call),
                    "node": area.node,
                    "index": area.index,
                    "pool": area.pool,
                    "offset": area.offset,
                    "bytes": area.bytes,
                }
                for area in self.workspace
            ],
            "unplanned": list(self.unplanned),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Plan:
        """Read a `ge-plan/1` document; unknown fields are ignored, so that newer plans can be read.

        Raises:
            InputFileError: names the field that is missing or of the wrong kind.
        """
        if document.get("schema") != SCHEMA:
            raise InputFileError(f"not a plan: expected {SCHEMA!r}", field="schema")
        pools = _get(document, "pools", dict, "")
        return cls(
            target=_get(document, "target", str, ""),
            level=_get(document, "level", str, ""),
            options={str(k): str(v) for k, v in _get(document, "options", dict, "").items()},
            pools={str(name): _totals(entry, f"pools.{name}") for name, entry in pools.items()},
            tensors=[
                _tensor(entry, f"tensors[{at}]")
                for at, entry in enumerate(_get(document, "tensors", list, ""))
            ],
            workspace=[
                _workspace(entry, f"workspace[{at}]")
                for at, entry in enumerate(_get(document, "workspace", list, ""))
            ],
            unplanned=[str(name) for name in _get(document, "unplanned", list, "")],
        )


def _prefix(place: PlanTensor | PlanWorkspace) -> str:
    return "".join(f"{caller}/" for caller in place.call)


def _tensor_to_json(tensor: PlanTensor) -> dict[str, Any]:
    strided, run = tensor.strided, tensor.run
    return {
        "call": list(tensor.call),
        "node": tensor.node,
        "output": tensor.output,
        "pool": tensor.pool,
        "offset": tensor.offset,
        "bytes": tensor.bytes,
        "strided": None
        if strided is None
        else {"row": strided.row, "pitch": strided.pitch, "count": strided.count},
        "alias_of": tensor.alias_of,
        "run": None if run is None else {"id": run.id, "delta": run.delta},
        "io": tensor.io,
        "life": list(tensor.life),
    }


def _get(entry: Any, key: str, kind: type, where: str) -> Any:
    """A field of that kind; numbers are plain non-negative integers."""
    path = f"{where}.{key}" if where else key
    if not isinstance(entry, Mapping):
        raise InputFileError("expected an object", field=where or "document")
    value = entry.get(key)
    fits = _is_position(value) if kind is int else isinstance(value, kind)
    if not fits:
        raise InputFileError(f"expected {_KINDS[kind]}, found {value!r:.60}", field=path)
    return value


_KINDS: Final[dict[type, str]] = {
    int: "a non-negative integer",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def _is_position(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_IO: Final = (None, "input", "output", "constant", "variable")


def _totals(entry: Any, where: str) -> PoolTotals:
    return PoolTotals(
        bytes=_get(entry, "bytes", int, where),
        lower_bound=_get(entry, "lower_bound", int, where),
        no_reuse=_get(entry, "no_reuse", int, where),
        optimal=_get(entry, "optimal", bool, where),
    )


def _path(entry: Any, where: str) -> CallPath:
    return tuple(_texts(_get(entry, "call", list, where), f"{where}.call"))


def _texts(values: Iterable[Any], where: str) -> list[str]:
    found = list(values)
    if not all(isinstance(value, str) for value in found):
        raise InputFileError("expected names", field=where)
    return found


def _tensor(entry: Any, where: str) -> PlanTensor:
    call = _path(entry, where)
    io, alias = entry.get("io"), entry.get("alias_of")
    if io not in _IO:
        raise InputFileError(f"unknown kind {io!r}", field=f"{where}.io")
    if alias is not None and not isinstance(alias, str):
        raise InputFileError("expected a tensor's name", field=f"{where}.alias_of")
    life = _get(entry, "life", list, where)
    if len(life) != 2 or not all(map(_is_position, life)):
        raise InputFileError("expected two positions", field=f"{where}.life")
    strided, run = entry.get("strided"), entry.get("run")
    return PlanTensor(
        call=call,
        node=_get(entry, "node", str, where),
        output=_get(entry, "output", int, where),
        pool=_get(entry, "pool", str, where),
        offset=_get(entry, "offset", int, where),
        bytes=_get(entry, "bytes", int, where),
        strided=None
        if strided is None
        else Strided(*(_get(strided, key, int, f"{where}.strided") for key in _STRIDED)),
        alias_of=alias,
        run=None
        if run is None
        else Run(_get(run, "id", str, f"{where}.run"), _get(run, "delta", int, f"{where}.run")),
        io=cast("Io | None", io),
        life=(life[0], life[1]),
    )


_STRIDED: Final = ("row", "pitch", "count")


def _workspace(entry: Any, where: str) -> PlanWorkspace:
    return PlanWorkspace(
        call=_path(entry, where),
        node=_get(entry, "node", str, where),
        index=_get(entry, "index", int, where),
        pool=_get(entry, "pool", str, where),
        offset=_get(entry, "offset", int, where),
        bytes=_get(entry, "bytes", int, where),
    )
