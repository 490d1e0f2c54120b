"""Executes a compiled graph inside its planned arena."""
