"""The page about ops says of each declared op what it does with memory, and no more."""

from __future__ import annotations

import re

from ge_core.ops import ALL, OpTraits
from scripts.generate_docs import DOCS
from scripts.op_page import computed, facts, op_traits
from scripts.registry_pages import registries

PAGE = op_traits()
ROW = re.compile(r"^\| `([^`]+)` \| ([a-z ]+) \|", re.MULTILINE)
LISTS = {
    source: set(re.findall(r"`([^`]+)`", PAGE.partition(f"\n{title}: ")[2].partition("\n")[0]))
    for source, title in (("ge", "From GE"), ("onnx", "From ONNX"))
}


def test_every_declared_op_is_on_the_page_once() -> None:
    """In the table or in the list of ordinary ones, for each source of graphs."""
    rows = {(source, op) for op, where in ROW.findall(PAGE) for source in where.split(" and ")}
    listed = {(source, op) for source, ops in LISTS.items() for op in ops}
    assert set() == rows & listed
    assert {(source, traits.op) for source, traits in registries().ops} == rows | listed


def test_listed_ops_are_ordinary() -> None:
    """Nothing is to be said of them."""
    special = [
        traits.op
        for source, traits in registries().ops
        if traits.op in LISTS[source] and (traits.kind != "compute" or facts(traits))
    ]
    assert [] == special


def test_each_trait_has_its_words() -> None:
    """In the order of the declaration."""
    traits = OpTraits(
        "Odd",
        writes=(0, 2),
        scribbles=(ALL,),
        aliases=((1, 0),),
        inplace=((0, 1), (0, 2)),
        shape_only=(3,),
        atomic=True,
        collective=True,
        side_effect=True,
        nondeterministic=True,
        strided_in=True,
        strided_out=True,
        expansion="module:function",
    )
    expected = [
        "writes input 0, input 2",
        "destroys every input",
        "output 1 is input 0's memory",
        "output 0 may lie on input 1 or 2",
        "reads only the shape of input 3",
        "outputs are cleared first",
        "collective",
        "side effect",
        "two runs may differ",
        "reads rows with gaps",
        "writes rows with gaps",
        "the proof looks inside",
    ]
    assert expected == facts(traits)


def test_ops_with_a_kernel_are_listed() -> None:
    """So that a user sees which ones a stand-in computes."""
    line = PAGE.partition("\nWith a kernel: ")[2].partition("\n")[0]
    assert sorted(set(computed())) == re.findall(r"`([^`]+)`", line)
    assert "Transpose" in computed()


def test_the_guide_explains_every_trait() -> None:
    """Each field of `OpTraits` that says something about an op, by its name."""
    guide = (DOCS / "ops.md").read_text(encoding="utf-8")
    told_elsewhere = {"op", "owner", "vouched"}
    names = set(OpTraits.__dataclass_fields__) - told_elsewhere
    assert [] == sorted(name for name in names if f"`{name}`" not in guide)
