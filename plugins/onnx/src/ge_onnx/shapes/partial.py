"""Shape arithmetic in which some dimensions are unknown.

ONNX's own inference takes all of a shape vector or nothing; here `Concat(Shape(x)[0], 3)` is known
to end in 3, whatever the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

from ge_core.api import Node, TensorDesc
from ge_onnx.shapes.values import Partial, Value, items_of, make

Items = tuple[int | None, ...]
Inputs = Sequence[Value | None]


def propagate(node: Node, inputs: Inputs) -> Value | None:
    """What is known of output 0, from what is known of the inputs."""
    rule = _RULES.get(node.op)
    return None if rule is None else rule(node, inputs)


def _is_scalar(value: Value | None) -> bool:
    return value.scalar if isinstance(value, Partial) else value is not None and value.ndim == 0


def _shape(node: Node, inputs: Inputs) -> Value | None:
    desc = node.inputs[0].desc
    if desc is None or desc.shape is None:
        return None
    start = node.attrs.get("onnx.start", 0)
    end = node.attrs.get("onnx.end")
    dims = tuple(None if dim < 0 else dim for dim in desc.shape)
    return make(dims[slice(start, end)])


def _size(node: Node, inputs: Inputs) -> Value | None:
    desc = node.inputs[0].desc
    if desc is None or desc.elements is None:
        return None
    return make((desc.elements,), scalar=True)


def _same(node: Node, inputs: Inputs) -> Value | None:
    """Moves, and reshapes between scalars and vectors."""
    items = items_of(inputs[0])
    shape = node.outputs[0].desc.shape
    if items is None or shape is None or len(shape) > 1:
        return None
    return make(items, scalar=not shape)


def _cast(node: Node, inputs: Inputs) -> Value | None:
    return _same(node, inputs) if node.outputs[0].desc.dtype in ("int32", "int64") else None


def _gather(node: Node, inputs: Inputs) -> Value | None:
    items, places = items_of(inputs[0]), items_of(inputs[1])
    if items is None or places is None or _is_scalar(inputs[0]):
        return None
    if any(at is None or not -len(items) <= at < len(items) for at in places):
        return None
    return make(tuple(items[at] for at in places if at is not None), _is_scalar(inputs[1]))


def _slice(node: Node, inputs: Inputs) -> Value | None:
    items = items_of(inputs[0])
    if items is None or _is_scalar(inputs[0]) or len(inputs) < 3:
        return None
    bounds = [items_of(value) for value in inputs[1:]] + [(0,), (1,)][len(inputs) - 3 :]
    if any(bound is None or len(bound) != 1 or bound[0] is None for bound in bounds):
        return None
    start, end, axis, step = (bound[0] for bound in bounds if bound)
    if axis not in (0, -1) or not step:
        return None
    assert start is not None and end is not None
    if step < 0 and end < -len(items):
        return make(items[start::step])
    return make(items[start:end:step])


def _concat(node: Node, inputs: Inputs) -> Value | None:
    parts = [items_of(value) for value in inputs]
    if any(part is None for part in parts) or any(_is_scalar(value) for value in inputs):
        return None
    return make(tuple(item for part in parts if part is not None for item in part))


def _where(node: Node, inputs: Inputs) -> Value | None:
    chosen = inputs[0]
    if chosen is None or isinstance(chosen, Partial) or chosen.ndim > 1:
        return None
    picks = [bool(pick) for pick in chosen.reshape(-1)]
    left, right = items_of(inputs[1]), items_of(inputs[2])
    if left is None or right is None:
        return None
    length = max(len(picks), len(left), len(right))
    picks, left, right = _stretch(picks, length), _stretch(left, length), _stretch(right, length)
    if not len(picks) == len(left) == len(right) == length:
        return None
    items = tuple(a if pick else b for pick, a, b in zip(picks, left, right, strict=True))
    return make(items, all(_is_scalar(value) for value in inputs))


def _stretch(items: Any, length: int) -> Any:
    return tuple(items) * length if len(items) == 1 else items


def _binary(rule: Callable[[int, int], int | None]) -> Callable[[Node, Inputs], Value | None]:
    def apply(node: Node, inputs: Inputs) -> Value | None:
        left, right = items_of(inputs[0]), items_of(inputs[1])
        if left is None or right is None:
            return None
        length = max(len(left), len(right))
        left, right = _stretch(left, length), _stretch(right, length)
        if len(left) != len(right):
            return None
        items = tuple(
            None if a is None or b is None else rule(a, b) for a, b in zip(left, right, strict=True)
        )
        return make(items, all(_is_scalar(value) for value in inputs))

    return apply


def _divide(a: int, b: int) -> int | None:
    # ONNX rounds towards zero; shapes are not negative.
    return a // b if b > 0 and a >= 0 else None


_RULES: Final[dict[str, Callable[[Node, Inputs], Value | None]]] = {
    "Shape": _shape,
    "Size": _size,
    "TensorMove": _same,
    "Squeeze": _same,
    "Unsqueeze": _same,
    "Reshape": _same,
    "Cast": _cast,
    "Gather": _gather,
    "Slice": _slice,
    "ConcatD": _concat,
    "Where": _where,
    "Add": _binary(lambda a, b: a + b),
    "Sub": _binary(lambda a, b: a - b),
    "Mul": _binary(lambda a, b: a * b),
    "Div": _binary(_divide),
}


# ---- shapes from partly known shape vectors ----------------------------------------------------


def refine(node: Node, inputs: Inputs, desc: TensorDesc) -> TensorDesc:
    """The description of output 0 with the dimensions that a partly known input settles."""
    rule = _SHAPES.get(node.op)
    if rule is None or desc.is_static:
        return desc
    given = inputs[0] if node.op == "ConstantOfShape" else inputs[1] if len(inputs) > 1 else None
    target = items_of(given)
    found = None if target is None else rule(node, target)
    if found is None:
        return desc
    shape = tuple(-1 if dim is None else dim for dim in found)
    if desc.shape is not None and len(desc.shape) == len(shape):
        shape = tuple(a if a >= 0 else b for a, b in zip(desc.shape, shape, strict=True))
    return desc.replace(shape=shape)


def _reshape(node: Node, target: Items) -> Items | None:
    desc = node.inputs[0].desc
    shape = None if desc is None else desc.shape
    copies = not node.attrs.get("onnx.allowzero", 0)
    found: list[int | None] = []
    for at, dim in enumerate(target):
        if dim == 0 and copies:
            known = shape is not None and at < len(shape) and shape[at] >= 0
            found.append(shape[at] if known and shape is not None else None)
        else:
            found.append(None if dim == -1 else dim)
    elements = None if desc is None else desc.elements
    rest = prod(dim for dim in found if dim is not None)
    if found.count(None) == 1 and elements is not None and rest > 0 and elements % rest == 0:
        found[found.index(None)] = elements // rest
    return tuple(found)


def _expand(node: Node, target: Items) -> Items | None:
    desc = node.inputs[0].desc
    if desc is None or desc.shape is None:
        return None
    rank = max(len(desc.shape), len(target))
    own: Items = (1,) * (rank - len(desc.shape)) + tuple(d if d >= 0 else None for d in desc.shape)
    wanted: Items = (1,) * (rank - len(target)) + target
    return tuple(_broadcast(a, b) for a, b in zip(own, wanted, strict=True))


def _broadcast(a: int | None, b: int | None) -> int | None:
    if a == 1:
        return b
    if b == 1:
        return a
    return a if a is not None else b


def _constant_of_shape(node: Node, target: Items) -> Items | None:
    return target


def _tile(node: Node, repeats: Items) -> Items | None:
    desc = node.inputs[0].desc
    if desc is None or desc.shape is None or len(desc.shape) != len(repeats):
        return None
    return tuple(
        None if dim < 0 or times is None else dim * times
        for dim, times in zip(desc.shape, repeats, strict=True)
    )


_SHAPES: Final[dict[str, Callable[[Node, Items], Items | None]]] = {
    "Reshape": _reshape,
    "Expand": _expand,
    "ConstantOfShape": _constant_of_shape,
    "Tile": _tile,
}
