"""Project configuration: `[tool.ge]` of the nearest pyproject.toml, or ge.toml, going upwards.

    [tool.ge]
    level = "O3"
    plugins = ["acme", "mine = my_passes"]   # the only third parties; `name = module` is local
    prefer = { acme = "acme-casts" }         # whose, where two packages claim one plugin name
    enable = ["acme.DropNoOpCast"]

    [tool.ge.set]
    "ge.exec.inputReuseMemIndexes" = "0"
    acme.DropNoOpCast.limit = 100        # the same as "acme.DropNoOpCast.limit"

pydantic reads the table and is imported only where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from ge_core import deprecation
from ge_core.errors import InputFileError, UnknownNameError, near_matches
from ge_core.toml_lines import index_lines, joined_names, line_of, parse, read_text

FILES = ("ge.toml", "pyproject.toml")
"""Looked for in this order in each folder; in ge.toml the whole file is the table."""


@dataclass(frozen=True)
class ProjectConfig:
    """What a project sets for everyone who works in it; keys may be written with dashes.

    Attributes:
        level, target, pipeline, assigner, objective: what the options of that name say.
        plugins: the only third-party plugins to load, `name = module` for local modules; None: all.
        prefer: plugin name -> distribution, where several claim the name.
        strict_plugins: a plugin that fails to load is an error.
        enable, disable: passes by name.
        op_traits: TOML files with traits of ops that no plugin declares, from the file's folder.
        settings: (`set`) options.
        file: where it was read from; None where there is no configuration.
        warnings: of keys by their old names.
    """

    level: str | None = None
    target: str | None = None
    pipeline: str | None = None
    assigner: str | None = None
    objective: Literal["copies", "peak"] | None = None
    plugins: tuple[str, ...] | None = None
    prefer: dict[str, str] = field(default_factory=dict)
    strict_plugins: bool = False
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    op_traits: tuple[str, ...] = ()
    settings: dict[str, str | bool | int | float] = field(default_factory=dict)
    file: Path | None = None
    warnings: tuple[str, ...] = ()

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    @property
    def folder(self) -> Path | None:
        """The project's folder."""
        return None if self.file is None else self.file.parent

    def options(self) -> dict[str, str]:
        """`settings` as the texts that options are."""
        return {name: _text(value) for name, value in self.settings.items()}


def _text(value: str | bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def find_config(start: Path | None = None) -> ProjectConfig:
    """The configuration that holds in a folder (the working directory by default).

    Raises:
        InputFileError: a file on the way up is malformed; names file, line and field.
    """
    folder = (Path.cwd() if start is None else start).resolve()
    for place in (folder, *folder.parents):
        for name in FILES:
            path = place / name
            if path.is_file():
                found = read_config(path)
                if found is not None:
                    return found
    return ProjectConfig()


def config_stamps(start: Path) -> list[tuple[str, int, int]]:
    """Path, time and bytes of each file that may configure a folder: equal while none changes."""
    folder = start.resolve()
    stamps = []
    for place in (folder, *folder.parents):
        for name in FILES:
            path = place / name
            with suppress(OSError):
                found = path.stat()
                stamps.append((str(path), found.st_mtime_ns, found.st_size))
    return stamps


def read_config(path: Path) -> ProjectConfig | None:
    """The configuration in a file, None where a pyproject.toml has no `[tool.ge]`.

    Raises:
        InputFileError: the file is malformed; names file, line and field.
    """
    text = read_text(path)
    document = parse(text, str(path))
    prefix: tuple[str, ...] = ()
    table: Any = document
    if path.name == "pyproject.toml":
        prefix = ("tool", "ge")
        tool = document.get("tool", {})
        table = tool.get("ge") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise InputFileError("is not a table", file=str(path), field=".".join(prefix))
    return replace(_validated(table, path, text, prefix), file=path)


_KEYS = {"set": "settings"}


def _validated(
    table: Mapping[str, Any], path: Path, text: str, prefix: Sequence[str]
) -> ProjectConfig:
    from pydantic import TypeAdapter, ValidationError

    ours = ("file", "settings", "warnings")
    known = [name for name in ProjectConfig.__dataclass_fields__ if name not in ours]
    written = [name.replace("_", "-") for name in known] + ["set"]
    index = index_lines(text)
    values: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    warnings: list[str] = []
    for given, value in table.items():
        key = _present_key(given, warnings)
        name = _KEYS.get(key, key.replace("-", "_"))
        if key not in written and key not in known:
            where = line_of(index, (*prefix, given))
            raise InputFileError(
                "is no key of the configuration",
                file=f"{path}:{where}",
                field=key,
                near=near_matches(key, written),
            )
        if name in values:
            where = line_of(index, (*prefix, given))
            raise InputFileError(
                f"is set twice, as {spelled[name]!r} too", file=f"{path}:{where}", field=given
            )
        if name == "settings" and isinstance(value, dict):
            value = joined_names(value, index, (*prefix, given), str(path))
        values[name], spelled[name] = value, given
    try:
        read = TypeAdapter(ProjectConfig).validate_python(values)
        return replace(read, warnings=tuple(warnings))
    except ValidationError as error:
        first: Any = error.errors(include_url=False)[0]
        location = [str(part) for part in first["loc"]]
        keys = [spelled.get(location[0], location[0]), *location[1:]] if location else []
        problem, value, hint = f"{first['msg'][:1].lower()}{first['msg'][1:]}", first["input"], None
        if first["type"] == "tuple_type":
            problem = "input should be a list"
            if isinstance(value, str):
                hint = f"write {keys[0]} = [{_quoted(value)}]"
        elif location[:1] == ["settings"] and len(location) > 1:
            # pydantic adds which of the types it tried.
            problem, keys = "input should be a text, a number or a truth value", keys[:2]
        raise InputFileError(
            f"{problem} (got {value!r})",
            file=f"{path}:{line_of(index, (*prefix, *keys))}",
            field=".".join(keys),
            hint=hint,
        ) from error


def _quoted(text: str) -> str:
    """A text as TOML has it; JSON's escapes are among TOML's."""
    import json

    return json.dumps(text, ensure_ascii=False)


def _present_key(key: str, warnings: list[str]) -> str:
    """What a key is called today. Raises `UnknownNameError` where an old name's time is over."""
    rename = deprecation.CONFIG_KEYS.get(key.replace("_", "-"))
    if rename is None:
        return key
    if rename.expired:
        raise UnknownNameError(rename.gone("key of the configuration", rename.new))
    warnings.append(rename.warning("key of the configuration", rename.new))
    return rename.new
