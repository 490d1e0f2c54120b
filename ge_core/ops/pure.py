"""GE ops that only compute: they read their inputs, write fresh outputs, and two runs agree.

They know no more of memory than that, so they may read and write rows with gaps on a target that
does so at all (`Target.strided`).

GE needs no such table, as it takes effects from attributes alone. The proof does: what nobody lists
is taken to be pure too, but then every compile says so. A short list of common types; a plugin's
`ge_register_ops` adds others, and may say more of those that are listed (in-place ability, ...).
"""

from __future__ import annotations

from typing import Final

from ge_core.ops.registry import OpRegistry
from ge_core.ops.traits import OpTraits

ELEMENTWISE: Final = """
Abs Acos Acosh Add AddV2 Asin Asinh Atan Atan2 Atanh BiasAdd BitwiseAnd BitwiseOr BitwiseXor
Ceil ClipByValue Cos Cosh Div DivNoNan Elu Equal Erf Erfc Exp Expm1 Floor FloorDiv FloorMod Gelu
Greater GreaterEqual HardSigmoid HardSwish LeakyRelu Less LessEqual Log Log1p LogicalAnd
LogicalNot LogicalOr Maximum Minimum Mish Mod Mul Neg NotEqual Pow RealDiv Reciprocal Relu Relu6
Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square SquaredDifference Sub
Swish Tan Tanh TruncateDiv ZerosLike OnesLike Muls Adds Axpy Select SelectV2
""".split()

OTHERS: Final = """
AddN ArgMaxD ArgMaxV2 ArgMin AvgPool AvgPoolV2 BNInfer BatchMatMul BatchMatMulV2 BatchNorm
BatchToSpace BatchToSpaceD BroadcastTo BroadcastToD Cast Col2im Conv2D Conv2DBackpropInputD
Conv2DTransposeD Conv3D CumsumD Deconvolution DepthToSpace DepthwiseConv2D DepthwiseConv2DD
Dequantize DynamicGRUV2 DynamicRNN Einsum ExpandDims ExpandD Fill FillD Flatten FlattenV2
FullyConnection FusedInferAttentionScore Gather GatherD GatherElements GatherNd GatherV2
GatherV2D GlobalAveragePool GlobalMaxPool GridSampler2D GroupNorm Im2col InstanceNorm
InstanceNormV2 L2Normalize LRN LayerNorm LayerNormV3 LogSoftmaxV2 MatMul MatMulV2 MaxPool
MaxPoolV3 MaxPoolWithArgmax MirrorPad MirrorPadD OneHot OneHotD PRelu Pad PadD PadV2 PadV3
Permute Pooling Quantize RNN Range RangeD ReduceAll ReduceAllD ReduceAny ReduceAnyD ReduceMax
ReduceMaxD ReduceMean ReduceMeanD ReduceMin ReduceMinD ReduceProd ReduceProdD ReduceSum
ReduceSumD ResizeBilinearV2 ResizeBilinearV2D ResizeNearestNeighborV2 ResizeNearestNeighborV2D
ReverseV2 ReverseV2D RmsNorm ROIAlign SliceDV2 SoftmaxV2 SpaceToBatch SpaceToBatchD SpaceToDepth
Squeeze SqueezeV2 StridedSlice StridedSliceD StridedSliceV2 Tile TileD TopK TopKD TopKV2
TransData TransDataRNN Transpose TransposeD Unpack Unsqueeze UnsqueezeV2 UnsqueezeV3 Upsample
Where
""".split()

VARIABLE_UPDATES: Final = """
ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdSub ScatterNdUpdate
ScatterSub ScatterUpdate
""".split()
"""Ops that replace parts of input 0, where names or marks say that the output is its memory."""

UPDATES: Final = """
InplaceAdd InplaceSub InplaceUpdate ScatterElements ScatterElementsV2 TensorScatterAdd
TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate
""".split()
"""Ops whose output is input 0 with parts replaced: it may lie there, and then the rest stays."""


def register_pure_ops(ops: OpRegistry) -> None:
    """Declare them for graphs from GE."""
    for name in VARIABLE_UPDATES:
        ops.add_default(OpTraits(name), "ge")
    for name in (*ELEMENTWISE, *OTHERS):
        ops.add_default(OpTraits(name, strided_in=True, strided_out=True), "ge")
    for name in UPDATES:
        ops.add_default(OpTraits(name, inplace=((0, 0),), strided_in=True, strided_out=True), "ge")
