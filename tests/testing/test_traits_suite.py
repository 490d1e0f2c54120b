"""`op_traits_conformance`: traits that fit the kernel pass, and each that doesn't is found."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.api import OpTraits
from ge_core.errors import UsageError
from ge_core.testing import op_traits_conformance
from tests.testing import odd_kernels

HOME = odd_kernels.__name__


def suite_for(kernel: Any, **traits: Any) -> Any:
    """The suite of an op with this kernel and these traits."""
    return op_traits_conformance(
        "Odd",
        traits=lambda ops: ops.add(OpTraits("Odd", **traits), "ge"),
        kernels=lambda kernels: kernels.add("Odd", f"{HOME}:{kernel.__name__}", source="ge"),
    )


test_an_elementwise_op = suite_for(odd_kernels.twice, inplace=((0, 0),))
test_a_view = suite_for(odd_kernels.window, aliases=((0, 0),))
test_an_op_of_shapes = suite_for(odd_kernels.sum_of_shape, shape_only=(0,))
test_a_random_op = suite_for(odd_kernels.draws, nondeterministic=True)
test_an_op_that_destroys_its_input = suite_for(odd_kernels.spoils, scribbles=(0,))


@pytest.mark.parametrize(
    ("kernel", "traits", "aspect", "words"),
    [
        (
            odd_kernels.cumulative,
            {"inplace": ((0, 0),)},
            "test_in_place_pairs_can_be_computed_in_place",
            "element 0 of input 0 shows in element 1 of output 0",
        ),
        (
            odd_kernels.spoils,
            {},
            "test_inputs_that_are_only_read_stay",
            "input 0 is written: declare writes=(0,)",
        ),
        (
            odd_kernels.copies,
            {"aliases": ((0, 0),)},
            "test_aliasing_outputs_are_their_inputs",
            "and holds something else",
        ),
        (
            odd_kernels.twice,
            {"shape_only": (0,)},
            "test_only_the_shape_is_read_where_declared",
            "its values show in the results",
        ),
        (
            odd_kernels.draws,
            {},
            "test_equal_inputs_give_equal_results",
            "declare nondeterministic=True",
        ),
        (
            odd_kernels.numbers,
            {"nondeterministic": True},
            "test_equal_inputs_give_equal_results",
            "use ctx.seed",
        ),
        (
            odd_kernels.too_small,
            {},
            "test_a_kernel_computes_each_op",
            "output 0 has shape (1, 8), not (4, 8)",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_wrong_traits_are_found(
    kernel: Any, traits: dict[str, Any], aspect: str, words: str, run_suite: Any
) -> None:
    """The message names the op, who declares and who computes it."""
    failed = run_suite(suite_for(kernel, **traits)).failed
    # What differs from run to run differs in the arena, too.
    assert set(failed) - {"test_it_works_in_poisoned_memory"} == {aspect}, failed
    assert words in failed[aspect]
    assert "Odd" in failed[aspect]


def test_a_stand_in_says_nothing(run_suite: Any) -> None:
    """An op that nobody computes can't be judged, and the suite says so."""
    failed = run_suite(op_traits_conformance("NobodyComputesThis")).failed
    assert ["test_a_kernel_computes_each_op"] == list(failed)
    assert "only a stand-in computes it" in failed["test_a_kernel_computes_each_op"]


def test_it_wants_an_op() -> None:
    """At least one."""
    with pytest.raises(UsageError, match="at least one op"):
        op_traits_conformance()
