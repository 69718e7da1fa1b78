"""Floating-point operations of one call of an ATen operator; a multiply-add counts as two.

Matrix products, convolutions and attention use the formulas of torch.utils.flop_counter. The others
count a number for each element, by the tables below. An operator in no table is unknown, not zero.
"""

import torch

from .charging import ALLOCATES

# One for each element of the output, as for operators with torch.Tag.pointwise.
POINTWISE = ("_foreach_add", "_foreach_mul", "_foreach_div", "_foreach_sub", "_foreach_addcmul",
             "_foreach_addcdiv", "_foreach_sqrt", "_foreach_lerp", "_foreach_neg", "native_dropout",
             "masked_fill", "clamp", "elu_backward", "leaky_relu_backward", "softplus_backward")
# Operations for each element of the first tensor: reductions; a softmax (maximum, subtract,
# exponential, sum, divide); normalisations (mean, variance, centre, scale, weight and bias), about
# twice as many backward.
EACH_INPUT = {
    "sum": 1, "mean": 1, "amax": 1, "amin": 1, "max": 1, "min": 1, "argmax": 1, "argmin": 1,
    "prod": 1, "cumsum": 1, "cumprod": 1, "any": 1, "all": 1, "var": 4, "std": 4,
    "linalg_vector_norm": 2, "_softmax": 5, "_log_softmax": 5, "_softmax_backward_data": 4,
    "_log_softmax_backward_data": 4, "nll_loss_forward": 1, "nll_loss_backward": 1,
    "nll_loss2d_forward": 1, "nll_loss2d_backward": 1, "mse_loss": 3, "mse_loss_backward": 3,
    "glu": 1, "glu_backward": 6, "native_batch_norm": 8, "_native_batch_norm_legit": 8,
    "_native_batch_norm_legit_no_training": 4, "_batch_norm_with_update": 8, "cudnn_batch_norm": 8,
    "native_batch_norm_backward": 16, "batch_norm_backward": 16, "cudnn_batch_norm_backward": 16,
    "native_layer_norm": 8, "native_layer_norm_backward": 16, "native_group_norm": 8,
    "native_group_norm_backward": 16, "avg_pool2d": 1, "embedding_dense_backward": 1,
    "_is_all_true": 1, "_is_any_true": 1, "binary_cross_entropy_with_logits": 6,
    "max_pool2d_with_indices": 1}
CONTRACTIONS = {
    "mkldnn_rnn_layer", "mkldnn_rnn_layer_backward", "_cudnn_rnn", "_cudnn_rnn_backward",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention_for_cpu_backward"}
# These move data and compute nothing.
MOVES = {
    "copy_", "_to_copy", "clone", "cat", "stack", "fill_", "zero_", "zeros", "ones", "full",
    "arange", "zeros_like", "ones_like", "full_like", "scalar_tensor", "index_select", "index",
    "index_put_", "index_put", "gather", "scatter", "scatter_", "embedding", "constant_pad_nd",
    "flip", "roll", "repeat", "select_backward", "slice_backward", "slice_scatter",
    "select_scatter", "tril", "triu", "eye", "_local_scalar_dense", "_unsafe_view", "lift_fresh",
    "max_pool2d_with_indices_backward", "expand_copy", "_pin_memory", "empty", "empty_like",
    "empty_strided", "new_empty", "new_empty_strided", "new_zeros", "resize_", "set_", "bernoulli_",
    "uniform_", "normal_", "random_", "rand", "randn", "randint", "randperm"}


def count(func, tensors, arguments, options, out):
    """Operations of the call `func(*arguments, **options)` that returned `out`. `tensors` are the
    tensors among its arguments. None: unknown."""
    name = func.overloadpacket.__name__
    own = {"mkldnn_rnn_layer": rnn_layer, "mkldnn_rnn_layer_backward": rnn_layer_backward,
           "_cudnn_rnn": cudnn_rnn, "_cudnn_rnn_backward": cudnn_rnn_backward,
           "_scaled_dot_product_flash_attention_for_cpu": attention,
           "_scaled_dot_product_flash_attention_for_cpu_backward": attention_backward,
           "_embedding_bag": embedding_bag, "_embedding_bag_forward_only": embedding_bag}.get(name)
    if own:
        return own(arguments, out)
    formula = _registry().get(func.overloadpacket)
    if formula:
        return int(formula(*arguments, **options, out_val=out))
    if name in MOVES:
        return 0
    if torch.Tag.pointwise in func.tags:
        return sum(tensor.numel() for tensor in _tensors(out))
    if name.rstrip("_") in POINTWISE:
        return sum(tensor.numel() for tensor in _tensors(out) or tensors[:first_list(arguments)])
    if name in EACH_INPUT and tensors:
        return EACH_INPUT[name] * tensors[0].numel()
    return None


def rnn_layer(arguments, _):
    """One layer over all steps. Arguments: input (steps x batch x width), w_ih, w_hh, ..."""
    rows = arguments[0].size(0) * arguments[0].size(1)
    return 2 * rows * (arguments[1].numel() + arguments[2].numel())


def rnn_layer_backward(arguments, out):
    return 2 * rnn_layer(arguments, out)  # gradients of the input and of the weights


def cudnn_rnn(arguments, _):
    """All layers over all steps. Arguments: input (steps x batch x width), weights, ..."""
    rows = arguments[0].size(0) * arguments[0].size(1)
    return 2 * rows * sum(weight.numel() for weight in arguments[1] if weight.dim() == 2)


def cudnn_rnn_backward(arguments, out):
    return 2 * cudnn_rnn(arguments, out)


def attention(arguments, _):
    """Two products of query, key and value, each batch x heads x length x width."""
    query, key = arguments[0], arguments[1]
    return 4 * query.numel() * key.size(-2)


def attention_backward(arguments, _):
    """Four products, and the scores once more. Arguments: gradient, query, key, ..."""
    return 10 * arguments[1].numel() * arguments[2].size(-2)


def embedding_bag(arguments, _):
    return arguments[1].numel() * arguments[0].size(1)


def kind(func):
    """What a call does, in the classes of Ivanov et al., "Data Movement Is All You Need" (2021):
    contractions (matrix products, convolutions, attention, recurrent layers), statistical
    normalisations (and reductions), element-wise operators; and data that only move. None:
    unknown."""
    name = func.overloadpacket.__name__
    if name in CONTRACTIONS or func.overloadpacket in _registry():
        return "contraction"
    if name in MOVES:
        return "movement"
    if torch.Tag.pointwise in func.tags or name.rstrip("_") in (*POINTWISE, "glu", "glu_backward"):
        return "elementwise"
    return "normalisation" if name in EACH_INPUT or name.startswith("_embedding_bag") else None


def kind_of_row(name):
    """The class of an operator that no call was charged to: others call it to move data, or it is
    of none."""
    plain = name.removeprefix("aten::")
    return "movement" if plain in MOVES and plain not in ALLOCATES else None


def _registry():
    from torch.utils.flop_counter import flop_registry
    return flop_registry


def first_list(arguments):
    """The number of tensors in the first argument."""
    first = arguments[0] if arguments else []
    return len(first) if isinstance(first, (list, tuple)) else 1


def _tensors(out):
    if isinstance(out, torch.Tensor):
        return [out]
    return [item for item in out
            if isinstance(item, torch.Tensor)] if isinstance(out, (list, tuple)) else []
