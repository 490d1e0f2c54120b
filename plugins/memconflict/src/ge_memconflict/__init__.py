"""Finds and isolates memory conflicts between readers and writers of one buffer."""
