"""Fits and codes with PyTorch, on the CPU and where there is one on a GPU, against NumPy's."""

import numpy as np
import pytest
from sklearn.base import clone

from zshash import AGH, ITQ, KSH, SDH, ZSH, scale

torch = pytest.importorskip("torch")

from zshash.scale.device import arrays, blocks, portable  # noqa: E402

pytestmark = pytest.mark.torch

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    centers, labels = rng.standard_normal((12, 40)), rng.randint(0, 12, 5000)
    X = (centers[labels] + rng.standard_normal((5000, 40))).astype(np.float32)
    vectors = rng.standard_normal((12, 20))
    return X, labels, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def share_of_equal_bits(left, right):
    return 1 - np.unpackbits(left ^ right).mean()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "parameters",
    [
        {"n_bits": 64},
        {"n_bits": 37, "normalize": True},
        {"n_bits": 96, "n_sweeps": 3},
        {"n_bits": 16, "n_anchors": 300, "rotation": "cayley"},
    ],
)
def test_fit_of_shards(data, device, parameters):
    X, labels, vectors = data
    hasher = ZSH(**({"n_anchors": 150, "graph": None, "random_state": 0} | parameters))
    inside = clone(hasher).fit(X[:4000], vectors[labels[:4000]])
    shards = np.split(X[:4000], [1111, 1112])
    outside = scale.fit(clone(hasher), shards, labels[:4000], vectors=vectors, device=device)
    np.testing.assert_array_equal(outside.anchors_, inside.anchors_)
    assert outside.bandwidth_ == pytest.approx(inside.bandwidth_, rel=1e-6)
    np.testing.assert_allclose(outside.objective_, inside.objective_, rtol=1e-4)
    assert share_of_equal_bits(outside.codes_, inside.codes_) > 0.999
    assert share_of_equal_bits(outside.encode(X[4000:]), inside.encode(X[4000:])) > 0.995
    codes = scale.encode(outside, np.split(X[4000:], [300]), device=device)
    assert share_of_equal_bits(codes, outside.encode(X[4000:])) > 0.999


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("normalize", [False, True])
def test_fit_of_a_tensor_in_float16(data, device, normalize):
    X, labels, vectors = data
    X = X.astype(np.float16)
    hasher = ZSH(n_anchors=150, graph=None, normalize=normalize, random_state=0)
    inside = clone(hasher).fit(X[:4000], vectors[labels[:4000]])
    tensor = torch.from_numpy(X).to(device)
    given = torch.from_numpy(labels[:4000]).to(device)
    outside = scale.fit(clone(hasher), tensor[:4000], given, vectors=vectors)
    np.testing.assert_allclose(outside.objective_, inside.objective_, rtol=1e-4)
    assert share_of_equal_bits(outside.encode(X[4000:]), inside.encode(X[4000:])) > 0.999
    codes = scale.encode(outside, tensor[4000:])
    assert codes.device == tensor.device
    assert share_of_equal_bits(codes.cpu().numpy(), outside.encode(X[4000:])) > 0.999


@pytest.mark.parametrize("device", DEVICES)
def test_a_fit_gives_the_same_bits_again(data, device):
    X, labels, vectors = data
    hasher = ZSH(n_anchors=150, graph=None, random_state=0)
    first, second = (
        scale.fit(clone(hasher), X, labels, vectors=vectors, device=device) for _ in range(2)
    )
    np.testing.assert_array_equal(first.projection_, second.projection_)
    np.testing.assert_array_equal(first.codes_, second.codes_)


@pytest.mark.parametrize("device", DEVICES)
def test_sdh_and_targets_of_their_own(data, device):
    X, labels, vectors = data
    own = vectors[labels] + 0.1 * np.random.RandomState(1).standard_normal((5000, 20))
    for hasher, y in (
        (SDH(n_anchors=100, mu=1.0, random_state=0), labels),
        (ZSH(n_anchors=100, graph=None, random_state=0), own),
    ):
        inside = clone(hasher).fit(X[:4000], y[:4000])
        outside = scale.fit(clone(hasher), X[:4000], y[:4000], device=device)
        assert share_of_equal_bits(outside.encode(X[4000:]), inside.encode(X[4000:])) > 0.995
    np.testing.assert_array_equal(
        scale.fit(SDH(n_anchors=50, random_state=0), X, labels, device=device).classes_,
        np.arange(12),
    )


@pytest.mark.parametrize("device", DEVICES)
def test_several_blocks_are_as_good_as_one(data, device, monkeypatch):
    X, labels, vectors = data
    hasher = ZSH(n_bits=37, n_anchors=100, graph=None, random_state=0)
    whole = scale.fit(clone(hasher), X, labels, vectors=vectors, device=device)
    monkeypatch.setattr("zshash.scale.device.rows.BLOCK_ROWS", 1001)
    monkeypatch.setattr("zshash.scale.device.fitting.ENCODED_ROWS", 4096)
    tensor = torch.from_numpy(X).to(device)
    cut = scale.fit(clone(hasher), tensor, labels, vectors=vectors)
    np.testing.assert_allclose(cut.objective_, whole.objective_, rtol=1e-5)
    np.testing.assert_array_equal(cut.codes_, whole.codes_)
    assert share_of_equal_bits(scale.encode(cut, tensor).cpu().numpy(), cut.encode(X)) > 0.999


@pytest.mark.parametrize("n_bits", [8, 37, 64, 65, 200])
def test_bits_are_packed_as_numpy_does(n_bits):
    bits = np.random.RandomState(0).randint(0, 2, (70, n_bits)).astype(np.uint8)
    words = blocks.as_words(np.packbits(bits, axis=1), 4096, "cpu")
    codes = blocks.Codes(70, n_bits, words, portable)
    np.testing.assert_array_equal(codes.packed(), np.packbits(bits, axis=1))
    np.testing.assert_array_equal(codes.signs[:n_bits, :70].T.numpy(), 2.0 * bits - 1)
    assert not codes.signs[:, 70:].any()


def test_halves_keep_twenty_bits():
    P = torch.from_numpy(np.random.RandomState(0).standard_normal((90, 30)) * 1e-7)
    halves = arrays.Halves(P, 128)
    both = halves.both.double().view(128, -1, 2).sum(dim=2) * halves.scale.double()
    error = (both[:90, :30] - P).abs().max() / P.abs().max()
    assert error < 2**-20
    assert not both[90:].any()


def test_what_a_device_can_not_do_is_said(data):
    X, labels, vectors = data
    with pytest.raises(ValueError, match="graph='anchor' is not available on a device: set graph"):
        scale.fit(ZSH(graph="anchor"), X, labels, vectors=vectors, device="cpu")
    with pytest.raises(ValueError, match="graph='knn' is not available on a device: set graph=N"):
        scale.fit(ZSH(), X, labels, vectors=vectors, device="cpu")
    with pytest.raises(ValueError, match=r"ITQ can not be fitted on a device: .* MTH, ZSH or SDH"):
        scale.fit(ITQ(), X, device="cpu")
    with pytest.raises(ValueError, match="AGH can not encode on a device"):
        scale.encode(AGH(16, n_anchors=50, random_state=0).fit(X), X, device="cpu")
    with pytest.raises(scale.DeviceError, match="the device 'nonsense' can not be used"):
        scale.fit(ZSH(graph=None), X, labels, device="nonsense")
    with pytest.raises(ValueError, match="give client or device, not both"):
        scale.fit(ZSH(graph=None), X, labels, client=object(), device="cpu")
    with pytest.raises(ValueError, match=r"a tensor \(n, d\) of floats, got shape \(40,\)"):
        scale.fit(ZSH(graph=None), torch.zeros(40), labels)
    hasher = ZSH(8, n_anchors=20, graph=None, random_state=0)
    for broken, message in ((np.nan, "X contains NaN or infinity"), (1.0, "rows of X are equal")):
        tensor = torch.full((60, 5), broken)
        tensor[[0, -1]] = 1.0
        with pytest.raises(ValueError, match=message):
            scale.fit(hasher, tensor, np.arange(60) % 2)
    with pytest.raises(ValueError, match="one row: a fit needs two at least"):
        scale.fit(hasher, torch.ones((1, 5)), [0], vectors=vectors)
    with pytest.raises(ValueError, match="too alike for so small a penalty"):
        scale.fit(
            ZSH(8, n_anchors=20, graph=None, beta=0.0, bandwidth=1e6),
            torch.rand((60, 5)),
            np.arange(60) % 2,
        )
    with pytest.raises(
        ValueError, match=r"a tensor of shape \(3, 5\) was given, but the hasher was"
    ):
        scale.encode(ITQ(8).fit(X), torch.zeros((3, 5)))


@pytest.mark.parametrize("hasher", [ITQ(24, normalize=True), KSH(16, n_anchors=60, n_labeled=300)])
def test_other_methods_encode_there_too(data, hasher):
    X, labels, _ = data
    hasher = clone(hasher).set_params(random_state=0).fit(X, labels)
    assert share_of_equal_bits(scale.encode(hasher, X, device="cpu"), hasher.encode(X)) > 0.999


@pytest.fixture(scope="module")
def fitted(data):
    X, labels, vectors = data
    hasher = ZSH(24, n_anchors=60, graph=None, normalize=True, random_state=0)
    return hasher.fit(X[:1000], vectors[labels[:1000]])


@pytest.mark.parametrize("device", DEVICES)
def test_a_frozen_function_encodes_as_often_as_one_likes(data, fitted, device):
    X = torch.from_numpy(data[0]).to(device)
    for is_half, dtype in ((True, torch.float16), (False, torch.float32), (False, torch.float64)):
        encode, expected = scale.frozen(fitted, device, is_half=is_half), scale.encode(fitted, X)
        for rows in (slice(0, 1), slice(0, 900), slice(900, 5000)):
            codes = encode(X[rows].to(dtype))
            assert codes.device == X.device
            share = share_of_equal_bits(codes.cpu().numpy(), expected[rows].cpu().numpy())
            assert share > 0.998
    assert torch.equal(encode(X), expected)


def test_what_a_frozen_function_refuses(data, fitted):
    encode = scale.frozen(fitted, "cpu")
    with pytest.raises(ValueError, match=r"torch.float32 was given .* set is_half=False"):
        encode(torch.zeros((3, 40)))
    with pytest.raises(TypeError, match=r"got ndarray: convert it with torch.from_numpy"):
        encode(data[0])
    with pytest.raises(ValueError, match=r"\(3, 5\) was given, but the hasher was fitted to rows"):
        encode(torch.zeros((3, 5), dtype=torch.float16))
    with pytest.raises(ValueError, match=r"of torch.int32: convert it with"):
        encode(torch.zeros((3, 40), dtype=torch.int32))


def test_codes_of_a_tensor_in_a_file(data, fitted, tmp_path):
    X = torch.from_numpy(data[0]).clone()
    codes = scale.encode(fitted, X, output=tmp_path / "codes.npy")
    np.testing.assert_array_equal(codes, scale.encode(fitted, X).numpy())
    np.testing.assert_array_equal(codes, np.load(tmp_path / "codes.npy"))
    with pytest.raises(scale.DeviceError, match=r"the device 'meta' .* name one that PyTorch"):
        scale.encode(fitted, X, device="meta", output=tmp_path / "none.npy")
    X[7, 7] = torch.nan
    with pytest.raises(ValueError, match="NaN or infinity: remove or repair such rows"):
        scale.encode(fitted, X, output=tmp_path / "none.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["codes.npy"]


def test_tensors_that_gradients_go_through(data):
    X, labels, vectors = data
    hasher = ZSH(16, n_anchors=50, graph=None, random_state=0)
    expected = scale.fit(clone(hasher), torch.from_numpy(X), vectors[labels])
    given = torch.from_numpy(X).requires_grad_(), torch.from_numpy(vectors[labels]).requires_grad_()
    found = scale.fit(clone(hasher), *given)
    np.testing.assert_array_equal(found.projection_, expected.projection_)
    assert not scale.encode(found, given[0]).requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_lists_of_tensors(data, dtype):
    X, labels, _ = data
    hasher = ZSH(16, n_anchors=50, graph=None, random_state=0)
    rounded = torch.from_numpy(X).to(dtype)
    parts, y = rounded.requires_grad_().split(2000), torch.from_numpy(labels).split(2000)
    found = scale.fit(clone(hasher), parts, list(y))
    expected = scale.fit(
        clone(hasher), np.split(rounded.detach().float().numpy(), [2000, 4000]), labels
    )
    np.testing.assert_array_equal(found.projection_, expected.projection_)


@pytest.mark.parametrize("device", DEVICES)
def test_rows_beyond_the_range_of_float16(data, device):
    X, labels, vectors = data
    X = X.copy()
    X[7] *= 1e8
    hasher = ZSH(16, n_anchors=50, graph=None, bandwidth=80.0, random_state=0)
    inside = clone(hasher).fit(X, vectors[labels])
    outside = scale.fit(clone(hasher), X, labels, vectors=vectors, device=device)
    assert share_of_equal_bits(outside.encode(X), inside.encode(X)) > 0.995
    codes = scale.encode(inside, X[7:8], device=device)
    np.testing.assert_array_equal(codes, inside.encode(X[7:8]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_broken_rows_are_seen_where_the_bandwidth_is_given(dtype):
    hasher = ZSH(8, n_anchors=20, graph=None, bandwidth=1.0, random_state=0)
    for broken, message in (
        (np.nan, "NaN or infinity: remove or repair"),
        (1.0, "rows of X are equal: there is nothing to learn"),
    ):
        tensor = torch.full((60, 5), broken, dtype=dtype)
        tensor[[0, -1]] = 1.0
        with pytest.raises(ValueError, match=message):
            scale.fit(hasher, tensor, np.arange(60) % 2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
class TestKernels:
    """Each kernel in Triton against the same in PyTorch, on the CPU."""

    @pytest.fixture(params=[(5000, 64, 12), (700, 37, 700), (300, 200, 3)])
    def parts(self, request):
        n, n_bits, c = request.param
        rng = np.random.RandomState(0)
        X = torch.from_numpy(rng.standard_normal((n, 83)).astype(np.float16))
        labels = torch.from_numpy(rng.randint(0, c, n).astype(np.int32))
        packed = np.packbits(rng.randint(0, 2, (n, n_bits)), axis=1)
        words = blocks.as_words(packed, arrays.padded(n, arrays.ROWS), "cpu")
        return X, labels, words, n_bits, c, rng

    @staticmethod
    def both():
        from zshash.scale.device import kernels

        return ((portable, torch.device("cpu")), (kernels, torch.device("cuda")))

    @pytest.mark.parametrize("normalize", [False, True])
    @pytest.mark.parametrize("d", [80, 83])
    def test_similarities(self, parts, normalize, d):
        X = parts[0][:, :d].contiguous()
        found = []
        for do, device in self.both():
            anchors = X[:60].float()
            if normalize:
                anchors = torch.nn.functional.normalize(anchors, dim=1)
            options = {"is_half": True, "normalize": normalize}
            kernel = blocks.DeviceKernel(anchors.numpy(), 1.5 * d**0.5, device, **options)
            direction = torch.linspace(-1, 1, d, device=device)
            moments = do.moments(X.to(device), direction, normalize)
            found.append([kernel(X.to(device)).cpu(), *(moment.cpu() for moment in moments)])
        for mine, theirs in zip(*found, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=2e-3, atol=2e-3)

    @pytest.mark.parametrize("n_sweeps", [1, 3])
    def test_descent_and_sums(self, parts, n_sweeps):
        X, labels, words, n_bits, c, rng = parts
        A = rng.standard_normal((n_bits, 9)) / 3
        H = torch.from_numpy(rng.standard_normal((arrays.padded(n_bits, 64), len(words))))
        found = []
        for do, device in self.both():
            codes = blocks.Codes(len(X), n_bits, words.clone().to(device), do)
            G = torch.from_numpy(A @ A.T).to(device)
            flips = do.descend(
                H.float().to(device), codes.words, codes.signs, G, len(X), n_sweeps=n_sweeps
            )
            classes = blocks.Classes(labels.to(device), c)
            sums = do.sum_by_class(codes, classes)[:, :n_bits].cpu()
            found.append((int(flips), codes.packed(), sums.numpy(), codes.signs[:n_bits].cpu()))
        (flips, packed, sums, own), (flips_, packed_, sums_, own_) = found
        assert flips_ == pytest.approx(flips, rel=1e-3)
        assert share_of_equal_bits(packed, packed_) > 0.999
        if np.array_equal(packed, packed_):
            np.testing.assert_array_equal(sums, sums_)
            assert torch.equal(own, own_)

    def test_projections(self, parts):
        _, labels, words, n_bits, c, rng = parts
        n = len(labels)
        Psi = torch.from_numpy(rng.standard_normal((len(words), 128)).astype(np.float16))
        P = torch.from_numpy(rng.standard_normal((101, n_bits)))
        table = torch.from_numpy(rng.standard_normal((c, n_bits)).astype(np.float32))
        found = []
        for do, device in self.both():
            halves = arrays.Halves(P.to(device), 128)
            H = torch.zeros((arrays.padded(n_bits, 64), len(words)), device=device)
            do.field(Psi.to(device), halves, table.to(device), labels.to(device), 0.1, n, H)
            packed = torch.empty((n, -(-n_bits // 8)), dtype=torch.uint8, device=device)
            do.signs(Psi.to(device), halves, n_bits, packed)
            found.append((H[:n_bits, :n].cpu(), packed.cpu().numpy()))
        torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-4, atol=1e-4)
        assert share_of_equal_bits(found[0][1], found[1][1]) > 0.9999
