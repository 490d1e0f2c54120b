"""What third parties may rely on, as checked-in lists: a change of it shows in review.

    python -m scripts.api_snapshot            # say what is not as it was
    python -m scripts.api_snapshot --write    # take over what is there now

One file per subject below tests/api/public, one line per name, sorted. docs/stability.md says what
may change in them and how.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from scripts.api_lines import module_lines, signature

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "api" / "public"
MODULES: Final = ("ge_core.api", "ge_core.testing", "ge_core")


def python_names() -> Iterator[str]:
    """What the public modules list."""
    shown: dict[int, str] = {}
    for module in MODULES:
        yield from module_lines(importlib.import_module(module), shown)


def hooks() -> Iterator[str]:
    """The hooks, and the groups that entry points stand in."""
    from ge_core.plugin import drivers, index, specs

    for name, value in vars(specs).items():
        if hasattr(value, "ge_core_spec"):
            yield f"{name}{signature(value)}"
    groups = (index.GROUP, drivers.FRONTENDS, drivers.BACKENDS, drivers.EXECUTORS)
    yield from (f"entry points: {group}" for group in (*groups, "ge_core.commands.v1"))


def commands() -> Iterator[str]:
    """Commands with their arguments and flags, and exit codes."""
    import click

    from ge_core.cli.main import COMMANDS, ge

    with click.Context(ge, info_name="ge") as context:
        yield from _parameters("ge", ge)
        for name in COMMANDS:
            command = ge.get_command(context, name)
            assert command is not None
            yield from _command(f"ge {name}", command)
    from ge_core.cli.reference import EXIT_CODES

    yield from (f"exit code {code}: {meaning}" for code, meaning in EXIT_CODES.items())


def _command(words: str, command: Any) -> Iterator[str]:
    yield words
    yield from _parameters(words, command)
    for name, inner in getattr(command, "commands", {}).items():
        yield from _command(f"{words} {name}", inner)


def _parameters(words: str, command: Any) -> Iterator[str]:
    for parameter in command.params:
        facts = parameter.to_info_dict()
        kind = facts["type"]["name"] or facts["type"]["param_type"]
        if "choices" in facts["type"]:
            kind = "|".join(map(str, facts["type"]["choices"]))
        notes = [
            note
            for note, holds in (
                ("flag", facts.get("is_flag")),
                ("repeated", facts["multiple"] or facts["nargs"] == -1),
                ("required", facts["required"]),
            )
            if holds
        ]
        if facts["param_type_name"] == "argument":
            yield " ".join([words, parameter.human_readable_name, *_brackets(notes)])
            continue
        if not facts.get("is_flag"):
            notes.insert(0, kind)
        flags = [*facts["opts"], *facts["secondary_opts"]]
        yield " ".join([words, "/".join(sorted(flags, key=len)), *_brackets(notes)])


def _brackets(notes: list[str]) -> list[str]:
    return [f"[{', '.join(notes)}]"] if notes else []


def documents() -> Iterator[str]:
    """Fields of the JSON documents and of files."""
    from scripts.document_fields import all_fields

    for document, fields in all_fields().items():
        yield from (f"{document} {path} {there}" for path, there in fields.items())


@cache
def _registries() -> Any:
    """What the kernel and its own plugins register."""
    from ge_core.config import ProjectConfig
    from ge_core.plugin.loading import load_plugins

    return load_plugins(config=ProjectConfig(), environ={"GE_DISABLE_PLUGINS": "*"}).registries


def registered() -> Iterator[str]:
    """Names in registries that users and plugins write: passes with their options, ..."""
    from ge_core.passes.levels import Level
    from ge_core.passes.pass_options import describe_options
    from ge_core.passes.stages import Stage

    registries = _registries()
    for declaration in registries.passes:
        yield f"pass {declaration.name} in {declaration.place}"
        for option in describe_options(declaration):
            yield f"pass option {declaration.name}.{option.name}: {option.type}"
    yield from (f"option {option.name}: {option.type}" for option in registries.options)
    yield from (f"level {level}" for level in (*Level, *registries.pipelines.levels.names()))
    yield from (f"stage {stage.value}" for stage in Stage)
    named = {
        "anchor type": registries.anchor_types,
        "assigner": registries.assigners,
        "delete rule": registries.delete_rules,
        "pipeline": registries.pipelines,
        "target": registries.targets,
    }
    for kind, registry in named.items():
        yield from (f"{kind} {name}" for name in registry.names())
    kinds = {**named, "pass": registries.passes, "option": registries.options}
    for kind, registry in {**kinds, "level": registries.pipelines.levels}.items():
        yield from (f"{kind} {r.old}, old name of {r.new}" for r in registry.renames())


def reason_codes() -> Iterator[str]:
    """Reason codes, who gives them, and what case files call the reason."""
    for code in _registries().codes().all():
        notes = [f"rule {code.rule}"] if code.rule else []
        notes += [f"retired in {code.retired}"] if code.retired else []
        yield ", ".join([f"{code.name} of {code.giver}", *notes])
    from ge_core.passes.closing import KERNEL_CODES

    yield from (f"{code.name} of {code.owner.name or 'ge_core'}" for code in KERNEL_CODES)


def error_codes() -> Iterator[str]:
    """Error classes with their codes and exit codes."""
    from ge_core import errors

    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.GeError):
            yield f"{value.code} {value.__name__}, exit code {value.exit_code}"


SUBJECTS: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "python": python_names,
    "hooks": hooks,
    "commands": commands,
    "documents": documents,
    "registered": registered,
    "reason-codes": reason_codes,
    "errors": error_codes,
}
"""File name to what makes its lines."""


def lines_of(subject: str) -> list[str]:
    """The lines as they are now."""
    return sorted(set(SUBJECTS[subject]()))


def recorded(subject: str) -> list[str]:
    """The lines as they were checked in."""
    path = FOLDER / f"{subject}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


@dataclass(frozen=True)
class Difference:
    """How a list is not as it was: lines that went, and lines that came."""

    subject: str
    gone: tuple[str, ...]
    new: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.gone or self.new)

    def __str__(self) -> str:
        parts = []
        now = {_name(line): line for line in self.new}
        changed = [line for line in self.gone if _name(line) in now]
        gone = [line for line in self.gone if line not in changed]
        names = [_name(line) for line in changed]
        new = [line for line in self.new if _name(line) not in names]
        if gone:
            parts += [f"gone ({self.subject}):", *(f"  - {line}" for line in gone)]
        if changed:
            parts.append(f"changed ({self.subject}):")
            parts += [f"  - {line}\n  + {now[_name(line)]}" for line in changed]
        if new:
            parts += [f"new ({self.subject}):", *(f"  + {line}" for line in new)]
        if self.gone:
            parts.append(
                "others use this: what is removed or renamed is kept for two releases and retired"
                " with a warning, and arguments may only be added with a default"
                " (docs/stability.md); if it is so, or was never released:"
            )
        parts.append("run `python -m scripts.api_snapshot --write`, and say it in the changelog")
        return "\n".join(parts)


def _name(line: str) -> str:
    """What a line is about: the name before its arguments, its value or what it leads to."""
    return re.split(r"\(|: | = | \[| (?:always|optional)$", line, maxsplit=1)[0]


def compare(subject: str, before: Iterable[str], now: Iterable[str]) -> Difference:
    """How the lines of a subject differ from what they were."""
    old, new = set(before), set(now)
    return Difference(subject, tuple(sorted(old - new)), tuple(sorted(new - old)))


def main(arguments: list[str]) -> int:
    """Compare, or write with `--write`; 1 where something differs and nothing was written."""
    differences = [compare(name, recorded(name), lines_of(name)) for name in SUBJECTS]
    found = [difference for difference in differences if difference]
    if "--write" in arguments:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name in SUBJECTS:
            (FOLDER / f"{name}.txt").write_text("\n".join(lines_of(name)) + "\n", encoding="utf-8")
        print(", ".join(f"{d.subject}: {len(d.new)} new, {len(d.gone)} gone" for d in found))
        return 0
    for difference in found:
        print(f"{difference}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
