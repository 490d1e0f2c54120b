"""The Python front door: `load`, `compile`, `Result`, which `ge_core` serves under their names.

Nothing is imported here: listing what is installed needs `ge_core.session.kernel` alone.
"""
