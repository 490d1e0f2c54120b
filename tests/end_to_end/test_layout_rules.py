"""Plugins' layout rules are asked wherever an optimization would make two memories one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ge_core.api import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.session.compiler import Compiler
from ge_core.session.kernel import forget_kernels, make_kernel
from ge_core.session.request import CompileRequest
from ge_core.session.result import Result

PLUGIN = """
from ge_core.api import OpTraits, hookimpl


def is_pinned(anchor):
    return anchor.desc is not None and "acme.bank" in anchor.desc.attrs


def same_bank(a, b, query):
    if a.desc.attrs["acme.bank"] == b.desc.attrs["acme.bank"]:
        return query.no_conflict()
    return query.conflict(code="TWO_BANKS", isolate=b)


@hookimpl
def ge_register_ops(ops):
    ops.add(OpTraits("AcmeInc", inplace=((0, 0),)), source="ge")


@hookimpl
def ge_register_anchor_types(types):
    types.add("BANK", marks=is_pinned)


@hookimpl
def ge_register_conflict_checkers(checkers):
    checkers.check("BANK", "BANK", same_bank, codes=["TWO_BANKS"])
"""

Compile = Callable[..., Result]


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compile]:
    """`compiled(graph, ...)` compiles with a plugin whose tensors lie in banks."""
    monkeypatch.syspath_prepend(str(tmp_path))
    module = f"acme_layout_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{module}.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "ge.toml").write_text(f"plugins = ['acme = {module}']\n", encoding="utf-8")

    def run(graph: Graph, level: str = "O3", **options: str) -> Result:
        kernel = make_kernel(folder=tmp_path, environ={})
        request = CompileRequest(
            level=level, options={f"ge.memory.{k}": v for k, v in options.items()}
        )
        return Compiler(kernel).compile(graph, request)

    yield run
    forget_kernels()


def banked(bank: str | None, *shape: int) -> TensorDesc:
    """A description that pins its tensor to a bank, or does not."""
    return TensorDesc.make(shape=shape, attrs={} if bank is None else {"acme.bank": bank})


def parts(build: GraphBuilder, banks: str, rows: int = 16) -> list[OutputAnchor]:
    """One tensor per letter, in the bank of that name; `-` is none."""
    x = build.data("x", (rows, 16))
    return [
        build.op("Relu", x, name=f"part{at}", outputs=[banked(None if b == "-" else b, rows, 16)])
        for at, b in enumerate(banks)
    ]


def join(banks: str, result: str | None = None) -> Graph:
    """A Concat of tensors in these banks, its result in another one or none."""
    build = GraphBuilder("join")
    operands = parts(build, banks)
    whole = banked(result, 16 * len(banks), 16)
    attrs = {"concat_dim": 0, "N": len(banks)}
    joined = build.op("ConcatD", *operands, name="it", attrs=attrs, outputs=[whole])
    build.net_output(build.op("Exp", joined, name="use"))
    return build.graph


def pack(banks: str) -> Graph:
    """The same of a Pack."""
    build = GraphBuilder("pack")
    operands = parts(build, banks)
    whole = banked(None, len(banks), 16, 16)
    attrs = {"axis": 0, "N": len(banks)}
    joined = build.op("Pack", *operands, name="it", attrs=attrs, outputs=[whole])
    build.net_output(build.op("Exp", joined, name="use"))
    return build.graph


def split(whole: str | None, *banks: str | None) -> Graph:
    """A Split of a tensor in one bank into parts in others."""
    build = GraphBuilder("split")
    x = build.data("x", (16 * len(banks), 16))
    made = build.op("Relu", x, name="made", outputs=[banked(whole, 16 * len(banks), 16)])
    node = build.node(
        "SplitD",
        made,
        name="it",
        attrs={"split_dim": 0, "num_split": len(banks)},
        outputs=[banked(bank, 16, 16) for bank in banks],
    )
    build.net_output(
        *(build.op("Exp", output, name=f"use{output.index}") for output in node.outputs)
    )
    return build.graph


@pytest.mark.parametrize("level", ["O3", "O4"])
@pytest.mark.parametrize(
    ("make", "banks", "stays"),
    [
        (
            join,
            (
                "AA",
                "A",
            ),
            False,
        ),
        (join, ("--",), False),
        (join, ("A-",), False),
        (join, ("AB",), True),
        (join, ("A-B",), True),
        (
            join,
            (
                "AA",
                "B",
            ),
            True,
        ),
        (pack, ("AA",), False),
        (pack, ("AB",), True),
        (
            split,
            (
                "A",
                "A",
                None,
            ),
            False,
        ),
        (
            split,
            (
                "A",
                "A",
                "B",
            ),
            True,
        ),
        (
            split,
            (
                None,
                "A",
                "B",
            ),
            True,
        ),
    ],
)
def test_a_join_or_split_keeps_its_task_where_a_rule_is_against_one_buffer(
    compiled: Compile,
    make: Callable[..., Graph],
    banks: tuple[str | None, ...],
    stays: bool,
    level: str,
) -> None:
    """Operands, parts and the whole are asked about in pairs; the rule's code is in the data."""
    final = compiled(make(*banks), level).remarks.final("it")
    assert final is not None
    assert ("LAYOUT_CLASH" if stays else "NO_TASK") == final.code
    if stays:
        assert "acme.TWO_BANKS" == final.data["clash"]
        assert final.reason.endswith("can't share a memory: acme.TWO_BANKS")


def test_what_an_earlier_join_put_together_counts(compiled: Compile) -> None:
    """A join of a join lies in one buffer with the inner operands."""
    codes = []
    for bank in "AB":
        build = GraphBuilder("nested")
        operands = parts(build, f"A-{bank}")
        attrs = {"concat_dim": 0, "N": 2}
        shapes = [banked(None, rows, 16) for rows in (32, 48)]
        inner = build.op("ConcatD", *operands[:2], name="inner", attrs=attrs, outputs=shapes[:1])
        outer = build.op("ConcatD", inner, operands[2], name="it", attrs=attrs, outputs=shapes[1:])
        build.net_output(build.op("Exp", outer, name="use"))
        remarks = compiled(build.graph, "O4").remarks
        codes.append([f.code for f in map(remarks.final, ("inner", "it")) if f is not None])
    assert [["NO_TASK", "NO_TASK"], ["NO_TASK", "LAYOUT_CLASH"]] == codes


@pytest.mark.parametrize("bank", ["A", "B"])
def test_an_op_works_in_place_only_where_no_rule_is_against_it(
    compiled: Compile, bank: str
) -> None:
    """Otherwise its output gets bytes of its own."""
    build = GraphBuilder("inplace")
    made = build.op("Exp", build.data("x"), name="made", outputs=[banked("A", 1, 16)])
    done = build.op("AcmeInc", made, name="inc", outputs=[banked(bank, 1, 16)])
    build.net_output(build.op("Exp", done, name="use", shape=(1, 16)))
    plan = compiled(build.graph, inplace="1").plan
    assert plan is not None
    made_at, done_at = plan.find("made:0"), plan.find("inc:0")
    assert (bank == "A") == (made_at.offset == done_at.offset)
    if bank == "B":
        said = "made:0 and inc:0 can't share a memory: acme.TWO_BANKS"
        assert plan.judge is not None
        assert said in plan.judge("made:0", "inc:0")[1]


def test_values_of_arms_are_asked_about(compiled: Compile) -> None:
    """What an arm delivers is put where its If wants it, unless a rule is against that."""
    shared = []
    for bank in "AB":
        build = GraphBuilder("arms")
        x = build.data("x", (16, 16))
        choice = build.data("choice", (), dtype="bool")
        arms = {}
        for label in ("then_branch", "else_branch"):
            arm = arms[label] = build.subgraph(label)
            inner = arm.data(f"{label}_x", (16, 16), index=1)
            arm.net_output(arm.op("Relu", inner, name=f"{label}_r", outputs=[banked("A", 16, 16)]))
        chosen = build.op(
            "If", choice, x, name="it", outputs=[banked(bank, 16, 16)], subgraphs=arms
        )
        build.net_output(build.op("Exp", chosen, name="use"))
        plan = compiled(build.graph).plan
        assert plan is not None
        offsets = {t.node.rpartition("/")[2]: t.offset for t in plan.tensors}
        shared.append(offsets["then_branch_r"] == offsets["it"])
    assert [True, False] == shared
