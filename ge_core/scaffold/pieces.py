"""What a new package may contain: per kind its modules, its tests, and what it registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ge_core.errors import UsageError, near_matches
from ge_core.passes import Level, Stage
from ge_core.scaffold.declarations import comment, further, hook_arguments, registration
from ge_core.scaffold.names import Names


@dataclass(frozen=True, slots=True)
class Registration:
    """What one piece adds to one hook.

    Attributes:
        text: statements and comments.
        imports: names by module of the package that the statements use.
        api: names of `ge_core.api` that they use.
    """

    hook: str
    text: str
    imports: tuple[tuple[str, str], ...] = ()
    api: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """What one kind adds to a package.

    Attributes:
        about: one line for the README.
        files: file below the package's folder by template; `$` names are filled in.
        tests: file below tests/ by template.
        registrations: per hook.
        look: a command that shows it at work.
    """

    about: str
    files: dict[str, str]
    tests: dict[str, str]
    registrations: tuple[Registration, ...]
    look: str


def piece(kind: str, names: Names) -> Piece:
    """The piece of that kind.

    Raises:
        UsageError: there is no such kind; says which there are.
    """
    maker = _MAKERS.get(kind)
    if maker is None:
        raise UsageError(
            f"no kind of piece {kind!r}",
            near=near_matches(kind, KINDS),
            hint="kinds: " + ", ".join(KINDS),
        )
    return maker(names)


# ---- the kinds -----------------------------------------------------------------------------------


def _pass(names: Names) -> Piece:
    hook = "ge_register_passes"
    shown = {
        "levels": f"Level.{Level.O2.name}.and_above()",
        "stage": f"Stage.{Stage.OPTIMIZE_STAGE1.name}",
        "changes_values": "True",
    }
    text = "\n".join(
        [
            comment(
                "changes_values: that a second Relu changes nothing is this pass's knowledge, not "
                "the proof's. Take it away where your pass removes only moves and views."
            ),
            further(hook, "add", *shown),
            registration(hook, "add", "DropRepeatedRelu", **shown),
        ]
    )
    return Piece(
        about="`repeated_relu.py`: a pass that removes a Relu behind a Relu, or says why it stays",
        files={"pass.py": "repeated_relu.py"},
        tests={"test_pass.py": "test_repeated_relu.py"},
        registrations=(
            Registration(hook, text, (("repeated_relu", "DropRepeatedRelu"),), ("Level", "Stage")),
        ),
        look=f"ge passes show {names.owner}.DropRepeatedRelu",
    )


def _checker(names: Names) -> Piece:
    types, rules = "ge_register_anchor_types", "ge_register_conflict_checkers"
    kept = "ge_register_delete_rules"
    kind = '"PINNED_BANK"'
    marked = registration(
        types, "add", kind, marks="is_pinned", about='"A tensor that must lie in a bank."'
    )
    text = "\n".join(
        [
            comment("A rule speaks of a pair of types: always a conflict, never one, or ask."),
            registration(
                rules, "always", kind, '"USER_MEMORY_OUTPUT"', code='"BANK_IS_NOT_THE_CALLERS"'
            ),
            registration(rules, "never", kind, '"NORMAL_INPUT"'),
            registration(rules, "check", kind, kind, "same_bank", codes='("TWO_BANKS",)'),
        ]
    )
    stays = "\n".join(
        [
            comment("With a copy its output's description goes, and what only that demanded."),
            registration(
                kept,
                "add",
                '"enters_bank"',
                "enters_bank",
                codes='{"ENTERS_BANK": "only the copy says that it lies in bank {bank}"}',
            ),
        ]
    )
    return Piece(
        about="`banks.py`: an anchor type for tensors that are pinned to a bank, and its checkers",
        files={"checker.py": "banks.py"},
        tests={"test_checker.py": "test_banks.py"},
        registrations=(
            Registration(types, marked, (("banks", "is_pinned"),)),
            Registration(rules, text, (("banks", "same_bank"),)),
            Registration(kept, stays, (("banks", "enters_bank"),)),
        ),
        look="ge checkers",
    )


def _assigner(names: Names) -> Piece:
    hook = "ge_register_memory_assigners"
    reference = f'"{names.package}.first_fit:FirstFit"'
    text = "\n".join(
        [
            comment("A reference, imported when somebody asks for the assigner."),
            registration(hook, "add", '"first_fit"', reference, about='"by birth, lowest first"'),
        ]
    )
    return Piece(
        about="`first_fit.py`: a memory assigner that takes the lowest free offset",
        files={"assigner.py": "first_fit.py"},
        tests={"test_assigner.py": "test_first_fit.py"},
        registrations=(Registration(hook, text),),
        look=f"ge compile MODEL --assigner {names.owner}.first_fit",
    )


def _trace(names: Names) -> Piece:
    ops, rules, kernels = "ge_register_ops", "ge_register_trace_rules", "ge_register_kernels"
    traits = "OpTraits(WINDOW, aliases=((0, 0),))"
    declared = "\n".join(
        [
            comment("Output 0 is input 0's memory: planner and proof go by this trait."),
            registration(ops, "add", traits, source='"ge"'),
        ]
    )
    return Piece(
        about=f"`windows.py`: the op {names.camel}Window, and how a source trace steps over it",
        files={"trace.py": "windows.py"},
        tests={"test_trace.py": "test_windows.py"},
        registrations=(
            Registration(ops, declared, (("windows", "WINDOW"),), ("OpTraits",)),
            Registration(
                rules,
                registration(rules, "add", "WINDOW", step="step_over_window"),
                (("windows", "WINDOW"), ("windows", "step_over_window")),
            ),
            Registration(
                kernels,
                registration(
                    kernels, "add", "WINDOW", f'"{names.package}.windows:compute"', source='"ge"'
                ),
                (("windows", "WINDOW"),),
            ),
        ),
        look="ge explain MODEL",
    )


def _op(names: Names) -> Piece:
    ops, kernels = "ge_register_ops", "ge_register_kernels"
    declared = "\n".join(
        [
            comment("Element by element: its output may take its input's place."),
            registration(ops, "add", "OpTraits(SCALE, inplace=((0, 0),))", source='"ge"'),
        ]
    )
    reference = f'"{names.package}.scale:compute"'
    return Piece(
        about=f"`scale.py`: the op {names.camel}Scale, and how the executor computes it",
        files={"op.py": "scale.py"},
        tests={"test_op.py": "test_scale.py"},
        registrations=(
            Registration(ops, declared, (("scale", "SCALE"),), ("OpTraits",)),
            Registration(
                kernels,
                registration(kernels, "add", "SCALE", reference, source='"ge"'),
                (("scale", "SCALE"),),
            ),
        ),
        look="ge run MODEL --check",
    )


def _target(names: Names) -> Piece:
    hook = "ge_register_targets"
    text = registration(hook, "add", "NPU")
    return Piece(
        about=f"`npu.py`: the target {names.dashed}-npu: alignment and abilities of a device",
        files={"target.py": "npu.py"},
        tests={"test_target.py": "test_npu.py"},
        registrations=(Registration(hook, text, (("npu", "NPU"),)),),
        look=f"ge compile MODEL --target {names.dashed}-npu",
    )


def _pipeline(names: Names) -> Piece:
    hook = "ge_register_pipelines"
    text = "\n".join(
        [
            comment("An overlay in a file beside this one; `add_text` and `add_level` are others."),
            registration(hook, "add_toml", f'"{names.package}"', f'"{names.dashed}-moves.toml"'),
        ]
    )
    return Piece(
        about=f"`{names.dashed}-moves.toml`: a pipeline: level O1 and the removal of moves",
        files={"pipeline.toml": f"{names.dashed}-moves.toml"},
        tests={"test_pipeline.py": "test_pipeline.py"},
        registrations=(Registration(hook, text),),
        look=f"ge compile MODEL --pipeline {names.dashed}-moves",
    )


def _option(names: Names) -> Piece:
    options, passes = "ge_register_options", "ge_register_passes"
    shown = {
        "type": '"integer"',
        "default": '"1048576"',
        "help": '"Bytes from which a tensor is reported as large."',
    }
    declared = "\n".join(
        [further(options, "add", *shown), registration(options, "add", '"large_bytes"', **shown)]
    )
    added = registration(
        passes,
        "add",
        "ReportLargeTensors",
        levels=f"Level.{Level.O1.name}.and_above()",
        stage=f"Stage.{Stage.PREPARE.name}",
    )
    return Piece(
        about="`large_tensors.py`: an option, and an analysis pass that reports what exceeds it",
        files={"option.py": "large_tensors.py"},
        tests={"test_option.py": "test_large_tensors.py"},
        registrations=(
            Registration(options, declared),
            Registration(
                passes, added, (("large_tensors", "ReportLargeTensors"),), ("Level", "Stage")
            ),
        ),
        look=f"ge compile MODEL --set {names.owner}.large_bytes=4096 --remarks remarks.jsonl",
    )


def _instrument(names: Names) -> Piece:
    hook = "ge_after_pass"
    arguments = ", ".join(hook_arguments(hook))
    text = f"watching.after_pass({arguments})"
    return Piece(
        about="`watching.py`: an instrument that logs which passes changed the graph",
        files={"instrument.py": "watching.py"},
        tests={"test_instrument.py": "test_watching.py"},
        registrations=(Registration(hook, text, (("", "watching"),)),),
        look="pytest tests/test_watching.py",
    )


_MAKERS: Final[dict[str, Callable[[Names], Piece]]] = {
    "pass": _pass,
    "checker": _checker,
    "assigner": _assigner,
    "trace": _trace,
    "op": _op,
    "target": _target,
    "pipeline": _pipeline,
    "option": _option,
    "instrument": _instrument,
}

KINDS: Final = tuple(_MAKERS)
"""What `--with` takes."""
