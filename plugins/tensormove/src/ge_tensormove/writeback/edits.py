"""The edits: copies out, updates in place, write-backs out or ahead, old values saved."""

from __future__ import annotations

from ge_core.api import InputAnchor, Node, OutputAnchor, crosses_streams
from ge_tensormove.writeback.chain import Chain, Link
from ge_tensormove.writeback.scene import Scene


def apply(scene: Scene, chain: Chain) -> None:
    """Work in place where a chain's links have been merged; raises `GraphError`."""
    links = chain.links
    if not chain.is_closed:
        store_ahead(scene, chain, links[0])
        links = links[1:]
    for link in links:
        if link.is_copy:
            bypass(scene, link.node, 0)
        else:
            work_in_place(link)
    bypass(scene, chain.store, 1)


def bypass(scene: Scene, node: Node, at: int) -> None:
    """Take a node out; its readers read what feeds one of its inputs."""
    assert node.graph is not None
    node.graph.bypass(node, input=at)
    scene.bypassed(node, at)


def work_in_place(link: Link) -> None:
    """Say of an op that its output is the memory of an input, which it updates."""
    node, graph = link.node, link.node.graph
    assert graph is not None
    graph.set_attr(node, "reference", True)
    desc = link.output.desc.replace(reuse_input=link.input.index)
    graph.set_desc(link.output, desc)


def place_ahead(scene: Scene, chain: Chain) -> OutputAnchor | None:
    """The target's memory, as it may be named where the first copy is made; None: not at all."""
    copy, timeline = chain.links[0], scene.known.timeline
    feed = copy.input.source
    assert feed is not None
    for place in chain.places:
        if place.node.graph is not copy.node.graph or place.desc.dtype != feed.desc.dtype:
            continue
        if timeline.place(place.node) < timeline.place(copy.node):
            return place
    return None


def store_ahead(scene: Scene, chain: Chain, copy: Link) -> None:
    """Have a store in the place of a copy: what was copied is put where the result belongs."""
    store, node, graph = chain.store, copy.node, copy.node.graph
    place = place_ahead(scene, chain)
    assert graph is not None and place is not None
    ahead = graph.add_node(
        store.op,
        graph.fresh_name(f"{node.name}_{store.name}"),
        [place, copy.input.source],
        [copy.output.desc.replace(reuse_input=0, attrs={})],
        attrs={key: value for key, value in node.attrs.items() if key == "stream_id"},
        control_inputs=node.control_inputs,
        origin=(),
        input_names=store.input_names,
        output_names=store.output_names,
        before=node,
    )
    for reader in tuple(copy.output.readers):
        graph.rewire(reader, ahead.outputs[0])
    for after in tuple(node.control_outputs):
        graph.add_control(ahead, after)
    graph.remove(node)
    scene.replaced(node, ahead)


def save(source: OutputAnchor, readers: list[InputAnchor], before: Node) -> Node:
    """Have some readers read a copy of an output, made right before a node that changes it."""
    graph = before.graph
    assert graph is not None
    saved = graph.add_node(
        "TensorMove",
        graph.fresh_name(f"{source.node.name}_saved"),
        [source],
        [source.desc.replace(reuse_input=None, attrs={})],
        attrs={key: value for key, value in before.attrs.items() if key == "stream_id"},
        origin=(),
        before=before,
    )
    for reader in readers:
        graph.rewire(reader, saved.outputs[0])
    # What the node is known to come behind may have written what is saved.
    known = {saved, source.node, *(reader.node for reader in readers)}
    for earlier in dict.fromkeys((*before.control_inputs, *before.in_nodes)):
        if earlier not in known and crosses_streams(saved, [earlier]):
            graph.add_control(earlier, saved)
    return saved
