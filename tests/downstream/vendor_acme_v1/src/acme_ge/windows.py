"""AcmeWindow: hands its input's memory on, as long as the window is open.

Whoever asks where a value was made may look through an open window. A closed one (attribute
`acme.closed`) shares its memory with the device's own engines: what it was fed with says nothing
about who else uses it, so a trace has to end there.
"""

from __future__ import annotations

CLOSED = "acme.closed"


def step_over_window(anchor, trace):
    """From a window's output, go on with what feeds the window, or stop at a closed one."""
    if anchor.node.attrs.get(CLOSED):
        return trace.stop(f"window {anchor.node.name} is closed")
    return trace.through(anchor.node.inputs[0])
