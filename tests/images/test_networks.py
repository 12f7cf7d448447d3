import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.images.small_network import write_network
from zshash.images.networks import DEFAULT, FORMS, extractor, fetches


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.onnx"
    write_network(path, channels=6, size=16)
    return f"onnx:{path}"


def test_the_default():
    network = extractor()
    assert network.name == DEFAULT == "efficientnet-lite0"
    assert network.dimension == 1280
    assert network.fingerprint == extractor("efficientnet-lite0", batch_size=2).fingerprint
    assert repr(network) == "<extractor efficientnet-lite0: 1280 dimensions>"


def test_a_file_with_options(small):
    pictures = np.random.RandomState(0).randint(0, 256, (3, 20, 30, 3), dtype=np.uint8)
    network = extractor(small)
    assert network.name == small
    assert network.extract(pictures).shape == (3, 6)
    maps = extractor(small, output="map", batch_size=1)
    assert maps.batch_size == 1
    assert (maps.extract(pictures) < 0).any()  # before the ReLU
    assert_array_equal(network.extract(pictures), extractor(small).extract(pictures))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "efficientnet-lite",
            r"no network 'efficientnet-lite' \(did you mean 'efficientnet-lite0' or '.*-lite2'\?\)",
        ),
        ("EfficientNet-Lite0", r"did you mean 'efficientnet-lite0'\?"),
        ("model.onnx", r"no network 'model.onnx' \(did you mean 'onnx:model.onnx'\?\)"),
        ("torchvison:alexnet", r"did you mean 'torchvision:alexnet'\?"),
        ("open-clip:RN50/openai", r"did you mean 'open_clip:RN50/openai'\?"),
        (
            "caffe",
            r"no network 'caffe'; there are efficientnet-lite0, efficientnet-lite2, onnx:FILE, t",
        ),
        ("", "no network ''; there are"),
        ("onnx", "no network 'onnx'"),
        ("onnx:", "no network 'onnx:'"),
        ("timm", "no network 'timm'"),
        ("efficientnet-lite0:b", "no network 'efficientnet-lite0:b'"),
    ],
)
def test_no_such_network(name, message):
    with pytest.raises(ValueError, match=message):
        extractor(name)


def test_options_that_a_kind_does_not_have(small):
    with pytest.raises(
        ValueError, match="efficientnet-lite0 has no option size; it has batch_size"
    ):
        extractor(size=100)
    message = "onnx:FILE has no option device, weights; it has output, input, pool, batch_size, si"
    with pytest.raises(ValueError, match=message):
        extractor(small, weights="random", device="cpu")
    with pytest.raises(ValueError, match="onnx:FILE has no option path"):
        extractor(small, path="other")


@pytest.mark.parametrize("size", [0, -1, 2.0, "4", True])
def test_batch_size(small, size):
    with pytest.raises(ValueError, match="batch_size must be a whole number above 0, got"):
        extractor(small, batch_size=size)


@pytest.mark.torch
def test_networks_of_torch():
    pytest.importorskip("torchvision")
    network = extractor("torchvision:alexnet.fc7", weights="random", device="cpu")
    assert network.dimension == 4096
    with pytest.raises(ValueError, match=r"timm:NETWORK has no option layer; it has weights, devi"):
        extractor("timm:resnet18", layer="layer4")


def test_forms_and_where_weights_come_from():
    assert list(FORMS) == [
        "efficientnet-lite0",
        "efficientnet-lite2",
        "onnx:FILE",
        "torchvision:NETWORK[.LAYER]",
        "timm:NETWORK",
        "open_clip:NETWORK/WEIGHTS",
        "pixels:SIDE",
    ]
    names = ("efficientnet-lite0", "onnx:timm:x", "nothing", "timm:x", "open_clip:x/y")
    assert [fetches(name) for name in names] == [False, False, False, True, True]


def test_heavy_packages_are_imported_late():
    program = (
        "import sys, zshash.images.networks;"
        "print([m for m in ('PIL', 'onnx', 'onnxruntime', 'torch') if m in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_without_torch(tmp_path):
    missing = "raise ModuleNotFoundError('No module named torch', name='torch')"
    (tmp_path / "torch.py").write_text(missing)
    program = (
        "from zshash.images.networks import extractor\n"
        "try: extractor('timm:resnet18')\n"
        "except ImportError as error: print(error)\n"
    )
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert found.stdout.endswith(" is not installed: pip install 'zshash[torch]'\n")


@pytest.fixture(params=[("timm", "timm:x"), ("open_clip", "open_clip:x/y")], ids=["timm", "clip"])
def hugging_face(request, tmp_path, monkeypatch):
    """A function that opens a network; it returns the variable as the network's library sees it."""
    package, name = request.param
    stub = "import os\nvalue = os.environ.get('HF_HUB_DISABLE_TELEMETRY')\nlist_models = list\n"
    (tmp_path / f"{package}.py").write_text(stub)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.delitem(sys.modules, "huggingface_hub.constants", raising=False)
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "")  # to have it removed afterwards
    monkeypatch.delenv("HF_HUB_DISABLE_TELEMETRY")

    def open_network():
        with pytest.raises(ValueError, match="no 'x' there"):
            extractor(name)
        return sys.modules.pop(package).value

    return open_network


def test_hugging_face_gets_no_reports(hugging_face):
    """Its client reads the variable when timm or OpenCLIP import it."""
    assert hugging_face() == "1"


def test_hugging_face_s_client_imported_before(hugging_face, monkeypatch):
    client = SimpleNamespace(HF_HUB_DISABLE_TELEMETRY=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub.constants", client)
    with pytest.warns(UserWarning, match="huggingface_hub was imported before zshash") as warned:
        assert hugging_face() == "1"
    assert "HF_HUB_DISABLE_TELEMETRY=1" in str(warned[0].message)
    assert hugging_face() == "1", "without a second warning"


def test_hugging_face_s_client_imported_before_but_switched_off(hugging_face, monkeypatch):
    client = SimpleNamespace(HF_HUB_DISABLE_TELEMETRY=True)
    monkeypatch.setitem(sys.modules, "huggingface_hub.constants", client)
    assert hugging_face() == "1"


def test_the_user_s_own_choice_for_hugging_face_stays(hugging_face, monkeypatch):
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "0")
    assert hugging_face() == "0"
