"""The twelve models of Hugging Face's tables of vision models: `hf/<model>-<paper|small>/eval/...`.

Each is made from a literal configuration of transformers. `paper` is the published size, `small` is
for tests. Detectors have transformers' own residual network in place of timm's."""

import functools
import importlib

from adapters import images

SWIN_T = {"embed_dim": 96, "depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24], "window_size": 7}
SWIN_B = {"embed_dim": 128, "depths": [2, 2, 18, 2], "num_heads": [4, 8, 16, 32], "window_size": 12,
          "image_size": 384}
SWIN_SMALL = {"embed_dim": 24, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 4, 8], "window_size": 4}
SWIN_STAGES = {"drop_path_rate": 0.0, "out_features": ["stage1", "stage2", "stage3", "stage4"]}
TRANSFORMER = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
               "intermediate_size": 3072, "image_size": 224, "patch_size": 16, "num_labels": 1000}
TRANSFORMER_SMALL = {"hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 3,
                     "intermediate_size": 384, "image_size": 64}
RESNET = {"embedding_size": 64, "hidden_sizes": [256, 512, 1024, 2048], "layer_type": "bottleneck",
          "depths": [3, 4, 6, 3]}
RESNET_SMALL = {"embedding_size": 16, "hidden_sizes": [32, 64, 96, 128], "depths": [1, 1, 1, 1]}
DETECTOR = {"d_model": 256, "encoder_layers": 6, "decoder_layers": 6, "encoder_ffn_dim": 2048,
            "decoder_ffn_dim": 2048, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
            "num_labels": 91, "dropout": 0.0}
DETECTOR_SMALL = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 128,
                  "decoder_ffn_dim": 128, "num_queries": 20}
# A whole literal configuration: no name of a backbone that would be downloaded.
OWN_BACKBONE = {"use_timm_backbone": False, "backbone": None, "use_pretrained_backbone": False}


def configuration(kind, **values):
    return getattr(importlib.import_module("transformers"), f"{kind}Config")(**values)


def with_swin(kind, swin, **values):
    """A segmenter with a Swin backbone."""
    return configuration(kind, backbone_config=configuration("Swin", **SWIN_STAGES, **swin),
                         **values)


def with_resnet(kind, resnet, **values):
    """A detector with a residual network as backbone."""
    backbone = configuration("ResNet", out_features=["stage4"], **(RESNET | resnet))
    return configuration(kind, backbone_config=backbone, **OWN_BACKBONE, **(DETECTOR | values))


def maskformer(swin, **decoder):
    detector = configuration("Detr", **OWN_BACKBONE, backbone_config=configuration("ResNet"),
                             **(DETECTOR | {"num_queries": 100} | decoder))
    width = {"fpn_feature_size": detector.d_model, "mask_feature_size": detector.d_model}
    return with_swin("MaskFormer", swin, decoder_config=detector, num_labels=133, **width)


def owlvit(text, vision, projection):
    return configuration("OwlViT", text_config=text, vision_config=vision,
                         projection_dim=projection)


# What a model consists of: its class in transformers, the outputs that make one tensor, the edge of
# its square images, and its configuration, each of both sizes.
def model(kind, outputs, edges, paper, small):
    return {"class": kind, "outputs": outputs, "edges": edges,
            "configuration": {"paper": paper, "small": small}}


def transformer(kind, **values):
    one = functools.partial(configuration, kind, **values)
    return (lambda: one(**TRANSFORMER), lambda: one(**(TRANSFORMER | TRANSFORMER_SMALL)))


BOXES = ("logits", "pred_boxes")
MASKS = ("class_queries_logits", "masks_queries_logits")
MODELS = {
    "vit_b16": model("ViTForImageClassification", ("logits", ), (224, 64), *transformer("ViT")),
    "beit_b16": model(
        "BeitForImageClassification", ("logits", ), (224, 64),
        *transformer("Beit", use_relative_position_bias=True, use_mean_pooling=True,
                     drop_path_rate=0.0)),
    "convnext_l": model(
        "ConvNextForImageClassification", ("logits", ), (224, 64),
        lambda: configuration("ConvNext", hidden_sizes=[192, 384, 768, 1536], depths=[3, 3, 27, 3],
                              num_labels=1000),
        lambda: configuration("ConvNext", hidden_sizes=[16, 32, 64, 128], depths=[1, 1, 2, 1],
                              num_labels=1000)),
    "resnet50": model(
        "ResNetForImageClassification", ("logits", ), (224, 64),
        lambda: configuration("ResNet", num_labels=1000, **RESNET),
        lambda: configuration("ResNet", num_labels=1000, **(RESNET | RESNET_SMALL))),
    "segformer_b0": model(
        "SegformerForSemanticSegmentation", ("logits", ), (512, 64),
        lambda: configuration("Segformer", hidden_sizes=[32, 64, 160, 256], depths=[2, 2, 2, 2],
                              decoder_hidden_size=256, num_labels=150, drop_path_rate=0.0),
        lambda: configuration("Segformer", hidden_sizes=[16, 32, 40, 64], depths=[1, 1, 1, 1],
                              decoder_hidden_size=64, num_labels=150, drop_path_rate=0.0)),
    "mask2former_swin_t": model(
        "Mask2FormerForUniversalSegmentation", MASKS, (384, 64),
        lambda: with_swin("Mask2Former", SWIN_T, num_labels=80),
        lambda: with_swin("Mask2Former", SWIN_SMALL, num_labels=80, hidden_dim=64,
                          feature_size=64, mask_feature_size=64, encoder_layers=2,
                          encoder_feedforward_dim=128, decoder_layers=3, dim_feedforward=128,
                          num_queries=20)),
    "maskformer_swin_b": model(
        "MaskFormerForInstanceSegmentation", MASKS, (640, 64), lambda: maskformer(SWIN_B),
        lambda: maskformer(SWIN_SMALL, **DETECTOR_SMALL)),
    "deeplabv3_mobilenet_v2": model(
        "MobileNetV2ForSemanticSegmentation", ("logits", ), (513, 65),
        lambda: configuration("MobileNetV2", output_stride=8, num_labels=21, image_size=513),
        lambda: configuration("MobileNetV2", output_stride=8, num_labels=21, image_size=65,
                              depth_multiplier=0.5)),
    "owlvit_b32": model(
        "OwlViTForObjectDetection", BOXES, (768, 64),
        lambda: owlvit({"hidden_size": 512, "num_hidden_layers": 12, "num_attention_heads": 8,
                        "intermediate_size": 2048},
                       {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
                        "intermediate_size": 3072, "image_size": 768, "patch_size": 32}, 512),
        lambda: owlvit({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
                        "intermediate_size": 128},
                       {"hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 3,
                        "intermediate_size": 192, "image_size": 64, "patch_size": 32}, 64)),
    "detr_resnet50": model(
        "DetrForObjectDetection", BOXES, (800, 64), lambda: with_resnet("Detr", {}),
        lambda: with_resnet("Detr", RESNET_SMALL, **DETECTOR_SMALL)),
    "detr_resnet101": model(
        "DetrForObjectDetection", BOXES, (800, 64),
        lambda: with_resnet("Detr", {"depths": [3, 4, 23, 3]}),
        lambda: with_resnet("Detr", RESNET_SMALL | {"depths": [1, 1, 2, 1]}, **DETECTOR_SMALL)),
    "conditional_detr_resnet50": model(
        "ConditionalDetrForObjectDetection", BOXES, (800, 64),
        lambda: with_resnet("ConditionalDetr", {}),
        lambda: with_resnet("ConditionalDetr", RESNET_SMALL, **DETECTOR_SMALL)),
}


def build(name, size):
    """The model without its inputs; on the meta device if that is the default one."""
    images.make_torchvision_importable()  # transformers imports it if it is installed
    described = MODELS[name]
    kind = getattr(importlib.import_module("transformers"), described["class"])
    return kind(described["configuration"][size]())


def make(case):
    from adapters.hf import Answers
    described = MODELS[case.definition.model]
    edge = described["edges"][("paper", "small").index(case.definition.size)]
    inputs = {"pixel_values": case.uniform("pixels", case.batch, 3, edge, edge)}
    if "OwlViT" in described["class"]:  # two texts for each image; token 0 would be padding
        inputs["input_ids"] = 1 + case.integers("texts", case.batch * 2, 16, high=49000)
    module = Answers(build(case.definition.model, case.definition.size), list(inputs),
                     described["outputs"])
    return case.evaluation(case.ready(module), *inputs.values())
