"""The options that the kernel declares: GE's own that matter to copies and memory, and ours.

What GE accepts of malformed values is behind `ge.strictOptions=false`; here they are errors. How a
tolerant reader takes them is the business of who reads the option.
"""

from __future__ import annotations

import re

from ge_core.lending import labelled_pair
from ge_core.passes.levels import Level
from ge_core.passes.options import OptionRegistry
from ge_core.passes.visibility import Visibility

_PAIR = re.compile(r"[0-9]{1,18},[0-9]{1,18}")
_NUMBER = re.compile(r"[0-9]{1,18}")


def _check_indexes(value: str) -> str | None:
    """A comma list of indexes, or nothing."""
    if all(_NUMBER.fullmatch(part) for part in value.split(",")) or not value:
        return None
    return "the value must be a comma list of indexes, such as 0,2"


def _check_pairs(value: str) -> str | None:
    """Pairs `input,output` between bars, or nothing."""
    parts = value.split("|") if value else []
    if all(_PAIR.fullmatch(part) or labelled_pair(part) for part in parts):
        return None
    return "the value must be pairs input,output between bars, such as 0,0|1,1 or in:0,out:1"


def _check_op_list(value: str) -> str | None:
    """GE drops lists that are longer than this with an error in its log."""
    if len(value) > 2000 or len(value.split(",")) > 10:
        return "the value must be a comma list of at most 10 ops and 2000 characters"
    return None


def register_builtin_options(options: OptionRegistry) -> None:
    """Declare the kernel's options."""
    _register_control(options)
    _register_internal(options)
    _register_graph(options)
    _register_memory(options)


def _register_control(options: OptionRegistry) -> None:
    options.add(
        "ge.oo.level",
        type="level",
        default="O3",
        help="The optimisation level: O0 to O4, or a level set of a plugin.",
        category="passes",
        show_names={"atc": "oo_level"},
    )
    options.add(
        "ge.optimizationSwitch",  # checked where the passes are known
        help="Passes switched on or off by name: A:on;B:off.",
        category="passes",
        tolerant=True,
    )
    options.add(
        "ge.fusionSwitchFile",
        help="A file that switches passes: GE's JSON form, or lines Pass:on.",
        category="passes",
        show_names={"atc": "fusion_switch_file"},
    )
    options.add(
        "ge.disableOptimizations",
        help="A comma list of passes to switch off.",
        category="passes",
        tolerant=True,
    )
    options.add(
        "ge.strictOptions",
        type="choice",
        choices=("true", "false"),
        default="true",
        help="Whether malformed option values are errors, or read as tolerantly as GE reads them.",
        category="passes",
        visibility=Visibility.EXPERT,
    )


def _register_internal(options: OptionRegistry) -> None:
    """Switches between GE and its engines, which it shows nobody; they have values all the same."""
    for name in (
        "hostcpu_engine_update_pass",
        "tf_op_fussion",  # GE's spelling
        "aicpu_ops_parallel",
        "fe_compile_o1_opt",
    ):
        _register_engine_switch(options, name, {"O0": "false", "O2": "true"})
    _register_engine_switch(options, "fe_compile_o3_opt", {"O0": "", "O3": "true"})


def _register_engine_switch(options: OptionRegistry, name: str, default: dict[str, str]) -> None:
    options.add(
        name,
        default=default,
        help="Between GE and its engines.",
        category="feature",
        visibility=Visibility.HIDDEN,
    )


def _register_graph(options: OptionRegistry) -> None:
    for name, shown, help_text in (
        (
            "ge.oo.constantFolding",
            "oo_constant_folding",
            "Compute what depends on constants only.",
        ),
        (
            "ge.oo.deadCodeElimination",
            "oo_dead_code_elimination",
            "Remove branches that can't be taken.",
        ),
    ):
        options.add(
            name,
            type="switch",
            default="true",
            levels=Level.O1.and_above(),
            help=help_text,
            category="passes",
            show_names={"atc": shown},
        )
    options.add(
        "ge.topoSortingMode",
        type="choice",
        choices=("", "0", "1", "2", "3"),
        default={"O1": "3", "O3": ""},
        levels=Level.O1.and_above(),
        help="How nodes are listed: 0 breadth first, 1 depth first, 2 reverse depth first, "
        "3 stable reverse depth first.",
        category="order",
        visibility=Visibility.EXPERT,
        show_names={"atc": "topo_sorting_mode"},
    )
    options.add(
        "ge.autoMultistreamParallelMode",
        default="",
        levels=Level.O3.and_above(),
        help="How a device spreads a graph over streams.",
        category="order",
        visibility=Visibility.EXPERT,
        show_names={"atc": "multi_stream_parallel_mode"},
    )
    options.add(
        "ge.exportCompileStat",
        type="choice",
        choices=("0", "1", "2"),
        default="1",
        levels=Level.O3.and_above(),
        help="Which statistics of the compile GE exports: 0 none.",
        category="debug",
        visibility=Visibility.EXPERT,
        show_names={"atc": "export_compile_stat"},
    )
    options.add(
        "ge.buildGraphMode",
        type="choice",
        choices=("", "online", "offline"),
        help="Whether the graph is built to be run elsewhere (offline).",
        category="build",
        visibility=Visibility.EXPERT,
    )
    options.add(
        "ge.exec.placement",
        type="choice",
        choices=("", "HOST", "DEVICE"),
        default="HOST",
        help="Where the compiled graph is executed; on a DEVICE no outputs are marked as such that "
        "may lie where an input lies.",
        category="build",
        visibility=Visibility.EXPERT,
    )
    options.add(
        "ge.resourceConfigPath",
        help="A file with the devices of a heterogeneous system; set, not every address of a graph"
        " input can be bound late.",
        category="build",
        visibility=Visibility.EXPERT,
    )
    options.add(
        "ge.featureBaseRefreshable",
        type="flag",
        help="1: the base address of the arena may change between runs.",
        category="memory",
        visibility=Visibility.EXPERT,
    )


def _register_memory(options: OptionRegistry) -> None:
    options.add(
        "ge.exec.inputReuseMemIndexes",
        checker=_check_indexes,
        help="Graph inputs whose bytes may be reused after their last reader: 0,2.",
        category="memory",
        tolerant=True,
    )
    options.add(
        "ge.exec.outputReuseMemIndexes",
        checker=_check_indexes,
        help="Graph outputs whose bytes may hold temporaries before they are written: 0,1.",
        category="memory",
        tolerant=True,
    )
    options.add(
        "ge.exec.outputReuseInputMemIndexes",
        checker=_check_pairs,
        help="Graph inputs and outputs that the caller gives one address: input,output|...",
        category="memory",
        tolerant=True,
    )
    options.add(
        "ge.exec.disableReuseMemory",
        type="flag",
        default="0",
        help="1: no two tensors share bytes.",
        category="memory",
    )
    options.add(
        "OP_NO_REUSE_MEM",
        checker=_check_op_list,
        help="A comma list of node names or op types whose outputs and scratch are not shared.",
        category="memory",
        visibility=Visibility.EXPERT,
        tolerant=True,
    )
    options.add(
        "ge.exec.memoryOptimizationPolicy",
        type="choice",
        choices=("", "MemoryPriority"),
        help="MemoryPriority: try more strategies for a smaller arena.",
        category="memory",
    )
    options.add(
        "ge.exec.staticMemoryPolicy",
        type="choice",
        choices=("", "0", "1", "2", "3", "4"),
        help="How a device holds static memory; 4 makes stream switches address physical memory.",
        category="memory",
        visibility=Visibility.EXPERT,
    )
    options.add(
        "ge.exec.graphIOMemAllocMode",
        type="choice",
        choices=("", "ByApp", "ByGE"),
        help="ByGE: large graph inputs and outputs are not the caller's own memory.",
        category="memory",
        visibility=Visibility.EXPERT,
    )
    options.add(
        "ge.exec.input_fusion_size",
        type="integer",
        help="Bytes up to which graph inputs are gathered into one transfer.",
        category="memory",
        visibility=Visibility.EXPERT,
    )
    options.add(
        "ge.exec.reuseZeroCopyMemory",
        type="flag",
        help="1: memory of the caller's may be shared between tensors.",
        category="memory",
        visibility=Visibility.EXPERT,
    )
    options.add(
        "ge.exec.atomicCleanPolicy",
        type="flag",
        help="0: atomic outputs are cleared together, 1: each by itself.",
        category="memory",
        visibility=Visibility.EXPERT,
    )
