"""Pixels with a colour profile, turned into those of sRGB, which every screen shows alike."""

from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from zshash._extras import needs
from zshash.images.formats.profiles import MOST_BYTES

with needs("images"):
    from PIL import Image, features

if TYPE_CHECKING:
    from PIL.ImageCms import ImageCmsTransform

__all__ = ["to_srgb"]

LEAST_BYTES = 132  # a header, and how many tags there are
SCREENS = (b"mntr", b"scnr", b"prtr", b"spac")  # kinds of profiles that pixels are turned from
NAMES = (b"sRGB", "sRGB".encode("utf-16-be"))


def to_srgb(image: Image.Image) -> Image.Image:
    """The picture in sRGB, by the profile in its `info`; as it is if there is none that fits.

    A profile of inks or of greys does not fit: `decode` has made RGB of them before.
    """
    transform = _transform(image.info.get("icc_profile") or b"")
    if transform is None:
        return image
    turned = image.copy()
    transform.apply_in_place(turned)
    return turned


@lru_cache(maxsize=16)
def _transform(profile: Any) -> "ImageCmsTransform | None":
    """What turns the colours of a profile into sRGB; None if nothing is to be turned."""
    if not _is_other(profile) or not features.check("littlecms2"):
        return None
    from PIL import ImageCms

    try:
        own = ImageCms.ImageCmsProfile(BytesIO(profile))
        return ImageCms.buildTransform(
            own,
            ImageCms.createProfile("sRGB"),
            "RGB",
            "RGB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):  # damaged, or of a kind too rare
        return None


def _is_other(profile: Any) -> bool:
    """Whether bytes are the profile of red, green and blue in another sense than that of sRGB."""
    if not isinstance(profile, bytes) or not LEAST_BYTES <= len(profile) <= MOST_BYTES:
        return False
    is_profile = profile[36:40] == b"acsp" and profile[16:20] == b"RGB "
    return is_profile and profile[12:16] in SCREENS and not any(name in profile for name in NAMES)
