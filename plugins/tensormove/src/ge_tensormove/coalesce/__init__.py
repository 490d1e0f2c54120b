"""Removal of copies by exact accesses, beyond what GE's rules allow."""
