"""From a graph to a model file."""
