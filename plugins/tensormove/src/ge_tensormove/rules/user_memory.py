"""R2: memory that the caller hands in, and gets back."""

from __future__ import annotations

from ge_core.api import InputAnchor, Keep
from ge_tensormove.candidate import Candidate


class UserMemory:
    """Keeps copies of graph inputs that the caller has not declared reusable.

    Asked even where the readers only read, as in GE: the declaration is a promise not to rely on
    the input any more. GE takes any pair that names the input; where the copy's memory becomes a
    graph output, here the pair has to name that output too.
    """

    def __call__(self, copy: Candidate) -> Keep | None:
        """Judge one copy."""
        if not copy.run.is_data(copy.origin.node):
            return None
        source = copy.origin.node
        index = source.attrs.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            return Keep("R2_NO_INDEX", blame=source, fields={"source": source.name})
        declared = copy.run.declared
        if not declared.names(index):
            hint = {"set": declared.with_input(index)}
            return Keep("R2_NOT_DECLARED", blame=source, hint=hint, fields={"index": index})
        reached = copy.run.memory.of_type(copy.output, "results") if copy.copy.outputs else []
        undeclared = declared.undeclared_outputs(
            index, [anchor.index for anchor in reached if isinstance(anchor, InputAnchor)]
        )
        if not undeclared:
            return None
        hint = {"set": declared.with_outputs(index, undeclared)}
        fields = {"index": index, "output": undeclared[0]}
        return Keep("R2_OTHER_OUTPUT", blame=source, hint=hint, fields=fields)
