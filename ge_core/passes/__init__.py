"""Passes: base classes, declarations, levels, options, stages, pipelines, the manager, remarks.

No pass is named here; they are plugins' contributions.
"""

from ge_core.passes.base import AnalysisPass, GraphPass, NodePass, Pass
from ge_core.passes.codes import Code, CodeTable
from ge_core.passes.context import PassContext
from ge_core.passes.delete_rules import DeleteCandidate, DeleteRule, DeleteRules, Keep
from ge_core.passes.environment import Environment
from ge_core.passes.levels import ALWAYS, DEFAULT_LEVEL, Level, LevelRegistry, WorkingLevel
from ge_core.passes.options import (
    OptionDeclaration,
    OptionRegistry,
    OptionValue,
    OptionValues,
)
from ge_core.passes.registry import PassDeclaration, PassRegistry
from ge_core.passes.remarks import (
    Blame,
    Hint,
    Remark,
    RemarkKind,
    Remarks,
    blame_two,
    write_json_lines,
)
from ge_core.passes.stages import PLACES, Place, Stage
from ge_core.passes.visibility import EntryPoint, Visibility

__all__ = [
    # writing a pass
    "AnalysisPass",
    "GraphPass",
    "NodePass",
    "Pass",
    "PassContext",
    # when it runs
    "ALWAYS",
    "DEFAULT_LEVEL",
    "Level",
    "LevelRegistry",
    "PLACES",
    "Place",
    "Stage",
    "WorkingLevel",
    # declaring things
    "Code",
    "CodeTable",
    "DeleteCandidate",
    "DeleteRule",
    "DeleteRules",
    "EntryPoint",
    "Keep",
    "OptionDeclaration",
    "OptionRegistry",
    "PassDeclaration",
    "PassRegistry",
    "Visibility",
    # what a compile knows
    "Environment",
    "OptionValue",
    "OptionValues",
    # remarks
    "Blame",
    "blame_two",
    "Hint",
    "Remark",
    "RemarkKind",
    "Remarks",
    "write_json_lines",
]
