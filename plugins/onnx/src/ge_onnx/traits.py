"""What ONNX's ops do with memory.

No ONNX op writes its inputs. What is left to say: which ops may lay their result over an input,
which read only a shape, which draw random numbers, which may read and write rows with gaps on a
target that does so at all. An op is listed as working in place only where
element i of the result depends on element i of that input and on nothing else of it, and both have
one type, so that equal sizes mean equal elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ge_core.api import OpTraits

if TYPE_CHECKING:
    from ge_core.api import OpRegistry

_UNARY: Final = frozenset(
    """
    Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast Ceil Celu Clip Cos Cosh Elu Erf Exp Floor
    Gelu HardSigmoid HardSwish LeakyRelu Log Mish Neg Not PRelu Pow Reciprocal Relu Round Selu
    Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu BitShift
    BatchNormalization CastLike
    """.split()
)
"""Output 0 may lie on input 0."""

_BINARY: Final = frozenset(
    """
    Add And BitwiseAnd BitwiseOr BitwiseXor Div Max Mean Min Mod Mul Or Sub Sum Xor
    """.split()
)
"""Output 0 may lie on either of the first two inputs."""

_SHAPE_ONLY: Final = {
    "CastLike": (1,),
    "EyeLike": (0,),
    "RandomNormalLike": (0,),
    "RandomUniformLike": (0,),
    "Shape": (0,),
    "Size": (0,),
}

_RANDOM: Final = frozenset(
    """
    Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
    """.split()
)

_OTHER: Final = """
    AffineGrid ArgMax ArgMin Attention AveragePool BitCast BlackmanWindow CausalConvWithState
    CenterCropPad Col2Im Compress ConcatFromSequence ConstantOfShape Conv ConvInteger ConvTranspose
    CumProd CumSum DFT DeformConv DepthToSpace DequantizeLinear Det DynamicQuantizeLinear Einsum
    Equal Expand Flatten GRU Gather GatherElements GatherND Gemm GlobalAveragePool GlobalLpPool
    GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HammingWindow HannWindow
    Hardmax ImageDecoder InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization Less
    LessOrEqual LinearAttention LogSoftmax LpNormalization LpPool MatMul MatMulInteger MaxPool
    MaxRoiPool MaxUnpool MeanVarianceNormalization MelWeightMatrix NegativeLogLikelihoodLoss
    NonMaxSuppression NonZero OneHot Optional OptionalGetElement OptionalHasElement Pad
    QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN Range ReduceL1 ReduceL2
    ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare RegexFullMatch Reshape Resize ReverseSequence RoiAlign RotaryEmbedding STFT
    Scatter ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase
    SequenceInsert SequenceLength Softmax SoftmaxCrossEntropyLoss SpaceToDepth SplitToSequence
    Squeeze StringConcat StringNormalizer StringSplit SwiGLU TensorScatter TfIdfVectorizer Tile
    TopK Transpose Trilu Unique Unsqueeze Upsample Where
""".split()

_NO_ARRAYS: Final = frozenset(
    """
    ConcatFromSequence Optional OptionalGetElement OptionalHasElement RegexFullMatch SequenceAt
    SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence
    StringConcat StringNormalizer StringSplit TfIdfVectorizer
    """.split()
)
"""Ops on sequences, optional values and text: what they hold has no rows."""

_ML: Final = """
    ArrayFeatureExtractor Binarizer CastMap CategoryMapper DictVectorizer FeatureVectorizer Imputer
    LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder SVMClassifier
    SVMRegressor Scaler TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor ZipMap
""".split()

_SELECTS: Final = {"Where": ((0, 1), (0, 2)), "Dropout": ((0, 0),)}

_UPDATES: Final = frozenset({"Scatter", "ScatterElements", "ScatterND", "TensorScatter"})
"""Output 0 is input 0 with some elements replaced, or combined with what is scattered there."""


def onnx_traits() -> list[OpTraits]:
    """The traits of every op that ONNX defines, but for those the kernel knows itself."""
    names = {*_UNARY, *_BINARY, *_SHAPE_ONLY, *_RANDOM, *_OTHER}
    found = [
        OpTraits(
            name,
            inplace=_inplace(name),
            shape_only=_SHAPE_ONLY.get(name, ()),
            nondeterministic=name in _RANDOM,
            strided_in=name not in _NO_ARRAYS,
            strided_out=name not in _NO_ARRAYS,
        )
        for name in sorted(names)
    ]
    return found + [OpTraits(f"ai.onnx.ml::{name}") for name in _ML]


def register(ops: OpRegistry) -> None:
    """Add them for graphs from ONNX."""
    for traits in onnx_traits():
        ops.add(traits, "onnx")


def _inplace(name: str) -> tuple[tuple[int, int], ...]:
    if name in _UNARY or name in _UPDATES:
        return ((0, 0),)
    if name in _BINARY:
        return ((0, 0), (0, 1))
    return _SELECTS.get(name, ())
