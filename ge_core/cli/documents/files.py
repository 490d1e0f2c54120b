"""The files that users write: graphs, cases, targets, configuration."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from ge_core.cli.documents.records import Count, Record

Values = dict[str, Any]
Setting = str | bool | int | float


class Written(Record):
    """A part of a file that users write: a key that nobody knows is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class DescRecord(Written):
    """What is known of a tensor."""

    dtype: str = "float32"
    """A name of numpy or ml_dtypes, `string` or `undefined`."""
    shape: list[int] | None = Field(default=[1, 16])
    """Its dimensions: -1 for an unknown one; null or [-2] where not even their number is known."""
    format: str = "ND"
    """How elements are laid out."""
    origin_shape: list[int] | None = None
    """The shape before the format was changed; `shape` by default."""
    origin_format: str | None = None
    """The format before it was changed; `format` by default."""
    mem_type: str | int = "HBM"
    """The kind of memory it lies in, by name or by GE's number."""
    size: Count | None = None
    """Bytes of storage, where dtype and shape don't give them."""
    reuse_input: int | None = None
    """The input whose memory an output is."""
    attrs: Values = Field(default_factory=dict)
    """Further facts, by GE's names."""


class NodeRecord(Written):
    """One node."""

    name: str
    """Unique in the file."""
    op: str
    """Its op type."""
    attrs: Values = Field(default_factory=dict)
    """Its attributes, by GE's names."""
    inputs: list[str | None] = Field(default_factory=list)
    """What feeds each input, `node:output`; null for one that is left out."""
    outputs: list[DescRecord] = Field(default_factory=list)
    """Its outputs."""
    input_descs: list[DescRecord | None] = Field(default_factory=list)
    """Per input, what differs from the description of what feeds it."""
    control_inputs: list[str] = Field(default_factory=list)
    """Nodes that come before."""
    subgraphs: dict[str, str] = Field(default_factory=dict)
    """Label to name of a subgraph."""
    value: Values | None = None
    """Of a constant: `{"base64"}`, or `{"file", "offset", "nbytes"}` beside the graph."""
    origin: list[str] = Field(default_factory=list)
    """The original nodes that it stands for; itself by default."""
    input_names: list[str] = Field(default_factory=list)
    """Names of its inputs."""
    output_names: list[str] = Field(default_factory=list)
    """Names of its outputs."""


class SubgraphRecord(Written):
    """One subgraph; all of them stand in the root's list, however deep they are called."""

    name: str
    """By which nodes call it."""
    attrs: Values = Field(default_factory=dict)
    """Its attributes."""
    nodes: list[NodeRecord] = Field(default_factory=list)
    """Its nodes, in order."""


class GraphDocument(Written):
    """A graph with its subgraphs."""

    schema_name: Literal["ge-graph/1"] = Field(default="ge-graph/1", alias="schema")
    """Names this form."""
    name: str = "root"
    """The graph's name."""
    source: Literal["ge", "onnx"] = "ge"
    """Whose rules for effects of ops hold."""
    attrs: Values = Field(default_factory=dict)
    """Its attributes."""
    nodes: list[NodeRecord] = Field(default_factory=list)
    """Its nodes, in order."""
    subgraphs: list[SubgraphRecord] = Field(default_factory=list)
    """Its subgraphs, and theirs."""


class CaseFile(Record):
    """A case: a graph, what runs on it, and what must be true afterwards."""

    id: str
    """Names it in reports."""
    family: str = ""
    """What it is about."""
    why: str = ""
    """The rule that it shows."""
    ge: str = ""
    """What GE does with it, in examples of rules."""
    differs: list[str] = Field(default_factory=list)
    """Known differences to GE that it shows, by the names that documentation gives them."""
    options: Values = Field(default_factory=dict)
    """Options by name."""
    pipeline: list[str]
    """Passes and steps (`MemoryPlanner`, `TaskGenerator`), in order."""
    graph: GraphDocument
    """What they run on."""
    expect: Values
    """What must hold; `ge case` lists the keys."""
    query: Values | None = None
    """A question about one output and one input, for read/write rules."""
    plan: Values | None = None
    """Offsets to judge, where the case brings its own."""


class SourceRecord(Written):
    """What one source says."""

    source: Literal["arguments", "pipeline", "project", "environment"]
    """Which one."""
    options: Values = Field(default_factory=dict)
    """Options by name."""
    enable: list[str] = Field(default_factory=list)
    """Passes that it switches on."""
    disable: list[str] = Field(default_factory=list)
    """Passes that it switches off."""
    origin: str = ""
    """What reports call it."""


class DeclaredRecord(Written):
    """What a case brings along; a name with a prefix is a third party's."""

    passes: dict[str, Values] = Field(default_factory=dict)
    """Passes by name, with the arguments of their registration; `fields` are their options."""
    options: dict[str, Values] = Field(default_factory=dict)
    """Options by name, with the arguments of their registration."""
    levels: dict[str, str] = Field(default_factory=dict)
    """Level sets by name, with the level that each extends."""
    pipelines: dict[str, str] = Field(default_factory=dict)
    """Pipelines by name: texts, or overlays in TOML."""
    claims: dict[str, str] = Field(default_factory=dict)
    """Claims by name, with what holds."""
    capabilities: list[str] = Field(default_factory=list)
    """What passes may require and is there."""
    owners: dict[str, str] = Field(default_factory=dict)
    """Prefix to package and version."""
    renamed_passes: dict[str, str] = Field(default_factory=dict)
    """Old name of a pass to the present one."""
    renamed_options: dict[str, str] = Field(default_factory=dict)
    """Old name of an option to the present one."""


class RegistryCaseFile(Written):
    """A case of the family `pass_registry`: which passes run, in which order, and why."""

    id: str
    """Names it in reports."""
    family: Literal["pass_registry"]
    """What it is about."""
    why: str = ""
    """The rule that it shows."""
    declare: DeclaredRecord = Field(default_factory=DeclaredRecord)
    """What there is, besides the kernel's own."""
    installed: bool = False
    """Whether what is installed is there, too."""
    files: dict[str, str | list[str] | Values] = Field(default_factory=dict)
    """Files that options name, by name: a text, its lines, or JSON."""
    options: Values = Field(default_factory=dict)
    """Options of the arguments."""
    enable: list[str] = Field(default_factory=list)
    """Passes that the arguments switch on."""
    disable: list[str] = Field(default_factory=list)
    """Passes that the arguments switch off."""
    sources: list[SourceRecord] = Field(default_factory=list)
    """What other sources say."""
    pipeline: str | None = None
    """The pipeline that is chosen: a name or a text."""
    exact: bool = False
    """Whether a pipeline text is all that runs."""
    expect: Values
    """What must hold."""


class TargetFile(Written):
    """A device in TOML, on top of a named one; what is left out is the base's."""

    name: str | None = None
    """What reports call it; the file's name by default."""
    base: str | None = None
    """The target that it changes; `generic` by default."""
    align_bytes: Count | None = None
    """Alignment of separate buffers."""
    run_align: Count | None = None
    """Alignment of pieces in a run; 0 for the size of an element."""
    pools: dict[str, Count] | None = None
    """Capacity by pool, in bytes."""
    block_widths: dict[str, Count] | None = None
    """Bytes by dtype that a block format pads its inner axis to."""
    strided: bool | None = None
    """Whether ops can read and write rows with gaps."""
    address_refresh: bool | None = None
    """Whether addresses may change between runs."""
    pipeline: str | None = None
    """What is run for it where no pipeline is given: a name, or an overlay file beside this one."""
    about: str | None = None
    """What it is, in a line."""


class ConfigFile(Written):
    """`ge.toml`, or the table `[tool.ge]` of a pyproject.toml; `_` may be written for `-`."""

    level: str | None = None
    """The optimisation level."""
    target: str | None = None
    """The device: a name, or a TOML file."""
    pipeline: str | None = None
    """A pipeline: its text, its name, or a TOML file."""
    assigner: str | None = None
    """The memory planner."""
    objective: Literal["copies", "peak"] | None = None
    """What to prefer where both can't be had."""
    plugins: list[str] | None = None
    """The only third-party plugins to load; `name = module` is a module of the project."""
    prefer: dict[str, str] = Field(default_factory=dict)
    """Plugin name to distribution, where two packages claim one name."""
    strict_plugins: bool = Field(default=False, alias="strict-plugins")
    """A plugin that fails to load is an error."""
    enable: list[str] = Field(default_factory=list)
    """Passes to switch on."""
    disable: list[str] = Field(default_factory=list)
    """Passes to switch off."""
    op_traits: list[str] = Field(default_factory=list, alias="op-traits")
    """TOML files that say what ops do with memory which no plugin declares."""
    set: dict[str, Setting | Values] = Field(default_factory=dict)
    """Options by name; names with dots may be written as tables, `a.b = 1` for `"a.b" = 1`."""
