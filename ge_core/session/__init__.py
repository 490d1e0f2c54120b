"""The Python front door: `load`, `compile`, `Result`."""

from ge_core.session.files import load, save
from ge_core.session.front import compile
from ge_core.session.request import CompileRequest
from ge_core.session.result import Result

__all__ = ["CompileRequest", "Result", "compile", "load", "save"]
