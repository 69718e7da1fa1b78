"""The models of published lists: each runs in its small size, and has its published number of
parameters in the other."""

import functools
import json
import math
import subprocess

import pytest
import programs

# Millions of parameters, as the papers or the model cards say.
PUBLISHED = {
    "vit_b16": 86.6, "beit_b16": 86.5, "convnext_l": 198, "resnet50": 25.6, "segformer_b0": 3.8,
    "mask2former_swin_t": 47, "maskformer_swin_b": 102, "deeplabv3_mobilenet_v2": 2.11,
    "owlvit_b32": 153, "detr_resnet50": 41.3, "detr_resnet101": 60.3,
    "conditional_detr_resnet50": 43.5,
    "BertForMaskedLM": 110, "AlbertForMaskedLM": 206, "AllenaiLongformerBase": 149,
    "BartForConditionalGeneration": 406, "DistilBertForMaskedLM": 67, "DistillGPT2": 82,
    "GPT2ForSequenceClassification": 124, "GPTJForCausalLM": 6050, "GPTNeoForCausalLM": 1316,
    "M2M100ForConditionalGeneration": 484, "OPTForCausalLM": 125, "RobertaForCausalLM": 125,
    "T5Small": 60.5, "XGLMForCausalLM": 564, "Llama-3.2-1B": 1236, "gemma-2-2b": 2614,
    "gemma-3-4b-it": 3880, "whisper-tiny": 37.8, "Qwen3-0.6B": 596,
    "Mistral-7B-Instruct-v0.3": 7248, "gpt-oss-20b": 20900,
    "beit_base_patch16_224": 86.5, "inception_v3": 23.8, "mobilenetv2_100": 3.5,
    "tf_efficientnet_b0": 5.3, "swin_base_patch4_window7_224": 87.8, "repvgg_a2": 28.2}
LISTS = {"vision": "transformers", "huggingface": "transformers", "timm": "timm"}


def names(suite):
    return list(dict.fromkeys(name.split("/")[1].removesuffix("-small")
                              for name in programs.listed(suite) if "-small/" in name))


@functools.cache
def made(which):
    """What listed_models.py says of each model. Skips where its library is missing."""
    if not programs.installed(LISTS[which]):
        pytest.skip(f"{LISTS[which]} is not installed; deploy/build --models installs it")
    done = subprocess.run([
        programs.python(), str(programs.ROOT / "tests/workloads/listed_models.py"), which,
        *(names("timm") if which == "timm" else [])], env=programs.environment(),
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_model_of_the_lists_is_a_workload():
    assert (len(names("hf")), len(names("timm"))) == (12 + 55, 18)


@pytest.mark.parametrize("which, count, light", [("vision", 12, 12), ("huggingface", 55, 55),
                                                 ("timm", 18, 6)])
def test_each_runs_in_its_small_size_and_is_built_alike_twice(which, count, light):
    models = made(which)
    assert len(models) == count
    runs = [model for model in models if model["run"]]  # the others have millions of parameters
    assert len(runs) == light
    for model in runs:
        assert model["run"] == model["small"] > 0, model
        assert math.isfinite(model["checksum"]) and model["checksum"] > 0, model


@pytest.mark.parametrize("which", LISTS)
def test_each_has_its_published_number_of_parameters(which):
    known = [model for model in made(which) if model["name"] in PUBLISHED]
    assert len(known) >= 6
    for model in known:
        assert model["paper"] == pytest.approx(PUBLISHED[model["name"]] * 1e6, rel=0.02), model


def test_weights_that_do_not_fit_are_unavailable_and_say_what_they_need():
    if not programs.installed("transformers"):
        pytest.skip("transformers is not installed; deploy/build --models installs it")
    last = programs.run("hf/gpt-oss-20b-paper/train/cpu/fp32/b1/eager")[-1]
    assert last["status"] == "unavailable", last
    assert last["reason"].startswith("its weights need 334.6 GB to train, and ")


def test_a_name_may_say_how_many_threads_a_run_has():
    name = "python/dlrm/eval/cpu/fp32/b128/eager"
    plain, one = (programs.run(one, sizes="tiny", threads=3) for one in (name, f"{name}-t1"))
    assert (plain[0]["settings"]["threads"], one[0]["settings"]["threads"]) == ("3", "1")
    assert programs.result(plain)["checksum"] == pytest.approx(programs.result(one)["checksum"])


@pytest.mark.parametrize("name", [
    "hf/vit_b16-large/eval/cpu/fp32/b4/eager", "hf/vit_b16/eval/cpu/fp32/b4/eager",
    "python/dlrm-small/eval/cpu/fp32/b128/eager", "python/dlrm/eval/cpu/fp32/b128/eager-t0"])
def test_a_size_or_thread_count_that_there_is_not_is_an_unknown_workload(name):
    last = programs.run(name)[-1]
    assert (last["status"], last["reason"]) == ("failed", f"no workload is called '{name}'")
