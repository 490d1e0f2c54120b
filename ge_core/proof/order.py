"""The order check: two accesses to one byte, one of them a write, have an order.

It walks the program once, keeping per byte the last writes and the reads since. Each new access
must come behind those that it conflicts with; what is behind them is behind everything earlier.
Arms of one If or Case start from the same state and are joined, so that they are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ge_core.proof.clocks import Clocks, Scope, Stamp
from ge_core.proof.footprint import LoopTouches, Touch, arm_end, touches
from ge_core.proof.frames import Steps, run_steps
from ge_core.proof.intervals import IntervalMap
from ge_core.proof.loops import loop_shape
from ge_core.proof.program import Event, Group, Step
from ge_core.proof.regions import Region, Regions
from ge_core.proof.result import Findings


class _Access(NamedTuple):
    stamp: Stamp
    region: Region
    is_write: bool
    path: str
    gear: str
    """Branches for different input sizes (`_batch_label`) never run together."""


_State = tuple[_Access, ...]
"""The last writes to some bytes and the reads since."""
_Pieces = list[tuple[int, int, _State]]


def check_order(program: Group, regions: Regions, findings: Findings) -> list[bool] | None:
    """Check every pair of accesses; a program on one stream has nothing to check.

    Returns:
        For each step with effects but the first, whether it comes behind the one listed before it;
        None where one stream keeps them all in order.
    """
    if len(program.streams()) < 2:
        return None
    walk = _Walk(regions, findings)
    run_steps(walk.group(program, walk.clocks.root))
    return walk.effects


class _Walk:
    def __init__(self, regions: Regions, findings: Findings) -> None:
        self.effects: list[bool] = []
        self._last_effect: Stamp | None = None
        self.clocks = Clocks()
        self._regions = regions
        self._findings = findings
        self._pools: dict[str, IntervalMap[_State]] = {}
        self._forks = 0
        self._reported: set[tuple[str, str]] = set()

    def group(self, group: Group, scope: Scope) -> Steps[None]:
        """Walk a graph on one call path."""
        for item in group.items:
            if isinstance(item, Event):
                if item.is_record:
                    self.clocks.record(item.stream, item.number)
                else:
                    self.clocks.wait(item.stream, item.number)
                continue
            stamp = self.clocks.tick(scope, item.stream)
            kind = item.facts.kind
            if item.facts.has_effect:
                last, self._last_effect = self._last_effect, stamp
                if last is not None:
                    self.effects.append(self.clocks.is_before(last, scope, item.stream))
            if kind == "call":
                yield from self._call(item, scope)
            elif kind in ("if", "case"):
                yield from self._branch(item, scope, stamp)
            elif kind in ("while", "loop", "scan"):
                yield from self._loop(item, scope, stamp)
            else:
                self._touch(item, scope, stamp, touches(item, self._regions))

    # ---- calls ---------------------------------------------------------------------------------

    def _call(self, step: Step, scope: Scope) -> Steps[None]:
        for group in step.groups:
            yield from self._inside(step, scope, group)

    def _inside(self, step: Step, scope: Scope, group: Group) -> Steps[Scope]:
        """Walk a subgraph that runs where the walk has come to."""
        inner = self.clocks.enter(scope, step.stream)
        yield self.group(group, inner)
        self.clocks.join([self.clocks.leave(inner)])
        self.clocks.close(scope, step.stream, [inner])
        return inner

    def _branch(self, step: Step, scope: Scope, stamp: Stamp) -> Steps[None]:
        source = step.node.inputs[0].source
        if source is not None:
            region = self._regions.of(step.frame, source)
            self._touch(step, scope, stamp, [Touch(region, False, "@0")])
        before = self.clocks.save()
        ends, scopes = [], []
        arms: list[dict[str, _Pieces]] = []
        for group in step.groups:
            self.clocks.restore(before)
            self._fork()
            inner = self.clocks.enter(scope, step.stream)
            yield self.group(group, inner)
            end = self.clocks.tick(inner, step.stream)
            self._touch(step, inner, end, arm_end(step, group.frame, self._regions))
            ends.append(self.clocks.leave(inner))
            scopes.append(inner)
            arms.append(self._rollback())
        self._join(arms)
        self.clocks.join(ends or [before])
        self.clocks.close(scope, step.stream, scopes)

    def _loop(self, step: Step, scope: Scope, stamp: Stamp) -> Steps[None]:
        loop = LoopTouches(step, self._regions)
        self._touch(step, scope, stamp, loop.enter())
        shape = loop_shape(step.node, step.facts)
        self._fork()
        after_test = self.clocks.save()
        inner: list[Scope] = []
        for _ in range(2):
            if shape.condition is not None:
                condition = step.group(shape.condition)
                assert condition is not None
                inner.append((yield from self._inside(step, scope, condition)))
                after_test = self.clocks.save()
            body = step.group(shape.body)
            assert body is not None
            head = self.clocks.tick(scope, step.stream)
            self._touch(step, scope, head, loop.head())
            inner.append((yield from self._inside(step, scope, body)))
            end = self.clocks.tick(scope, step.stream)
            self._touch(step, scope, end, loop.turn_end())
            if all(part.is_closed for part in inner):
                # One turn ends before the next begins: the second has nothing new to show.
                break
        self._join([self._rollback(), {}])
        self.clocks.join([after_test, self.clocks.save()])
        # On each stream, what it did inside comes before whatever follows on it.
        self.clocks.close(scope, step.stream, inner)

    # ---- accesses ------------------------------------------------------------------------------

    def _touch(self, step: Step, scope: Scope, stamp: Stamp, found: Iterable[Touch]) -> None:
        gear = str(step.node.attrs.get("_batch_label") or "")
        for touch in sorted(found, key=lambda touch: touch.is_write):
            access = _Access(stamp, touch.region, touch.is_write, step.path, gear)
            self._record(access, scope)

    def _record(self, access: _Access, scope: Scope) -> None:
        region = access.region
        if region.size == 0:
            return
        pool = self._pools.get(region.pool)
        if pool is None:
            pool = self._pools[region.pool] = IntervalMap(())
            for _ in range(self._forks):
                pool.fork()
        seen: set[Stamp] = set()
        for low, high, state in pool.pieces(region.start, region.end):
            for other in state:
                self._compare(other, access, scope, seen)
            pool.assign(low, high, self._after(state, access))

    def _compare(self, other: _Access, access: _Access, scope: Scope, seen: set[Stamp]) -> None:
        if not (other.is_write or access.is_write) or other.stamp in seen:
            return
        if other.stamp == access.stamp or (
            other.gear and access.gear and other.gear != access.gear
        ):
            return
        if not other.region.overlaps(access.region):
            return
        seen.add(other.stamp)
        if self.clocks.is_before(other.stamp, scope, access.stamp.stream):
            return
        pair = (other.path, access.path)
        if pair in self._reported:
            return
        self._reported.add(pair)
        self._findings.add(
            "order",
            access.path,
            range=(
                access.region.pool,
                max(access.region.start, other.region.start),
                min(access.region.end, other.region.end),
            ),
            expected=f"an order between it and {other.path}",
            found="none: no stream and no event puts one before the other",
            written_by=other.path if other.is_write else access.path,
            about=[other.path],
        )

    def _after(self, state: _State, access: _Access) -> _State:
        """The state behind an access: what it is behind need not be kept."""
        dense = not access.region.is_strided
        if access.is_write:
            kept = [
                other
                for other in state
                if not dense or (other.gear and access.gear and other.gear != access.gear)
            ]
        else:
            # A later read on the same stream, where both run or neither does, is behind this one.
            kept = [
                other
                for other in state
                if other.is_write
                or not dense
                or other.stamp[:2] != access.stamp[:2]
                or other.gear != access.gear
            ]
        return (*kept, access)

    # ---- forks ---------------------------------------------------------------------------------

    def _fork(self) -> None:
        self._forks += 1
        for pool in self._pools.values():
            pool.fork()

    def _rollback(self) -> dict[str, _Pieces]:
        self._forks -= 1
        return {
            name: [piece for _, _, pieces in pool.rollback() for piece in pieces]
            for name, pool in self._pools.items()
        }

    def _join(self, arms: list[dict[str, _Pieces]]) -> None:
        """Let each byte remember the accesses of every arm, and those before where one had none."""
        for name in dict.fromkeys(name for arm in arms for name in arm):
            self._join_pool(self._pools[name], [arm.get(name, []) for arm in arms])

    def _join_pool(self, pool: IntervalMap[_State], arms: list[_Pieces]) -> None:
        found: IntervalMap[_State] = IntervalMap(())
        count: IntervalMap[int] = IntervalMap(0)
        top = 0
        for pieces in arms:
            for low, high, state in pieces:
                top = max(top, high)
                for start, end, known in found.pieces(low, high):
                    found.assign(start, end, _union(known, state))
                for start, end, number in count.pieces(low, high):
                    count.assign(start, end, number + 1)
        for low, high, number in count.pieces(0, top):
            if number == 0:
                continue
            for start, end, state in found.pieces(low, high):
                for a, b, old in pool.pieces(start, end):
                    pool.assign(a, b, _union(() if number == len(arms) else old, state))


def _union(one: _State, other: _State) -> _State:
    return tuple(dict.fromkeys((*one, *other)))
