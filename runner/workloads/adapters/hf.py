"""Hugging Face transformers from literal configurations, so that nothing is downloaded:
`hf/<model>/<train|eval>/...`. Models of two sizes are those of published lists, which vision.py
and huggingface.py have.

The weights come from the seed, as everywhere. Dropout is 0, since compiled code would draw other
masks. """

import torch
from torch import nn

from adapters import huggingface, images, vision

LENGTH = 64  # tokens


def no_dropout(*names):
    return dict.fromkeys(names, 0.0)


def bert():
    from transformers import BertConfig, BertForMaskedLM
    return BertForMaskedLM(
        BertConfig(vocab_size=8000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
                   intermediate_size=1024,
                   **no_dropout("hidden_dropout_prob", "attention_probs_dropout_prob")))


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=8000, n_positions=128, n_embd=256, n_layer=4, n_head=4,
                   bos_token_id=0, eos_token_id=0, use_cache=False,
                   **no_dropout("resid_pdrop", "embd_pdrop", "attn_pdrop")))


def t5():
    from transformers import T5Config, T5ForConditionalGeneration
    return T5ForConditionalGeneration(
        T5Config(vocab_size=8000, d_model=256, d_kv=64, d_ff=1024, num_layers=3, num_heads=4,
                 dropout_rate=0.0, use_cache=False, decoder_start_token_id=0))


def vit():
    from transformers import ViTConfig, ViTForImageClassification
    return ViTForImageClassification(
        ViTConfig(hidden_size=192, num_hidden_layers=6, num_attention_heads=3,
                  intermediate_size=768, image_size=112, patch_size=16, num_labels=1000,
                  **no_dropout("hidden_dropout_prob", "attention_probs_dropout_prob")))


def whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    return WhisperForConditionalGeneration(
        WhisperConfig(vocab_size=8000, d_model=192, encoder_layers=2, decoder_layers=2,
                      encoder_attention_heads=3, decoder_attention_heads=3, encoder_ffn_dim=768,
                      decoder_ffn_dim=768, max_source_positions=100, max_target_positions=128,
                      use_cache=False, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                      decoder_start_token_id=1,
                      **no_dropout("dropout", "attention_dropout", "activation_dropout")))


def tokens(case, label="tokens"):
    return case.integers(label, case.batch, LENGTH, high=8000)


def pixels(case):
    return case.uniform("pixels", case.batch, 3, 112, 112)


def sound(case):
    return case.uniform("sound", case.batch, 80,
                        200)  # mel bands, frames: twice the source positions


# For each model: its maker, its inputs by name, and whether a label is a class or a text.
MODELS = {
    "bert": (bert, {"input_ids": tokens}, "text"),
    "gpt2": (gpt2, {"input_ids": tokens}, "text"),
    "t5": (t5, {"input_ids": tokens}, "text"),
    "vit": (vit, {"pixel_values": pixels}, "class"),
    "whisper": (whisper, {"input_features": sound}, "text"),
}


class Answers(nn.Module):
    """A model that takes its inputs in order and returns a row for each item of the batch. The row
    has all outputs that are named, since a compiler leaves out what nobody reads."""

    def __init__(self, model, names, wanted):
        super().__init__()
        self.model, self._names, self._wanted = model, names, wanted

    def forward(self, *inputs):
        answers = self.model(**dict(zip(self._names, inputs)))
        return torch.cat([answers[name].flatten(1) for name in self._wanted], 1)


class Answer(nn.Module):
    """A model that takes its inputs in order, labels last, and returns one tensor."""

    def __init__(self, model, names, wanted):
        super().__init__()
        self.model, self._names, self._wanted = model, names, wanted

    def forward(self, *inputs):
        return self.model(**dict(zip(self._names, inputs)))[self._wanted]


def make(case):
    if case.definition.size:
        listed = vision if case.definition.model in vision.MODELS else huggingface
        return listed.make(case)
    images.make_torchvision_importable()  # transformers imports it if it is installed
    build, makers, kind = MODELS[case.name.split("/")[1]]
    inputs = {name: maker(case) for name, maker in makers.items()}
    labels = tokens(case, "labels") if kind == "text" else case.integers(
        "labels", case.batch, high=1000)
    if case.task == "eval":
        if build in (t5, whisper):  # they read one text and write another
            inputs["decoder_input_ids"] = labels
        model = case.ready(Answer(build(), list(inputs), "logits"))
        return case.evaluation(model, *inputs.values())
    inputs["labels"] = labels
    model = case.ready(Answer(build(), list(inputs), "loss"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    return case.training(model, optimizer, lambda: model(*inputs.values()))
