"""Networks of OpenCLIP, which encode pictures and texts as vectors in one space."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from zshash._extras import needs
from zshash.images.torch_extractor import (
    DEFAULT,
    TorchExtractor,
    check_weights,
    load_weights,
    make,
)
from zshash.images.torch_libraries import check_known, labelled, quiet, report_nothing

__all__ = ["open_clip_extractor"]


def open_clip_extractor(
    name: str, *, weights: Any = DEFAULT, device: str | None = None, batch_size: int | None = None
) -> TorchExtractor:
    """The part of a CLIP network that encodes pictures; its `text` encodes texts.

    Parameters
    ----------
    name : str
        The network and the name of its weights: "ViT-B-32/laion2b_s34b_b79k". The name of
        the weights may be left out if `weights` is a file or "random".
    weights, device, batch_size
        As in `torchvision_extractor`.
    """
    report_nothing()
    with needs("torch"):
        import open_clip
    check_weights(weights)
    network, _, tag = name.partition("/")
    label = f"open_clip:{name}"
    check_known(label, network, open_clip.list_models())
    if tag or weights == DEFAULT:
        check_known(label, tag, open_clip.list_pretrained_tags_by_model(network))
    with quiet():
        module, _, transform = make(
            label,
            weights,
            lambda fetch: open_clip.create_model_and_transforms(
                network, pretrained=tag if fetch else None
            ),
        )
    with labelled(label):
        load_weights(module, weights)
        return TorchExtractor(
            label,
            module,
            module.encode_image,
            transform,
            side=_longest(module.visual.image_size),
            device=device,
            batch_size=batch_size,
            encode_text=_text_encoder(label, module, lambda: open_clip.get_tokenizer(network)),
        )


def _text_encoder(
    label: str, module: Any, load: Callable[[], Callable[[list[str]], Any]]
) -> Callable[[list[str]], Any]:
    """Function from texts to a tensor of vectors; it loads the tokenizer at its first call."""

    @cache
    def tokenizer() -> Callable[[list[str]], Any]:
        try:
            with quiet():
                return load()
        except Exception as error:  # the libraries have many ways to fail at this
            reason = " ".join(str(error).split())[:200]
            raise ValueError(f"{label}: its tokenizer can not be loaded ({reason})") from error

    return lambda texts: module.encode_text(tokenizer()(texts).to(next(module.parameters()).device))


def _longest(size: int | Sequence[int]) -> int:
    return size if isinstance(size, int) else max(size)
