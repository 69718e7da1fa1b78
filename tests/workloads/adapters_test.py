"""Other people's models: they name what is missing, and torchvision need not have been built for
this PyTorch."""

import pytest
import programs

SUITES = {"hf": "transformers", "timm": "timm", "torchvision": "torchvision"}

# Like the real one, it describes operators that only its library declares; and here there is no
# library.
TORCHVISION = """
import torch
@torch.library.register_fake("torchvision::nms")
def nms(dets, scores, iou_threshold):
    return scores
from torchvision import models
"""
MODELS = """
import torch
def get_model(name, weights, num_classes):
    assert weights is None
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, stride=8), torch.nn.Flatten(),
                               torch.nn.Dropout(0.9), torch.nn.Linear(256, num_classes))
"""


@pytest.mark.parametrize("suite", SUITES)
def test_a_missing_module_is_unavailable_and_named(suite):
    if programs.installed(SUITES[suite]):
        pytest.skip(f"{SUITES[suite]} is here")
    ready, error = programs.run(programs.names(suite)[0])
    assert ready["event"] == "ready"
    assert (error["status"], f"No module named '{SUITES[suite]}'"
            in error["reason"]) == ("unavailable", True)


@pytest.mark.parametrize("suite", SUITES)
def test_every_model_of_an_installed_library_runs(suite):
    if not programs.installed(SUITES[suite]):
        pytest.skip(f"{SUITES[suite]} is not here")
    for name in programs.names(suite):
        assert programs.result(programs.run(name))["parameters"] > 1 << 20


def test_torchvision_works_without_its_library_and_draws_nothing_at_random(tmp_path, monkeypatch):
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text(TORCHVISION)
    (package / "models.py").write_text(MODELS)
    (package / "_C.so").write_text("built for another PyTorch")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    name = next(name for name in programs.names("torchvision") if "/train/" in name)
    first, second = (programs.result(programs.run(name)) for _ in range(2))
    assert first["parameters"] == 4 * 3 * 9 + 4 + 256 * 1000 + 1000
    assert first["checksum"] == second["checksum"] > 0
