"""Which kernels are ours."""

from __future__ import annotations

from typing import Final

from ge_onnx.kernels import (
    conv,
    functions,
    linear,
    moves,
    norm,
    optionals,
    pool,
    quantized,
    recurrent,
    resize,
)
from ge_onnx.kernels.call import Call, Kernel

KERNELS: Final[dict[str, list[tuple[int, Kernel | None]]]] = {
    "AveragePool": [(1, pool.average_pool)],
    "BatchNormalization": [(1, norm.batch_normalization)],
    "Concat": [(1, moves.concat)],
    "Conv": [(1, conv.conv)],
    "ConvTranspose": [(1, conv.conv_transpose)],
    "DequantizeLinear": [(1, quantized.dequantize), (19, None)],
    "Erf": [(1, functions.erf)],
    "Flatten": [(1, moves.flatten)],
    "GRU": [(1, recurrent.gru)],
    "Gemm": [(7, linear.gemm)],
    "Gelu": [(1, functions.gelu)],
    "GlobalAveragePool": [(1, pool.global_average_pool)],
    "GlobalLpPool": [(1, pool.global_lp_pool)],
    "GroupNormalization": [(18, norm.group_normalization)],
    "Hardmax": [(1, norm.hardmax_flat), (13, None)],
    "Identity": [(1, moves.identity)],
    "LRN": [(1, norm.local_response)],
    "LSTM": [(1, recurrent.lstm)],
    "LogSoftmax": [(1, norm.log_softmax_flat), (13, norm.log_softmax)],
    "MatMul": [(1, linear.mat_mul)],
    "MaxPool": [(1, pool.max_pool)],
    "Optional": [(15, optionals.make)],
    "OptionalGetElement": [(15, optionals.element)],
    "OptionalHasElement": [(15, optionals.has_element)],
    "RNN": [(1, recurrent.rnn)],
    "Resize": [(10, resize.upsample), (11, resize.resize)],
    "Scatter": [(1, quantized.scatter)],
    "Sigmoid": [(1, functions.sigmoid)],
    "Softmax": [(1, norm.softmax_flat), (13, norm.softmax)],
    "Split": [(1, moves.split)],
    "Upsample": [(7, resize.upsample)],
}
"""By op: kernels, each with the first version that it computes; None leaves it to the reference."""


def kernel_for(call: Call) -> Kernel | None:
    """The kernel of a call; None: onnx's reference computes it."""
    if call.domain:
        return None
    found: Kernel | None = None
    for version, kernel in KERNELS.get(call.op, ()):
        if version <= call.version:
            found = kernel
    return found
