"""From what users wrote in all sources to the settings of one compile: the reading behind `settle`.

Strict and tolerant reading (`ge.strictOptions`) differ in what happens to what GE would leave out,
and in one rule of GE's: a pass's own name as an option overrules `ge.optimizationSwitch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ge_core.errors import GeError, OptionError, UsageError, hint_lines
from ge_core.passes.fusion_switch import ALL, SwitchFile, read_switch_file
from ge_core.passes.levels import DEFAULT_LEVEL, LevelRegistry, WorkingLevel
from ge_core.passes.misspelled import odd_declarations
from ge_core.passes.options import OptionRegistry, OptionValue, OptionValues
from ge_core.passes.precedence import Settings, Switches, bound_option
from ge_core.passes.registry import PassRegistry
from ge_core.passes.sources import CONTROL, DISABLE, LEVEL, STRICT, SWITCH, SWITCH_FILE, Source
from ge_core.passes.switches import GE_DISABLES, NameReader, Switch, is_marker


class Settling:
    """Reads the sources of one compile, strongest first."""

    def __init__(
        self,
        sources: Sequence[Source],
        options: OptionRegistry,
        passes: PassRegistry,
        levels: LevelRegistry,
        other_levels: Sequence[str],
    ) -> None:
        self.sources = sources
        self.options = options
        self.passes = passes
        self.levels = levels
        self.other_levels = tuple(other_levels)
        self.names = NameReader(options, passes)
        self.warnings = self.names.warnings
        self.values: dict[str, OptionValue] = {}
        self.pass_options: dict[str, dict[str, OptionValue]] = {}
        strict = self._first(STRICT)
        if strict is not None:
            options.check(STRICT, strict.options[STRICT], strict.given(STRICT))
        self.strict = strict is None or strict.options[STRICT] != "false"

    def settle(self) -> Settings:
        """The settings; raises as `precedence.settle` does."""
        level = self._level()
        file_source = self._first(SWITCH_FILE)
        switches = []
        for source in self.sources:
            said = _SourceReader(self, source).read()
            if source is file_source:
                said = self._with_file(said, source)
            switches.append(said)
        for option in self.options:
            if option.name not in self.values:
                default = option.default_at(level)
                if default is not None:
                    self.values[option.name] = OptionValue(default, f"level {level.name}")
        values = OptionValues(self.options, self.values, self.strict)
        values.asked.update(CONTROL)
        if not self.strict:
            self._warn_undeclared()
        self.warnings.extend(map(str, odd_declarations(self.passes, self.options, self.levels)))
        warnings = tuple(dict.fromkeys(self.warnings))
        return Settings(level, values, self.pass_options, warnings, tuple(switches))

    def _first(self, name: str) -> Source | None:
        return next((source for source in self.sources if name in source.options), None)

    def _level(self) -> WorkingLevel:
        source = self._first(LEVEL)
        if source is None:
            return self.levels.working(DEFAULT_LEVEL)
        given = source.options[LEVEL]
        name, warning = self.levels.current(given)
        if warning is not None:
            self.warnings.append(warning)
        try:
            return self.levels.working(name, self.other_levels)
        except OptionError as error:
            raise OptionError(
                error.message,
                parameter=LEVEL,
                value=given,
                reason=error.reason,
                near=error.near,
                hint=hint_lines(f"given by: {source.given(LEVEL)}", error.hint),
            ) from None

    def _warn_undeclared(self) -> None:
        """GE's query fails for a pass none of whose options is registered, and the pass is off."""
        for declaration in self.passes:
            if declaration.switch and not any(
                bound_option(name, declaration, self.options) for name in declaration.switch
            ):
                names = " and ".join(declaration.switch)
                self.warnings.append(
                    f"pass {declaration.name} ({declaration.owner}) is off: nobody declares {names}"
                )

    # ---- the fusion-switch file ----------------------------------------------------------------

    def _with_file(self, said: Switches, source: Source) -> Switches:
        given = source.options[SWITCH_FILE]
        if not given:
            return said
        path = Path(given) if source.folder is None else source.folder / given
        file = read_switch_file(path, given, strict=self.strict)
        self.warnings.extend(f"{given}: {what}; ignored" for what in file.unread)
        file = self._named(file, f"given by: {source.given(SWITCH_FILE)}")
        for declaration in self.passes if file.all is False else ():
            silent = declaration.name not in file.switches
            if silent and declaration.required and not declaration.owner.builtin:
                self.warnings.append(
                    f"{given}: {ALL}:off does not reach {declaration.name}, which is required"
                )
        return replace(said, file=file, file_first=is_marker(source.options.get(SWITCH, "")))

    def _named(self, file: SwitchFile, hint: str) -> SwitchFile:
        """The file with present names; unknown ones are errors, or left out with a warning."""
        known: dict[str, str] = {}
        for name in dict.fromkeys((*file.switches, *file.exceptions)):
            found = self.names.pass_name(name)
            if found is not None:
                known[name] = found
                continue
            error = self.names.no_pass(name)
            if self.strict:
                raise file.error(name, error.message, error.near, hint_lines(hint, error.hint))
            self.warnings.append(f"{file.path}: {error.message}; ignored")
        return replace(
            file,
            switches={known[name]: on for name, on in file.switches.items() if name in known},
            exceptions=tuple(known[name] for name in file.exceptions if name in known),
        )


class _SourceReader:
    """Reads one source into the settings."""

    def __init__(self, settling: Settling, source: Source) -> None:
        self.all = settling
        self.names = settling.names
        self.source = source
        self.strict = settling.strict
        self.on: dict[str, str] = {}
        self.off: dict[str, str] = {}
        self.as_written: dict[str, str] = {}

    def read(self) -> Switches:
        own: list[tuple[str, str, str]] = []
        for name, value in self.source.options.items():
            option = self.names.option_name(name)
            if option is not None:
                self._option(option, name, value)
                continue
            found = self.names.pass_name(name)
            if found is not None:
                self._once(found, name, "pass")
                own.append((found, name, value))
            else:
                self._pass_option(name, value)
        # After the switch text, which they overrule in GE.
        for found, name, value in own:
            self._own_name(found, name, value)
        if DISABLE in self.source.options:
            self._disabled(self.source.options[DISABLE])
        for name in self.source.enable:
            said = self.source.changes.get(f"enable {name}", f"enable {name}")
            self.on.setdefault(self._pass("enable", name), said)
        for name in self.source.disable:
            said = self.source.changes.get(f"disable {name}", f"disable {name}")
            self.off.setdefault(self._pass("disable", name), said)
        return Switches(self.source, self.on, self.off)

    def _warn(self, what: str) -> None:
        self.all.warnings.append(what)

    def _once(self, name: str, written: str, kind: str) -> None:
        """An old and a new name in one source mean the same: which of both counts is unsaid."""
        other = self.as_written.setdefault(name, written)
        if other != written:
            raise UsageError(
                f"{kind} {name!r} is given twice, as {other!r} and as {written!r}",
                hint=f"given by: {self.source.given(other)}, {self.source.given(written)}",
            )

    # ---- options -------------------------------------------------------------------------------

    def _option(self, name: str, written: str, value: str) -> None:
        self._once(name, written, "option")
        option = self.all.options.get(name)
        if self.strict or not option.tolerant:
            self.all.options.check(name, value, self.source.given(written))
        given = OptionValue(value, self.source.shown, self.source.rank)
        self.all.values.setdefault(name, given)
        if name == SWITCH:
            self._switch_text(value)

    def _pass_option(self, name: str, value: str) -> None:
        written, _, field_name = name.rpartition(".")
        found = self.names.pass_name(written)
        if found is None:
            self._no_option(name)
            return
        self._once(f"{found}.{field_name}", name, "option")
        how = self.source.given(name)
        given = OptionValue(value, self.source.shown, self.source.rank, how)
        self.all.pass_options.setdefault(found, {}).setdefault(field_name, given)

    def _no_option(self, name: str) -> None:
        error = self.names.no_option(name)
        if not self.strict:
            # GE looks only at keys that it knows.
            self._warn(f"{self.source.given(name)}: {error.message}; ignored")
            return
        error.hint = hint_lines(f"given by: {self.source.given(name)}", error.hint)
        raise error

    # ---- switches ------------------------------------------------------------------------------

    def _switch_text(self, text: str) -> None:
        for switch in self.names.switches(text):
            if switch.on is None:
                self._refuse(SWITCH, text, switch)
                continue
            target, other = (self.on, self.off) if switch.on else (self.off, self.on)
            if switch.name in target or switch.name in other:
                says = "on and off" if switch.name in other else "twice"
                problem = f"{switch.name!r} is switched {says}"
                if self.strict:
                    self._refuse(SWITCH, text, replace(switch, problem=problem))
                self._warn(f"{SWITCH}: {problem}; the last one counts")
                other.pop(switch.name, None)
            target[switch.name] = f"{SWITCH}={switch.token}"

    def _refuse(self, option: str, text: str, switch: Switch) -> None:
        """An error, or a warning where the reading is tolerant."""
        assert switch.problem is not None
        if not self.strict:
            self._warn(f"{option}: {switch.problem}; ignored")
            return
        raise OptionError.invalid(
            option,
            text,
            switch.problem,
            near=switch.near,
            hint=hint_lines(f"given by: {self.source.given(option)}", switch.hint),
        )

    def _own_name(self, name: str, written: str, value: str) -> None:
        declaration = self.all.passes.get(name)
        on = value in ("on", "true")
        if not self.strict:
            if declaration.switch:
                # In GE such a pass has no option of its own name.
                bound = declaration.switch[0]
                self._warn(f"{written}={value}: the pass is bound to {bound}; ignored")
                return
            on = on or value == ""
            self.on.pop(name, None)
            self.off.pop(name, None)
        if value not in ("on", "true", "off", "false"):
            if self.strict:
                raise OptionError.invalid(
                    written,
                    value,
                    "the value must be on or off",
                    kind="pass",
                    owner=str(declaration.owner),
                    hint=f"given by: {self.source.given(written)}",
                )
            self._warn(f"{written}={value}: neither on nor off; read as {'on' if on else 'off'}")
        (self.on if on else self.off)[name] = f"{written}={value}"

    def _disabled(self, text: str) -> None:
        if not self.strict:
            self._disabled_as_in_ge(text)
            return
        seen: set[str] = set()
        for switch in self.names.disabled(text):
            if switch.name in seen and switch.problem is None:
                switch = replace(switch, on=None, problem=f"{switch.name!r} stands there twice")
            if switch.problem is not None:
                self._refuse(DISABLE, text, switch)
            seen.add(switch.name)
            self.off[switch.name] = f"{DISABLE}={switch.token}"

    def _disabled_as_in_ge(self, text: str) -> None:
        """GE trims the list, not its members, and lets three passes be disabled so."""
        for switch in self.names.disabled(text.strip()):
            if not switch.token:
                continue
            if switch.token not in GE_DISABLES:
                self._warn(f"{DISABLE}: {switch.token!r} can't be disabled this way; ignored")
            elif switch.problem is not None:
                self._warn(f"{DISABLE}: {switch.problem}; ignored")
            else:
                self.off[switch.name] = f"{DISABLE}={switch.token}"

    def _pass(self, verb: str, name: str) -> str:
        found = self.names.pass_name(name)
        if found is None:
            error: GeError = self.names.no_pass(name)
            error.hint = hint_lines(f"given by: {self.source.given_switch(verb, name)}", error.hint)
            raise error
        return found
