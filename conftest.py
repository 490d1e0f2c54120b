"""What every test run shares: hypothesis profiles, what waits for `make soak`, and reason codes.

Reason codes are a promise: each declared one must really be given by some test. Every process
notes the codes it sees, and a run of the whole suite fails where one was never given.
"""

import functools
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Two test processes with a thread per core each fight: matrices here are small.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

SOAK = os.environ.get("GE_SOAK") == "1"

# `ci` gives the same examples on every machine; what varies is the order of the tests, whose seed
# is printed: `make test ARGS=--randomly-seed=...` repeats it. `soak` looks for new examples.
settings.register_profile(
    "ci",
    database=None,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    deadline=None,
    max_examples=5000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "soak" if SOAK else "ci"))


@pytest.fixture(autouse=True)
def _nothing_imported_stays(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forget modules that a test wrote into its folder: the next test's may have the same name."""
    if "tmp_path" not in request.fixturenames:
        yield
        return
    folder, path, before = (
        str(request.getfixturevalue("tmp_path")),
        list(sys.path),
        set(sys.modules),
    )
    yield
    sys.path[:] = path
    for name in sorted(set(sys.modules) - before):
        if str(getattr(sys.modules[name], "__file__", None)).startswith(folder):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def _logs_as_found() -> Iterator[None]:
    """Undo what a command run inside a test has set up for logs: the next test's are its own."""
    yield
    structlog: Any = sys.modules.get("structlog")
    if structlog is not None:
        structlog.reset_defaults()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests marked `soak` unless GE_SOAK=1."""
    if SOAK:
        return
    long = [item for item in items if item.get_closest_marker("soak")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("soak")]


# ---- reason codes that were given --------------------------------------------------------------

GIVEN: set[str] = set()
"""Reason codes that remarks and clashes of this process, and of its workers, bore."""


def pytest_configure(config: pytest.Config) -> None:
    """Note the code of every remark and of every clash of two anchors."""
    from ge_core.memory.conflict_query import Clash
    from ge_core.passes.remarks import Remarks

    for cls, method in ((Remarks, "add"), (Clash, "__init__")):
        _note_codes(cls, method)


def _note_codes(cls: type, method: str) -> None:
    plain = getattr(cls, method)

    @functools.wraps(plain)
    def noting(self: Any, *args: Any, **keywords: Any) -> None:
        plain(self, *args, **keywords)
        GIVEN.add(str((args[0] if method == "add" else self).code))

    setattr(cls, method, noting)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker has seen."""
    GIVEN.update(getattr(node, "workeroutput", {}).get("codes", ()))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run of everything in which a declared code was never given."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["codes"] = sorted(GIVEN)
        return
    never = _never_given() if _is_whole(config) and exitstatus == 0 else []
    if never:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(f"reason codes that no test gives: {', '.join(never)}", red=True)


def _is_whole(config: pytest.Config) -> bool:
    narrowed = any(
        config.getoption(name, default=None)
        for name in ("keyword", "markexpr", "deselect", "ignore", "lf", "collectonly")
    )
    return not narrowed and config.args_source is pytest.Config.ArgsSource.TESTPATHS


def _never_given() -> list[str]:
    from ge_core.passes.closing import KERNEL_CODES
    from ge_core.plugin.index import index_plugins
    from ge_core.plugin.loading import load_plugins

    # Without third parties, which may be installed beside.
    index = index_plugins(environ={"GE_DISABLE_PLUGINS": "*"})
    declared = (*KERNEL_CODES, *load_plugins(index).registries.codes().all())
    return sorted({code.name for code in declared if not code.retired} - GIVEN)
