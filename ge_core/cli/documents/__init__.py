"""What every JSON document and every file looks like, as a declaration that schemas come from.

Imported by what documents and checks, never by a command that runs: pydantic takes longer to load
than most commands. Tests hold the outputs of all commands to these declarations, a field that is
not declared among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from ge_core.cli.documents import files, lists, results
from ge_core.memory import document as plan
from ge_core.ops.traits_model import TraitsFile
from ge_core.passes import overlay_model
from ge_core.tasks import document as tasks

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

PRINTED: Final[Mapping[str, type[BaseModel]]] = {
    "ge-compile/1": results.CompileDocument,
    "ge-run/1": results.RunDocument,
    "ge-verify/1": results.VerifyDocument,
    "ge-explain/1": results.ExplainDocument,
    "ge-case/1": results.CaseDocument,
    "ge-passes/1": lists.PassesDocument,
    "ge-pass/1": lists.PassDocument,
    "ge-why/1": lists.WhyDocument,
    "ge-claims/1": lists.ClaimsDocument,
    "ge-pipelines/1": lists.PipelinesDocument,
    "ge-pipeline/1": lists.PipelineDocument,
    "ge-pipeline-diff/1": lists.PipelineDiffDocument,
    "ge-options/1": lists.OptionsDocument,
    "ge-option/1": lists.OptionDocument,
    "ge-checkers/1": lists.CheckersDocument,
    "ge-assigners/1": lists.AssignersDocument,
    "ge-targets/1": lists.TargetsDocument,
    "ge-plugins/1": lists.PluginsDocument,
    "ge-new/1": results.NewDocument,
}
"""What commands print with `--format json`, by its `schema`."""

FILES: Final[Mapping[str, type[BaseModel]]] = {
    "ge-graph/1": files.GraphDocument,
    "ge-plan/1": plan.PlanDocument,
    "ge-tasks/1": tasks.TasksDocument,
    "ge-remark/1": results.RemarkDocument,
    "case-file": files.CaseFile,
    "registry-case-file": files.RegistryCaseFile,
    "target-file": files.TargetFile,
    "config-file": files.ConfigFile,
    "overlay-file": overlay_model.OverlayFile,
    "op-traits-file": TraitsFile,
}
"""What is read from files and written into them."""

DOCUMENTS: Final[Mapping[str, type[BaseModel]]] = {**PRINTED, **FILES}


def file_name(document: str) -> str:
    """The file that holds a document's schema: `ge-plan-1.json`."""
    return document.replace("/", "-") + ".json"


def json_schema(document: str) -> dict[str, Any]:
    """The JSON schema of a document; unknown fields are allowed where readers ignore them."""
    made = DOCUMENTS[document].model_json_schema(by_alias=True)
    return {"$schema": DIALECT, "$id": file_name(document), **made}
