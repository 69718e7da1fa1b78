"""Counts the work inside calls that hold many kernels but show none to a dispatch mode, such as the
fast path of transformers. It uses the shapes that the profiler saw."""

import math

from .count import Count, name_of

CALLS = {"_transformer_encoder_layer_fwd", "_native_multi_head_attention"}
ELEMENTWISE = {
    "aten::gelu_": 1, "aten::gelu": 1, "aten::relu_": 1, "aten::relu": 1, "aten::add_": 1,
    "aten::add": 1, "aten::_softmax": 5, "aten::native_layer_norm": 8,
    "aten::_transform_bias_rescale_qkv": 2}


def count(node):
    """The Count of a node. `node.inputs` are (sizes, type) of its tensor arguments, in order."""
    name, inputs = node.name, node.inputs
    product = product_of(name, [sizes for sizes, _ in inputs])
    if product:
        flops, written = product
        kind = "contraction"
    elif name in ELEMENTWISE and inputs:
        written = math.prod(inputs[0][0])
        flops = ELEMENTWISE[name] * written
        kind = "normalisation" if "norm" in name or "softmax" in name else "elementwise"
    elif name == "aten::copy_" and len(inputs) > 1:
        written, flops, inputs = math.prod(inputs[0][0]), 0, inputs[1:]
        kind = "movement"
    else:
        return Count()
    size = inputs[0][1].itemsize
    moved = written * size + sum(math.prod(sizes) * dtype.itemsize for sizes, dtype in inputs)
    return Count(flops, moved, 0, {name_of(inputs[0][1]): moved}, kind)


def product_of(name, shapes):
    """(flops, elements written) of a matrix product, else None."""
    at = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::_addmm_activation": 1,
          "aten::baddbmm": 1}.get(name)
    if at is None or len(shapes) < at + 2:
        return None
    written = math.prod(shapes[at][:-1]) * shapes[at + 1][-1]
    return 2 * written * shapes[at][-1], written
