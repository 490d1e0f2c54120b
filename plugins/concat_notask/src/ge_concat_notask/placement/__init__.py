"""Where the tensors of all joins and splits of a graph lie together, chosen as a whole.

`gather` turns the graph into components of tensors and of *bonds*, each of which would have one
tensor lie in another; `layout` says whether a choice of bonds can be had; `choose` finds the choice
that leaves the fewest bytes to copy; `settle` writes it into the graph.
"""
