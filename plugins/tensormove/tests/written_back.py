"""Graphs in which updates in place were turned into copy, update and write-back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc

SHAPE: Final = (8, 16)
SIZE: Final = 512
"""Bytes of such a tensor."""

Form = Callable[[GraphBuilder], None]
FORMS: Final[dict[str, Form]] = {}
"""Forms that need no copy at all, by name."""
HALF: Final[dict[str, Form]] = {}
"""Forms of whose copies one has to stay."""
KEPT: Final[dict[str, tuple[Form, str]]] = {}
"""Forms of which everything has to stay, with the code that says why."""


def free(form: Form) -> Form:
    """Note a form that needs no copy."""
    FORMS[form.__name__] = form
    return form


def half(form: Form) -> Form:
    """Note a form that needs one copy."""
    HALF[form.__name__] = form
    return form


def kept(code: str) -> Callable[[Form], Form]:
    """Note a form that stays as it is."""

    def note(form: Form) -> Form:
        KEPT[form.__name__] = form, code
        return form

    return note


def graph_of(form: Form) -> Graph:
    """The graph of a form."""
    b = GraphBuilder(form.__name__)
    form(b)
    return b.graph


# ---- parts --------------------------------------------------------------------------------------


def cache(b: GraphBuilder, name: str = "cache") -> OutputAnchor:
    """A variable."""
    return b.op("Variable", name=name, shape=SHAPE)


def copied(b: GraphBuilder, source: OutputAnchor, name: str = "copy") -> OutputAnchor:
    """A copy."""
    return b.op("TensorMove", source, name=name)


def updated(
    b: GraphBuilder, target: OutputAnchor, *more: OutputAnchor, name: str = "update", **facts: Any
) -> OutputAnchor:
    """An update in place."""
    return b.op(
        "ScatterUpdate",
        target,
        *more,
        name=name,
        attrs={"reference": True},
        reuse_input=0,
        **facts,
    )


def remade(
    b: GraphBuilder, target: OutputAnchor, *more: OutputAnchor, name: str = "update", **facts: Any
) -> OutputAnchor:
    """An update that makes a new tensor."""
    return b.op("TensorScatterUpdate", target, *more, name=name, **facts)


def stored(
    b: GraphBuilder, target: OutputAnchor, value: OutputAnchor, name: str = "back", **facts: Any
) -> OutputAnchor:
    """A write-back."""
    return b.op("Assign", target, value, name=name, reuse_input=0, **facts)


def given(b: GraphBuilder, name: str = "x") -> OutputAnchor:
    """A graph input."""
    return b.data(name, SHAPE)


# ---- forms that need no copy --------------------------------------------------------------------


@free
def copy_and_update(b: GraphBuilder) -> None:
    """Copy, update in place, write-back."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@free
def new_tensor(b: GraphBuilder) -> None:
    """A functional update, write-back."""
    v = cache(b)
    u = remade(b, v, given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@free
def old_value_read_before(b: GraphBuilder) -> None:
    """A reader of the old value that is listed in front of the update."""
    v = cache(b)
    old = b.op("Exp", v, name="old")
    u = updated(b, copied(b, v), given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u), old)


@free
def new_value_read_from_the_variable(b: GraphBuilder) -> None:
    """Readers of the variable behind the write-back: by its output, waiting for it, by listing."""
    v = cache(b)
    u = remade(b, v, given(b))
    back = stored(b, v, u)
    waiting = b.op("Exp", v, name="waiting", control=[back])
    b.net_output(b.op("Relu", back), waiting, b.op("Tanh", v, name="listed"))


@free
def two_updates(b: GraphBuilder) -> None:
    """A value written at two places in a step, read in between."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    middle = b.op("Exp", u, name="middle")
    w = updated(b, u, middle, name="second")
    stored(b, v, w)
    b.net_output(b.op("Relu", w))


@free
def two_new_tensors(b: GraphBuilder) -> None:
    """Two functional updates in a row, the first one's result read in between."""
    v = cache(b)
    u = remade(b, v, given(b))
    w = remade(b, u, b.op("Exp", u, name="middle"), name="second")
    stored(b, v, w)
    b.net_output(b.op("Relu", w))


@free
def two_write_backs(b: GraphBuilder) -> None:
    """One variable copied, updated and stored twice."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    back = stored(b, v, u)
    attended = b.op("Relu", u, name="attended")
    w = updated(b, copied(b, back, "copy2"), attended, name="second")
    stored(b, v, w, "back2")
    b.net_output(b.op("Relu", w))


@free
def copy_then_new_tensor(b: GraphBuilder) -> None:
    """An update in place and a functional one."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    w = remade(b, u, b.op("Exp", u), name="second")
    stored(b, v, w)
    b.net_output(b.op("Relu", w))


@free
def through_views(b: GraphBuilder) -> None:
    """Views in front of the update and behind it."""
    v = cache(b)
    flat = b.op("Reshape", copied(b, v), shape=(128,), reuse_input=0)
    u = updated(b, flat, given(b))
    stored(b, v, b.op("Reshape", u, shape=SHAPE, reuse_input=0))
    b.net_output(b.op("Relu", u))


@free
def update_in_a_call(b: GraphBuilder) -> None:
    """The update inside a call, copy and write-back outside."""
    v = cache(b)
    inner = b.subgraph("f")
    inner.net_output(updated(inner, inner.data("d0", SHAPE), inner.data("d1", SHAPE)))
    call = b.op("PartitionedCall", copied(b, v), given(b), name="call", subgraphs={"f": inner})
    stored(b, v, call)
    b.net_output(b.op("Relu", call))


@free
def all_in_a_call(b: GraphBuilder) -> None:
    """A call that copies, updates and stores its argument; the variable is read behind it."""
    v = cache(b)
    inner = b.subgraph("f")
    d = inner.data("d0", SHAPE)
    u = updated(inner, copied(inner, d), inner.data("d1", SHAPE))
    stored(inner, d, u)
    inner.net_output(inner.op("Relu", u))
    call = b.op("PartitionedCall", v, given(b), name="call", subgraphs={"f": inner})
    b.net_output(call, b.op("Exp", v, name="after", control=[call]))


@free
def in_an_arm(b: GraphBuilder) -> None:
    """An If of which one arm updates the variable; the other one reads it."""
    v, x, p = cache(b), given(b), b.data("p", (), "bool")
    yes, no = b.subgraph("yes"), b.subgraph("no")
    d = yes.data("y1", SHAPE, index=1)
    u = updated(yes, copied(yes, d), yes.data("y2", SHAPE, index=2))
    stored(yes, d, u)
    yes.net_output(yes.op("Relu", u))
    old = no.data("n1", SHAPE, index=1)
    no.data("n2", SHAPE, index=2)
    no.net_output(no.op("Exp", old))
    desc = TensorDesc.make("float32", SHAPE)
    either = b.op(
        "If",
        p,
        v,
        x,
        name="if",
        outputs=[desc],
        subgraphs={"then_branch": yes, "else_branch": no},
    )
    b.net_output(b.op("Relu", either), b.op("Exp", v, name="after", control=[either]))


@free
def in_a_loop(b: GraphBuilder) -> None:
    """A While whose body updates a variable in every turn."""
    x = given(b)
    cond, body = b.subgraph("cond"), b.subgraph("body")
    cond.net_output(cond.op("Less", cond.data("c0", SHAPE), shape=(), dtype="bool"))
    v = cache(body)
    u = updated(body, copied(body, v), body.data("b0", SHAPE))
    stored(body, v, u)
    body.net_output(body.op("Relu", u))
    loop = b.op("While", x, name="loop", subgraphs={"cond": cond, "body": body})
    b.net_output(b.op("Relu", loop))


@free
def reference_input(b: GraphBuilder) -> None:
    """A graph input that is held as a variable."""
    desc = TensorDesc.make("float32", SHAPE)
    node = b.graph.add_node("RefData", "cache", outputs=[desc], attrs={"index": 0})
    u = updated(b, copied(b, node.outputs[0]), b.data("x", SHAPE, index=1))
    stored(b, node.outputs[0], u)
    b.net_output(b.op("Relu", u))


@free
def several_layers(b: GraphBuilder) -> None:
    """Three caches in a row, of both forms."""
    at = given(b)
    for layer in range(3):
        v = cache(b, f"cache{layer}")
        if layer == 1:
            u = remade(b, v, at, name=f"update{layer}")
        else:
            u = updated(b, copied(b, v, f"copy{layer}"), at, name=f"update{layer}")
        stored(b, v, u, f"back{layer}")
        at = b.op("Relu", u, name=f"attended{layer}")
    b.net_output(at)


@free
def two_streams(b: GraphBuilder) -> None:
    """A reader of the old value on another stream."""
    v, x = cache(b), given(b)
    old = b.op("Exp", v, name="old", attrs={"stream_id": 1})
    u = updated(b, copied(b, v), x, control=[old])
    stored(b, v, u)
    b.net_output(b.op("Relu", u), old)


@free
def reader_listed_behind_the_update(b: GraphBuilder) -> None:
    """A reader of the old value that is listed behind the update, which may run before it."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    old = b.op("Exp", v, name="old")
    stored(b, v, u)
    b.net_output(b.op("Relu", u), old)


@free
def in_place_and_stored(b: GraphBuilder) -> None:
    """The variable itself is updated, and then stored in itself."""
    v = cache(b)
    u = updated(b, v, given(b))
    stored(b, v, b.op("Reshape", u, shape=SHAPE, reuse_input=0))
    b.net_output(b.op("Relu", u))


@free
def read_by_many_views(b: GraphBuilder) -> None:
    """The old value is read through views of the variable, one of them behind the update."""
    v = cache(b)
    flat = b.op("Reshape", v, shape=(128,), reuse_input=0, name="flat")
    early = b.op("Exp", flat, name="early")
    u = updated(b, copied(b, v), given(b))
    late = b.op("Tanh", flat, name="late")
    stored(b, v, u)
    b.net_output(b.op("Relu", u), early, late)


# ---- forms of which one copy stays --------------------------------------------------------------


@half
def old_value_needed_by_a_later_reader(b: GraphBuilder) -> None:
    """A reader of the old value that waits for the update."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    old = b.op("Add", v, b.op("Relu", u), name="old")
    stored(b, v, u, control=[old])
    b.net_output(old)


@half
def old_value_in_the_update(b: GraphBuilder) -> None:
    """The update reads the variable while it changes the copy."""
    v = cache(b)
    u = updated(b, copied(b, v), v)
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@half
def value_changed_later(b: GraphBuilder) -> None:
    """The updated value is changed once more, behind the write-back."""
    v, x = cache(b), given(b)
    u = updated(b, copied(b, v), x)
    back = stored(b, v, u)
    b.net_output(b.op("Relu", updated(b, u, x, name="later", control=[back])))


@half
def value_is_a_result(b: GraphBuilder) -> None:
    """The updated value is a graph output as well."""
    v = cache(b)
    u = updated(b, copied(b, v), given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u), u)


@half
def value_from_elsewhere(b: GraphBuilder) -> None:
    """What is copied and updated is another value, which is needed later."""
    v, y = cache(b), b.op("Exp", given(b, "y"), name="other")
    u = updated(b, copied(b, y), given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u), b.op("Add", y, b.op("Tanh", u), name="late"))


@half
def graph_input_stored(b: GraphBuilder) -> None:
    """A graph input is copied, updated and stored, as when a cache is filled."""
    v = cache(b)
    u = updated(b, copied(b, given(b, "y")), given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@half
def input_is_a_result(b: GraphBuilder) -> None:
    """A graph input is updated, and its new value is a graph output as well, which lies apart."""
    x = given(b)
    u = updated(b, copied(b, x), given(b, "y"))
    stored(b, x, u)
    b.net_output(b.op("Relu", u), u)


@half
def input_is_a_result_by_a_call(b: GraphBuilder) -> None:
    """The same where a call hands on what becomes the graph output."""
    x = given(b)
    inner = b.subgraph("f")
    inner.net_output(inner.data("d0", SHAPE))
    call = b.op("PartitionedCall", copied(b, x), name="call", subgraphs={"f": inner})
    stored(b, x, call)
    b.net_output(call)


# ---- forms of which everything stays ------------------------------------------------------------


@kept("W_AT_ONCE")
def read_beside_a_new_tensor(b: GraphBuilder) -> None:
    """A functional update that reads the variable twice."""
    v = cache(b)
    u = remade(b, v, v)
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@kept("W_STILL_READ")
def new_tensor_and_a_later_reader(b: GraphBuilder) -> None:
    """A reader of the old value that waits for a functional update: a copy would win nothing."""
    v = cache(b)
    u = remade(b, v, given(b))
    old = b.op("Add", v, b.op("Relu", u), name="old")
    stored(b, v, u, control=[old])
    b.net_output(old)


@kept("W_CHANGED_LATER")
def new_tensor_changed_later(b: GraphBuilder) -> None:
    """The result of a functional update is changed behind the write-back."""
    v, x = cache(b), given(b)
    u = remade(b, v, x)
    back = stored(b, v, u)
    b.net_output(b.op("Relu", updated(b, u, x, name="later", control=[back])))


@kept("W_RESULT")
def new_tensor_is_a_result(b: GraphBuilder) -> None:
    """The result of a functional update is a graph output as well."""
    v = cache(b)
    u = remade(b, v, given(b))
    stored(b, v, u)
    b.net_output(u)


@kept("W_RESULT")
def input_is_two_results(b: GraphBuilder) -> None:
    """What is stored in a graph input is a result, and the stored value is another one."""
    x = given(b)
    u = remade(b, x, given(b, "y"))
    b.net_output(u, stored(b, x, u))


@kept("W_LISTED_ORDER")
def reader_that_must_not_be_overtaken(b: GraphBuilder) -> None:
    """The reader would have to come first, and with it a writer that the update's reader sees."""
    v, w, x = cache(b), cache(b, "other"), given(b)
    u = remade(b, v, x)
    seen = b.op("Add", u, w, name="seen")
    written = b.op("AssignAdd", w, x, name="written", reuse_input=0)
    old = b.op("Add", v, written, name="old")
    stored(b, v, u)
    b.net_output(seen, old)


@kept("W_NOT_EVERY_TIME")
def stored_in_one_arm(b: GraphBuilder) -> None:
    """Only one arm of an If stores the updated copy."""
    v, x, p = cache(b), given(b), b.data("p", (), "bool")
    u = updated(b, copied(b, v), x)
    yes, no = b.subgraph("yes"), b.subgraph("no")
    back = stored(yes, yes.data("y1", SHAPE, index=1), yes.data("y2", SHAPE, index=2))
    yes.net_output(yes.op("Relu", back))
    old = no.data("n1", SHAPE, index=1)
    no.data("n2", SHAPE, index=2)
    no.net_output(no.op("Exp", old))
    desc = TensorDesc.make("float32", SHAPE)
    arms = {"then_branch": yes, "else_branch": no}
    b.net_output(b.op("Relu", b.op("If", p, v, u, name="if", outputs=[desc], subgraphs=arms)))


@kept("W_CHANGED_BETWEEN")
def variable_changed_between(b: GraphBuilder) -> None:
    """Somebody changes the variable between copy and write-back, which overwrites that."""
    v, x = cache(b), given(b)
    copy = copied(b, v)
    other = b.op("AssignAdd", v, x, name="other", reuse_input=0, control=[copy])
    seen = b.op("Exp", other, name="seen")
    u = updated(b, copy, x, control=[other])
    stored(b, v, u, control=[seen])
    b.net_output(b.op("Relu", u), seen)


@kept("W_CHANGED_BETWEEN")
def variable_changed_by_its_name(b: GraphBuilder) -> None:
    """The same by a node whose output says that it is the variable."""
    v, x = cache(b), given(b)
    copy = copied(b, v)
    named = TensorDesc.make("float32", SHAPE, attrs={"ref_var_src_var_name": "cache"})
    other = b.op("Exp", x, name="other", outputs=[named], control=[copy])
    u = updated(b, copy, x, control=[other])
    stored(b, v, u)
    b.net_output(b.op("Relu", u), b.op("Tanh", x))


@kept("W_MADE_APART")
def made_by_another_op(b: GraphBuilder) -> None:
    """What is stored is the result of an op that can't work in place."""
    v = cache(b)
    u = b.op("MatMulV2", v, given(b), name="update", shape=SHAPE)
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@kept("W_RESERVED")
def marked_to_stay(b: GraphBuilder) -> None:
    """The copy is reserved by its user."""
    v = cache(b)
    copy = copied(b, v)
    b.graph.set_attr(copy.node, "_cannot_be_deleted", True)
    u = updated(b, copy, given(b))
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@kept("W_VAGUE")
def without_a_size(b: GraphBuilder) -> None:
    """Nobody knows how large the variable is."""
    v = b.op("Variable", name="cache", shape=(-1, 16))
    u = updated(b, copied(b, v), b.data("x", (-1, 16)))
    stored(b, v, u)
    b.net_output(b.op("Relu", u))


@kept("W_VAGUE")
def all_in_two_calls(b: GraphBuilder) -> None:
    """A layer as a subgraph that is called with one cache and then with another one.

    Which of the two memories it is, is another answer for each call.
    """
    inner = b.subgraph("f")
    d = inner.data("d0", SHAPE)
    u = updated(inner, copied(inner, d), inner.data("d1", SHAPE))
    stored(inner, d, u)
    inner.net_output(inner.op("Relu", u))
    at = given(b)
    for layer in range(2):
        v = cache(b, f"cache{layer}")
        at = b.op("PartitionedCall", v, at, name=f"call{layer}", subgraphs={"f": inner})
    b.net_output(at)


@kept("W_ORDER")
def memory_made_behind_the_copy(b: GraphBuilder) -> None:
    """What is copied can't be stored at once: the memory is made of the updated value."""
    y = b.op("Exp", given(b, "y"), name="other")
    u = updated(b, copied(b, y), given(b))
    made = b.op("Tanh", u, name="made")
    stored(b, made, u)
    b.net_output(b.op("Relu", made), b.op("Add", y, u))
