"""Memory of the reference run: cells with contents, forks, and who wrote what in which loop."""

from __future__ import annotations

from ge_core.proof.contents import Content

Writer = tuple[object, ...]


class Cell:
    """One memory.

    Attributes:
        number: cells made later have larger ones.
        constant: whether writes act on a private copy instead.
        data: name of the graph input that it is.
        home: the frame and output that it was made for; where a plan gives it a place.
        lasting: name of the variable or graph input that it is: the same in every run's graph.
    """

    __slots__ = ("constant", "content", "data", "home", "lasting", "number")

    def __init__(self, number: int, content: Content) -> None:
        self.number = number
        self.content = content
        self.constant = False
        self.data: str | None = None
        self.home: object = None
        self.lasting: str | None = None


class ActiveLoop:
    """A loop that is being evaluated.

    Attributes:
        since: cells with smaller numbers lie outside.
        written: outside cells that its graphs have written, with their writers in order.
    """

    __slots__ = ("since", "written")

    def __init__(self, since: int) -> None:
        self.since = since
        self.written: dict[Cell, list[Writer]] = {}


class Memory:
    """All cells of one run."""

    def __init__(self) -> None:
        self._count = 0
        self._journals: list[dict[Cell, Content]] = []
        self.loops: list[ActiveLoop] = []

    def cell(self, content: Content) -> Cell:
        """A new cell."""
        self._count += 1
        return Cell(self._count, content)

    def enter_loop(self) -> ActiveLoop:
        """Watch for writes to cells that exist now."""
        loop = ActiveLoop(self._count)
        self.loops.append(loop)
        return loop

    def set(self, cell: Cell, content: Content, writer: Writer | None = None) -> None:
        """Change what a cell holds."""
        if self._journals:
            self._journals[-1].setdefault(cell, cell.content)
        cell.content = content
        if writer is None:
            return
        for loop in self.loops:
            if cell.number <= loop.since:
                writers = loop.written.setdefault(cell, [])
                if writer not in writers:
                    writers.append(writer)

    def fork(self) -> None:
        """Remember changes from here on."""
        self._journals.append({})

    def rollback(self) -> dict[Cell, Content]:
        """Undo the changes since the last fork; the answer says what the cells held before it."""
        journal = self._journals.pop()
        changed = {cell: cell.content for cell in journal}
        for cell, old in journal.items():
            cell.content = old
        return changed
