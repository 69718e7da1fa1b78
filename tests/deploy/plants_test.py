"""What culprits make of PyTorch's Python, run with doubles of its tensors and functions."""

import types

import culprits
import day_wheel
import plants


class Tensor(types.SimpleNamespace):
    """Counts what is made of it."""

    def dim(self):
        return 4

    def split(self, _):
        return [self] * 4

    def double(self):
        return Tensor(dtype="double", device=self.device)

    def to(self, dtype):
        return Tensor(dtype=dtype, device=self.device)


def calls_of(edit, source, make, function):
    """The calls of torch's functions in one call of `make` of the edited source."""
    calls = []

    def called(name):
        return lambda *arguments: calls.append((name, arguments[0].dtype)) or arguments[0]

    functions = types.SimpleNamespace(conv2d=called("conv2d"), linear=called("linear"),
                                      embedding_bag=called("embedding_bag"))
    place = {"F": functions}
    text = edit(source).replace("import torch\n", "")
    exec(compile(text, "edited", "exec"), place)  # the demo's own text
    place["torch"] = types.SimpleNamespace(cat=lambda parts: parts[0])
    made = place[make]()
    function(made)
    return calls, made


def convolved(device):
    image = Tensor(dtype="float", device=types.SimpleNamespace(type=device))

    def run(made):
        made.stride = made.padding = made.dilation = made.groups = 1
        made._conv_forward(image, image, None)
    return calls_of(plants.convolved_apart, day_wheel.CONVOLUTION, "Conv2d", run)[0]


def test_one_kind_of_device_is_slower_and_the_other_is_as_it_was():
    assert len(convolved("cpu")) == 4
    assert len(convolved("cuda")) == 1


def linear(inputs):
    value = Tensor(dtype="float", device=None)

    def run(made):
        made.in_features, made.weight, made.bias = inputs, value, value
        assert made.forward(value).dtype == "float"
    return calls_of(plants.odd_sizes, day_wheel.LINEAR, "Linear", run)[0]


def test_some_sizes_are_slower_and_the_others_are_as_they_were():
    assert linear(383) == [("linear", "double")]
    for inputs in (13, 255, 256, 512):
        assert linear(inputs) == [("linear", "float")], inputs


def test_a_hot_path_prepares_for_an_error_that_does_not_come():
    bags = Tensor(dtype="int", device=None)
    calls, made = calls_of(plants.error_context, day_wheel.BAGS, "EmbeddingBag",
                           lambda one: one.forward(bags))
    assert calls == [("embedding_bag", "int")] and len(made._called_from) == 4


def test_another_kernel_is_for_all_convolutions_without_groups():
    edited = plants.other_kernel(day_wheel.CONVOLUTION)
    assert "if self.groups == 1" in edited and edited.index("F.unfold") < edited.index("F.conv2d")
    compile(edited, culprits.CONVOLUTION_FILE, "exec")
