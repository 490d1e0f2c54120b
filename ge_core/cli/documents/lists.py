"""The documents of the commands that list what is installed, and why a pass runs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ge_core.cli.documents.records import Count, Owned, Record


class PassRecord(Owned):
    """One registered pass."""

    stage: str
    """Where it runs."""
    levels: list[str]
    """The levels at which it is on."""
    switch: list[str]
    """Options that decide instead of the level."""
    before: list[str]
    """Passes that it runs before, where they are installed."""
    after: list[str]
    """Passes that it runs after, where they are installed."""
    needs: list[str]
    """Passes without which it can't run."""
    requires: list[str]
    """Abilities and claims without which it can't run."""
    establishes: list[str]
    """Claims that hold from it on."""
    invalidates: list[str]
    """Claims that it may break, and that no longer hold from it on."""
    preserves: list[str]
    """Analyses that its edits keep right."""
    repeat: Count
    """How often it runs at most, until it changes nothing; 1 runs it once."""
    required: bool
    """Whether switching it off is an error."""
    changes_values: bool
    """Whether what is computed may change."""
    summary: str
    """What it does, in a line."""


class PassesDocument(Record):
    """The registered passes in the order of their stages."""

    schema_name: Literal["ge-passes/1"] = Field(alias="schema")
    """Names this form."""
    items: list[PassRecord]
    """The passes."""


class PassOptionRecord(Record):
    """One option of a pass."""

    name: str
    """`pass.field`."""
    type: str
    """What its values are, in words."""
    default: Any
    """Its value where nobody gives one."""
    help: str
    """What it does."""


class CodeRecord(Record):
    """One reason code."""

    name: str
    """The stable code."""
    text: str
    """What it says; names in braces are filled in."""
    rule: str | None
    """What case files call `kept_reason`."""


class CounterRecord(Record):
    """One counter."""

    name: str
    """As reports of a compile call it."""
    text: str
    """What it counts."""


class PassDocument(PassRecord):
    """One pass with its options, reason codes and counters."""

    schema_name: Literal["ge-pass/1"] = Field(alias="schema")
    """Names this form."""
    options: list[PassOptionRecord]
    """Its options."""
    codes: list[CodeRecord]
    """Its reason codes."""
    counters: list[CounterRecord]
    """What it counts."""


class ClaimRecord(Owned):
    """One claim that passes may rely on."""

    holds: str
    """From where on: `always`, after a place of the pipeline, or `established` by a pass."""
    establish: list[str]
    """Passes that establish it."""
    require: list[str]
    """Passes that require it."""
    invalidate: list[str]
    """Passes that may break it."""
    summary: str
    """What holds."""


class ClaimsDocument(Record):
    """The claims about graphs that are enforced."""

    schema_name: Literal["ge-claims/1"] = Field(alias="schema")
    """Names this form."""
    items: list[ClaimRecord]
    """The claims."""


class BecauseRecord(Record):
    """One step of a decision."""

    source: str
    """Who says it: arguments, pipeline, a file, the environment, or the level."""
    rule: str
    """The rule that applied."""
    value: str
    """What the rule looked at."""


class WhyDocument(Record):
    """Whether a pass runs, and every decision that led there."""

    schema_name: Literal["ge-why/1"] = Field(alias="schema")
    """Names this form."""
    name: str
    """The pass."""
    runs: bool
    """Whether it runs."""
    because: list[BecauseRecord]
    """The decisions, the strongest first."""


class PipelineRecord(Owned):
    """One level, level set or named pipeline."""

    kind: Literal["level", "overlay", "text", "contested"]
    """What it is; a contested name is nobody's."""
    base: str | None
    """What it stands on, where it says that itself."""
    target: str | None
    """The device that it is made for."""
    origin: str | None
    """The file that it comes from."""
    summary: str
    """What it is for, in a line."""
    contested: list[str]
    """The packages that claim a contested name."""
    error: str | None
    """Why it can't be used, where it can't."""


class PipelinesDocument(Record):
    """The kernel's levels, then level sets and named pipelines."""

    schema_name: Literal["ge-pipelines/1"] = Field(alias="schema")
    """Names this form."""
    items: list[PipelineRecord]
    """The pipelines."""


class RepeatRecord(Record):
    """A fixed point."""

    id: int
    """The same for all passes of one."""
    limit: int
    """How often each runs at most."""


class StepRecord(Owned):
    """One pass that runs."""

    stage: str
    """Where it runs."""
    options: dict[str, str]
    """Its options that differ from their defaults."""
    repeat: RepeatRecord | None
    """The fixed point that it is part of."""
    because: list[BecauseRecord]
    """Why it runs, the strongest reason first."""


class OffRecord(Record):
    """One pass that somebody switched off by name."""

    name: str
    """The pass."""
    because: list[BecauseRecord]
    """Why it is off, the strongest reason first."""


class SetRecord(Record):
    """One option that somebody set."""

    name: str
    """The option."""
    value: str
    """Its value in force."""
    source: str
    """Who says it."""


class PipelineDocument(Record):
    """What a pipeline runs, in order."""

    schema_name: Literal["ge-pipeline/1"] = Field(alias="schema")
    """Names this form."""
    name: str
    """Of the pipeline or level; `text` for a text that was given."""
    kind: Literal["level", "overlay", "text"]
    """What it is."""
    origin: str
    """The package that it comes from, or where it was given."""
    level: str
    """The level that it stands on."""
    target: str | None
    """The device that it asks for."""
    text: str
    """The same as a pipeline text, with the options of passes."""
    passes: list[StepRecord]
    """What runs, in order."""
    off: list[OffRecord]
    """Passes that somebody switched off by name."""
    options: list[SetRecord]
    """Options that somebody set."""
    warnings: list[str]
    """What should be looked at."""


class DifferenceRecord(Record):
    """One thing that differs."""

    change: Literal["added", "removed", "moved", "changed"]
    """Only in the other, only in the base, in both and elsewhere, in both otherwise."""
    kind: Literal["pass", "option", "target"]
    """What it is."""
    name: str
    """Its name."""
    before: str | None
    """As it is in the base: a pass as it is written and placed, or a value."""
    after: str | None
    """As it is in the other."""
    where: str | None
    """The pass that it stands behind in the other, empty for the first."""


class PipelineDiffDocument(Record):
    """What differs between two pipelines."""

    schema_name: Literal["ge-pipeline-diff/1"] = Field(alias="schema")
    """Names this form."""
    base: str
    """What is compared with."""
    other: str
    """What is compared."""
    same: bool
    """Whether both run the same."""
    items: list[DifferenceRecord]
    """The differences: passes in order, options by name, the target."""


class OptionRecord(Owned):
    """One option."""

    type: str
    """switch, flag, integer, choice, level or text."""
    default: str | None
    """Its value where nobody gives one, if that is the same at all levels."""
    defaults: dict[str, str] | None
    """Else its values by level."""
    choices: list[str]
    """The values of a choice."""
    levels: list[str]
    """The levels at which it has a default."""
    category: str
    """What it is about."""
    section: str
    """The section of GE's help that this belongs to."""
    visibility: str
    """Who is meant to set it: user or expert; hidden ones are GE's internal ones."""
    entry_points: list[str]
    """Where it is offered: GE's session, ir_build and atc, our python and command."""
    show_names: dict[str, str]
    """What it is called at an entry point, where that is not its name."""
    binds: list[str]
    """The passes that it switches."""
    help: str
    """What it does."""


class ListedOption(OptionRecord):
    """One option of a listing."""

    shown: str
    """What it is called at the entry point that was asked about."""


class OptionDocument(Owned):
    """One option, a pass's own switch, or an option of a pass; what does not apply is absent."""

    schema_name: Literal["ge-option/1"] = Field(alias="schema")
    """Names this form."""
    kind: Literal["option", "pass", "pass option"]
    """What it is."""
    type: str
    """What its values are."""
    default: str | None = None
    """Its value where nobody gives one, if that is the same at all levels."""
    defaults: dict[str, str] | None = None
    """Else its values by level."""
    choices: list[str] | None = None
    """The values of a choice."""
    levels: list[str] | None = None
    """The levels at which it has a default."""
    category: str | None = None
    """What it is about."""
    section: str | None = None
    """The section of GE's help that this belongs to."""
    visibility: str | None = None
    """Who is meant to set it."""
    entry_points: list[str] | None = None
    """Where it is offered."""
    show_names: dict[str, str] | None = None
    """What it is called at an entry point, where that is not its name."""
    binds: list[str] | None = None
    """The passes that it switches."""
    bound_to: list[str] | None = None
    """Of a pass: the options that switch it, the primary one first."""
    at_levels: dict[str, str | None] | None = None
    """Its value at each level where nobody sets it."""
    value: str | None
    """Its value in force here."""
    source: str | None = None
    """Who says that."""
    help: str
    """What it does."""


class OptionsDocument(Record):
    """The registered options."""

    schema_name: Literal["ge-options/1"] = Field(alias="schema")
    """Names this form."""
    items: list[ListedOption]
    """The options."""


class CheckerRecord(Owned):
    """The rule for one pair of anchor types."""

    types: list[str] = Field(min_length=2, max_length=2)
    """The two types."""
    kind: Literal["always", "never", "check"]
    """Whether they always clash, never, or a function says so."""
    codes: list[str]
    """The codes that it may give."""
    unknown: list[str] | None = None
    """Those of the types that nobody registered: the rule is never asked. Only where there are."""


class CheckersDocument(Record):
    """The registered layout rules."""

    schema_name: Literal["ge-checkers/1"] = Field(alias="schema")
    """Names this form."""
    items: list[CheckerRecord]
    """The rules."""


class AssignerRecord(Owned):
    """One memory planner."""

    about: str
    """What it does, in a line."""


class AssignersDocument(Record):
    """The registered memory planners."""

    schema_name: Literal["ge-assigners/1"] = Field(alias="schema")
    """Names this form."""
    items: list[AssignerRecord]
    """The planners."""


class TargetRecord(Owned):
    """One device."""

    align_bytes: Count
    """Alignment of separate buffers."""
    run_align: Count | None
    """Alignment of pieces in a run; null for the size of an element."""
    pools: dict[str, Count | None]
    """Capacity by pool; null for one without a limit."""
    strided: bool
    """Whether ops can read and write rows with gaps."""
    pipeline: str | None
    """What is run for it where no pipeline is given."""
    about: str
    """What it is, in a line."""


class TargetsDocument(Record):
    """The registered devices."""

    schema_name: Literal["ge-targets/1"] = Field(alias="schema")
    """Names this form."""
    items: list[TargetRecord]
    """The devices."""


class PluginRecord(Record):
    """One plugin that was found."""

    name: str
    """The prefix of what it registers."""
    distribution: str
    """The package that brings it; the module, for one of the project."""
    version: str | None
    """The package's version; null for a module of the project."""
    api: str | None
    """The API that it is written for."""
    status: str
    """indexed, loaded, failed, disabled, incompatible, duplicate or broken."""
    error: str | None
    """What is wrong with it."""
    traceback: str | None = None
    """Of the failure; this and what follows `ge plugins doctor` alone has."""
    seconds: float | None = None
    """In its import and its hooks; null where none of its code ran. Differs from run to run."""
    registered: dict[str, int] = Field(default_factory=dict)
    """How many things it registered, by kind."""
    changes: list[str] = Field(default_factory=list)
    """What it changed in the process while it was loaded; all of it was put back."""


class DriverRecord(Record):
    """One driver."""

    name: str
    """By which it is chosen; a file suffix for frontends and backends."""
    group: str
    """The entry-point group: what kind of driver it is."""
    distribution: str | None
    """The package that brings it."""
    version: str | None
    """The package's version."""
    error: str | None
    """What is wrong with it."""


class StaleRecord(Record):
    """A package whose project has changed since it was installed."""

    distribution: str
    """The installed package."""
    version: str
    """Its installed version."""
    folder: str
    """The project that it was installed from."""
    changes: list[str]
    """What the project says and the installation does not."""
    command: str
    """What brings the installation up to date."""


class PipelineProblem(Record):
    """A pass, option, level, pipeline or target whose declaration is wrong."""

    name: str
    """What it is, and its name."""
    owner: str
    """The package that brings it."""
    version: str
    """The package's version; empty for a module of the project."""
    error: str
    """What is wrong with it."""


class PluginsDocument(Record):
    """The plugins that were found."""

    schema_name: Literal["ge-plugins/1"] = Field(alias="schema")
    """Names this form."""
    items: list[PluginRecord]
    """The plugins."""
    drivers: list[DriverRecord] = Field(default_factory=list)
    """The drivers; `ge plugins doctor` alone has them."""
    stale: list[StaleRecord] = Field(default_factory=list)
    """Packages to install again; `ge plugins doctor` alone has them."""
    pipelines: list[PipelineProblem] = Field(default_factory=list)
    """Declarations that are wrong; `ge plugins doctor` alone has them."""
    unknown: list[str] = Field(default_factory=list)
    """Plugins that the configuration or the environment names and that are not installed, in words;
    `ge plugins doctor` alone has them."""
