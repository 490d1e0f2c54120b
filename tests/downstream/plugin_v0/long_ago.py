"""A plugin for the API before version 1: nothing that it imports is there any more."""

from ge_core.extensions import register_pass  # gone before 1.0

register_pass("OldPass")
