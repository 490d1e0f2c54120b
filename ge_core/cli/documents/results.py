"""The documents of the commands that compile, run, prove, explain and check."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ge_core.cli.documents.records import Count, Record


class Copies(Record):
    """Nodes that copy, and their bytes."""

    count: Count
    """Nodes that move bytes at run time."""
    bytes: Count
    """Bytes that they move."""


class BeforeAfter(Record):
    """The copies of the original and of the compiled graph."""

    before: Copies
    """In the original."""
    after: Copies
    """In the compiled graph."""


class AllCopies(BeforeAfter):
    """The copies in all, and by op type."""

    by_op: dict[str, BeforeAfter]
    """By op type of the file."""


class Nodes(Record):
    """How many nodes there are, those of subgraphs among them."""

    before: Count
    """In the original."""
    after: Count
    """In the compiled graph."""


class Unplanned(Record):
    """Tensors without a static size: they get buffers of their own when the graph runs."""

    count: Count
    """How many."""
    bytes: Count | None
    """0 where there are none, else null."""
    tensors: list[str]
    """Their names."""


class Memory(Record):
    """The arena."""

    peak_bytes: Count
    """Its size; graph inputs and outputs included, constants and variables not."""
    lower_bound_bytes: Count
    """What every plan of the compiled graph takes at least."""
    no_reuse_bytes: Count
    """What it would be if no two tensors shared bytes."""
    assigner: str
    """Who planned it."""
    optimal: bool
    """Whether it is known to be the smallest possible."""
    unplanned: Unplanned
    """What has no place in it."""


class Violation(Record):
    """One way in which the compiled graph with its plan is not the original."""

    check: Literal["reads", "one_op", "order", "layout", "permission", "interface", "effects"]
    """Which of the checks found it."""
    node: str
    """The node instance, `call/.../node`."""
    input: int | None
    """Its input, where one is meant."""
    range: tuple[str, int, int] | None
    """The bytes that are wrong: pool, first byte, one past the last."""
    expected: str
    """What the bytes should hold, or what should be."""
    found: str
    """What they hold, or what is."""
    written_by: str | None
    """The node instance that wrote what was found."""
    since_pass: str | None
    """The pass that brought it in, where that is known; else the last rewrite of these nodes."""
    differs: str | None
    """In words, what differs where `expected` and `found` have the same name."""
    from_pass: str | None
    """The graph was compared from what this pass left, which changed values on purpose."""
    up_to_pass: str | None
    """The graph was compared up to what this pass was given, which changed values on purpose."""


class Proof(Record):
    """The proof's answer."""

    ok: bool | None
    """Whether it holds; null where it was not run."""
    violations: list[Violation]
    """What it found, the cause first."""
    assumptions: list[str]
    """What it took for granted."""


class Seconds(Record):
    """Wall-clock time of the steps; differs from run to run."""

    load: float
    """Reading the model."""
    passes: float
    """All passes."""
    plan: float
    """Planning memory."""
    proof: float
    """The proof."""
    total: float
    """All of it."""


class PassRun(Record):
    """One pass that ran."""

    name: str
    """The pass."""
    owner: str
    """Its package and version."""
    stage: str
    """Where it ran."""
    changed: bool
    """Whether it changed the graph."""
    seconds: float
    """How long it took; differs from run to run."""
    counters: dict[str, Count]
    """What it counted, by the names that it declares."""
    ops: dict[str, int]
    """How many nodes of each op type came with it, or went (below 0)."""


class Span(Record):
    """How long something took, and what was below it; differs from run to run."""

    name: str
    """What was measured: a step, a pass, an analysis."""
    seconds: float
    """How long it took, all below it included."""
    count: Count
    """How often it was measured; 0 for what was measured once, outside the passes."""
    children: list[Span] = Field(default_factory=list)
    """What it consists of, in the order in which it first began."""


class RemarkCounts(Record):
    """How the copies ended."""

    applied: Count
    """Copies that went."""
    missed: Count
    """Copies that stayed."""


class CompileDocument(Record):
    """What a compile did."""

    schema_name: Literal["ge-compile/1"] = Field(alias="schema")
    """Names this form."""
    model: str
    """The model, as it was given."""
    level: str
    """The optimisation level."""
    target: str
    """The device."""
    pipeline: str | None = None
    """The pipeline that ran, `text` where a text was given; null where the level says what runs."""
    nodes: Nodes
    """How many nodes there are."""
    copies: AllCopies
    """What copies, before and after."""
    memory: Memory
    """What the arena takes."""
    proof: Proof
    """Whether the result computes what the model computes."""
    seconds: Seconds
    """How long the steps took."""
    passes: list[PassRun]
    """The passes that ran, in order."""
    timing: Span | None = None
    """Where the time went; only with `--timing`."""
    remarks: RemarkCounts
    """How many copies went and stayed; `ge explain` has the reasons."""
    warnings: list[str]
    """What a user should know, and what did not stop the compile."""


class OutputRecord(Record):
    """One output of a run."""

    name: str
    """The graph output's name."""
    shape: list[Count] | None
    """Its dimensions; null for an output without a value."""
    dtype: str | None
    """The type of its elements."""
    bit_exact: bool | None
    """Whether all bits equal those of the original's run; null without `--check`."""
    max_abs_diff: float | None
    """The largest difference of two elements; null without `--check` or where it is no number."""


class StandInRecord(Record):
    """Outputs that mean nothing: they follow from what was read, not from what the op computes."""

    op: str
    """The op type."""
    nodes: Count
    """How many of its nodes were made up."""


class RunDocument(Record):
    """What one execution in the arena did."""

    schema_name: Literal["ge-run/1"] = Field(alias="schema")
    """Names this form."""
    ok: bool
    """Whether no output was found to differ."""
    outputs: list[OutputRecord]
    """The outputs, in the graph's order."""
    arena_bytes: Count
    """The size of the arena."""
    executed_copies: Count
    """Copies that were executed."""
    executed_copy_bytes: Count
    """Bytes that they moved."""
    stand_ins: list[StandInRecord] = Field(default_factory=list)
    """What the executor made up, as nothing says how to compute it; by op type."""
    warnings: list[str] = Field(default_factory=list)
    """What the compile and the loading of plugins warned of."""


class VerifyDocument(Record):
    """The answer of a proof on its own."""

    schema_name: Literal["ge-verify/1"] = Field(alias="schema")
    """Names this form."""
    ok: bool
    """Whether it holds."""
    violations: list[Violation]
    """What it found, the cause first."""
    assumptions: list[str]
    """What it took for granted."""


class BlameRecord(Record):
    """What stands in the way."""

    node: str
    """A node."""
    anchor: str | None
    """One of its anchors: `node:0` an output, `node@0` an input; null for the node."""


class HintRecord(Record):
    """The one change that would remove the copy; one of the fields is there."""

    set: str = ""
    """An option to set: `option=value`."""
    edge: str = ""
    """A control edge to add (`one -> other`), or the data edge in the way (`one:0 -> other@0`)."""
    cut: str = ""
    """A control edge to take out: `one -> other`."""
    unmark: str = ""
    """A node and its attribute to take off: `node attribute`."""
    text: str = ""
    """A sentence."""


class RemarkDocument(Record):
    """One thing that was said about one node; the lines of `ge compile --remarks` are these."""

    schema_name: Literal["ge-remark/1"] = Field(alias="schema")
    """Names this form."""
    kind: Literal["applied", "missed", "analysis", "failed"]
    """Whether the copy went (applied), stayed (missed), or is only spoken about."""
    pass_name: str = Field(alias="pass")
    """The pass that says so, or `ge_core` where no pass has spoken."""
    owner: str
    """Its package and version."""
    graph: str
    """The graph that holds the node."""
    node: str
    """The node."""
    op: str
    """Its op type, as it was then."""
    code: str
    """The stable reason code."""
    reason: str
    """The same in words."""
    blame: list[BlameRecord]
    """What stands in the way."""
    bytes: int | None
    """Bytes saved or lost by it; null where a size is not known."""
    hint: HintRecord | None
    """The one change that would remove the copy, where there is one."""
    rule: str = ""
    """What case files call `kept_reason`; left out where there is none."""
    data: dict[str, Any] = Field(default_factory=dict)
    """The fields that the reason was filled from; left out where there are none."""


class HopRecord(Record):
    """One name of a value on its way from where it is made."""

    anchor: str
    """The output that it is called here."""
    op: str
    """Its node's op type."""
    how: Literal["source", "view", "enters", "leaves", "rule"]
    """Made here, the same memory by another name, into or out of a subgraph, or by a trace rule."""
    words: str
    """The same in words; of a source, what it is."""
    rule: str | None
    """Package and version of a third party's trace rule that says so."""


class AccessRecord(Record):
    """One input that uses a memory."""

    anchor: str
    """The input."""
    op: str
    """Its node's op type."""
    does: str
    """What it does: `reads`, `overwrites`, `uses up`, `may do anything to`, `hands on`,
    `returns` or `passes on`."""
    what: str
    """The output that it is fed by."""
    writes: bool
    """Whether the memory may have changed afterwards."""
    when: str
    """Where it stands to the copy; empty for what reads the copy."""


class ValueRecord(Record):
    """One input of the node: the way to it, and who else uses the memory on that way."""

    input: str
    """The input."""
    path: list[HopRecord]
    """From where the value is made."""
    stopped: str | None
    """Why the way ends short of where the value is made."""
    special: str | None
    """Why the value must stay as it is beyond this run."""
    others: list[AccessRecord]
    """The most important ones, as they are listed."""
    more_others: Count
    """How many are left out."""


class NowRecord(Record):
    """What one reader of a copy that went reads now."""

    input: str
    """The reader's input."""
    reads: str
    """The output that feeds it in the compiled graph."""


class StoryRecord(Record):
    """What lies behind the remarks on one node."""

    node: str
    """The node."""
    op: str
    """Its op type."""
    inserted: bool
    """Whether a pass put it in; then all is said of the compiled graph."""
    gone: bool
    """Whether the compiled graph lacks it."""
    values: list[ValueRecord]
    """Its inputs, blamed ones first; of many, some."""
    readers: list[AccessRecord]
    """Who uses what it makes."""
    more_readers: Count
    """How many are left out."""
    waiting: list[str]
    """Nodes that a control edge has wait for it."""
    now: list[NowRecord]
    """Of a copy that went, what its readers read now."""
    edges: list[list[str]]
    """Control edges that the compile added between those who use its memory: first and second."""


class TrialRecord(Record):
    """A change that might free the copy, and what came of it."""

    change: str
    """In words: `with --set ...`."""
    gone: bool
    """Whether the copy went, and the proof holds without it."""
    code: str | None
    """The code of the last word on it then, or of the error with which the compile ended."""


class ExplainDocument(Record):
    """The last word on every copy, or all that was said of one."""

    schema_name: Literal["ge-explain/1"] = Field(alias="schema")
    """Names this form."""
    remarks: list[RemarkDocument]
    """In the graph's order."""
    story: StoryRecord | None = None
    """What lies behind the remarks on one node; null where all are told."""
    tried: list[TrialRecord] = Field(default_factory=list)
    """Changes that were tried on a copy that stays."""
    proof: Proof | None = None
    """Whether the compile that is told of could be proved."""
    warnings: list[str] = Field(default_factory=list)
    """What the compile and the loading of plugins warned of."""


class FailureRecord(Record):
    """One expectation that did not hold."""

    id: str
    """The case."""
    expected: str
    """What it expects."""
    got: str
    """What came out."""


class CaseDocument(Record):
    """What came of case files."""

    schema_name: Literal["ge-case/1"] = Field(alias="schema")
    """Names this form."""
    passed: Count
    """Cases whose expectations all held."""
    failed: Count
    """The others."""
    failures: list[FailureRecord]
    """Every expectation that did not hold."""


class NewDocument(Record):
    """A package that was written."""

    schema_name: Literal["ge-new/1"] = Field(alias="schema")
    """Names this form."""
    path: str
    """Its folder."""
