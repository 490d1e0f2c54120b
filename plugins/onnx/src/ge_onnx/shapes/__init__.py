"""Types and shapes of everything in a graph, as far as they follow from its inputs.

Nothing is guessed: what a file declares between its inputs and its outputs is a claim, used only
for ops that ONNX does not define. A dimension that does not follow stays unknown.
"""

from ge_onnx.shapes.sweep import infer

__all__ = ["infer"]
