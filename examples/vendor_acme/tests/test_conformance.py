"""What every pass, checker, assigner, trace rule and op promises: a line for each."""

from __future__ import annotations

import acme_ge
from acme_ge.casts import DropNoOpCast
from acme_ge.first_fit import FirstFit

from ge_core.testing import (
    assigner_conformance,
    checker_conformance,
    pass_conformance,
    trace_rule_conformance,
)

test_drop_no_op_cast = pass_conformance(DropNoOpCast)
test_drop_one_cast = pass_conformance(
    DropNoOpCast,
    options={"acme.DropNoOpCast.limit": "1"},
    samples=6,
    idempotent="each run may remove one more",
)
test_banks = checker_conformance(acme_ge, attrs={"acme.bank": (1, 2)})
test_first_fit = assigner_conformance(FirstFit)
test_windows = trace_rule_conformance(acme_ge)
