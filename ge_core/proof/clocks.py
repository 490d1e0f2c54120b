"""What comes before what: vector clocks over streams, one scope per subgraph instance.

A position is a place on a stream within a scope. A stream's clock says, per scope around it and per
stream, up to which position everything has come before it. Scopes of arms and loop bodies may not
run at all: what their streams learn inside reaches the outside only through the scope's end.
"""

from __future__ import annotations

from typing import NamedTuple

Key = tuple[int, int]
"""Scope and stream."""
Clock = dict[Key, int]
State = dict[int, Clock]
"""A clock per stream."""


class Stamp(NamedTuple):
    """A place on a stream in a scope."""

    scope: int
    stream: int
    position: int


class Scope:
    """A graph instance that is being walked.

    Attributes:
        own: the caller's stream; begin: where the call stands on it.
        is_closed: whether all streams wait for the call at the start and the call for all of them
            at the end; one turn of such a loop then ends before the next begins.
        exits: per stream, places of the outer scope that come behind everything on it.
    """

    __slots__ = ("begin", "exits", "is_closed", "number", "own", "parent", "streams")

    def __init__(self, number: int, parent: Scope | None, own: int, begin: int) -> None:
        self.number = number
        self.parent = parent
        self.own = own
        self.begin = begin
        self.is_closed = True
        self.streams: dict[int, None] = {}
        self.exits: dict[int, dict[int, int]] = {}


class Clocks:
    """The clocks of a walk over a program."""

    def __init__(self) -> None:
        self._now: State = {}
        self._counts: dict[Key, int] = {}
        self._events: dict[int, Clock] = {}
        self._scopes: list[Scope] = []
        self.root = self._scope(None, 0, 0)

    def _scope(self, parent: Scope | None, own: int, begin: int) -> Scope:
        scope = Scope(len(self._scopes), parent, own, begin)
        self._scopes.append(scope)
        return scope

    def tick(self, scope: Scope, stream: int) -> Stamp:
        """The next place on a stream."""
        key = (scope.number, stream)
        position = self._counts[key] = self._counts.get(key, 0) + 1
        clock = self._now.setdefault(stream, {})
        if stream not in scope.streams:
            scope.streams[stream] = None
            if scope.parent is not None and stream != scope.own:
                known = clock.get((scope.parent.number, scope.own), 0)
                scope.is_closed = scope.is_closed and known >= scope.begin
        clock[key] = position
        return Stamp(scope.number, stream, position)

    def record(self, stream: int, event: int) -> None:
        """Remember what a stream knows now."""
        self._events[event] = dict(self._now.get(stream, {}))

    def wait(self, stream: int, event: int) -> None:
        """Let a stream know what the event's stream knew when it was recorded."""
        clock = self._now.setdefault(stream, {})
        for key, position in self._events.get(event, {}).items():
            if clock.get(key, 0) < position:
                clock[key] = position

    def is_before(self, earlier: Stamp, scope: Scope, stream: int) -> bool:
        """Whether a place comes before what happens now on a stream of a scope."""
        around: set[int] = set()
        outer: Scope | None = scope
        while outer is not None:
            around.add(outer.number)
            outer = outer.parent
        at = self._scopes[earlier.scope]
        places = {earlier.stream: earlier.position}
        while at.number not in around:
            lifted: dict[int, int] = {}
            for other in places:
                for way, position in at.exits.get(other, {}).items():
                    lifted[way] = min(position, lifted.get(way, position))
            places = lifted
            if at.parent is None:
                return False
            at = at.parent
        clock = self._now.get(stream, {})
        return any(clock.get((at.number, way), 0) >= place for way, place in places.items())

    # ---- scopes --------------------------------------------------------------------------------

    def save(self) -> State:
        """A copy of all clocks."""
        return {stream: dict(clock) for stream, clock in self._now.items()}

    def restore(self, state: State) -> None:
        """Go back to saved clocks; positions keep counting."""
        self._now = {stream: dict(clock) for stream, clock in state.items()}

    def enter(self, parent: Scope, own: int) -> Scope:
        """A scope called from where a stream stands now."""
        begin = self._now.get(own, {}).get((parent.number, own), 0)
        return self._scope(parent, own, begin)

    def leave(self, scope: Scope) -> State:
        """Close a scope. The answer is what each stream knows of the scopes around it."""
        own = self._now.get(scope.own, {})
        for stream in scope.streams:
            key = (scope.number, stream)
            ends = stream == scope.own or own.get(key, 0) == self._counts[key]
            scope.exits[stream] = {scope.own: -1} if ends else {}
            scope.is_closed = scope.is_closed and ends
        return {
            stream: {key: at for key, at in clock.items() if key[0] != scope.number}
            for stream, clock in self._now.items()
        }

    def join(self, states: list[State]) -> None:
        """Go on knowing only what every one of several ways has taught."""
        streams = dict.fromkeys(stream for state in states for stream in state)
        self._now = {}
        for stream in streams:
            clocks = [state.get(stream, {}) for state in states]
            self._now[stream] = {
                key: min(clock[key] for clock in clocks)
                for key in clocks[0]
                if all(key in clock for clock in clocks)
            }

    def close(self, parent: Scope, own: int, scopes: list[Scope]) -> None:
        """Mark, on each stream, the place behind scopes that have been left."""
        marks: dict[int, int] = {}
        for scope in scopes:
            for stream in (*scope.streams, own):
                if stream not in marks:
                    marks[stream] = self.tick(parent, stream).position
        for scope in scopes:
            for stream, ways in scope.exits.items():
                closed = own in ways
                ways.clear()
                ways[stream] = marks[stream]
                if closed:
                    ways[own] = marks[own]
