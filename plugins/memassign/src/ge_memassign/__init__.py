"""Memory assigners, lifetimes and the reuse checker."""
