"""An album of pictures and copies of them."""

import os
import shutil

from tests.images.scenes import cropped, jpeg, saved, scene, with_a_blot


def write(path, content, mtime=None):
    """Write a file, with a time that is not now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    return path


def write_pictures(folder):
    """Six pictures; a smaller, a cropped and an equal copy, and another shot of some of them."""
    for seed in range(6):
        write(folder / f"{seed}.png", saved(scene(seed), "PNG"), mtime=1_500_000_000 + seed)
    write(folder / "small" / "0.jpg", saved(scene(0).resize((120, 90))), mtime=1_400_000_000)
    write(folder / "cut" / "1.png", saved(jpeg(cropped(scene(1), 0.08, 0.03)), "PNG"))
    write(folder / "shot" / "2.jpg", saved(with_a_blot(scene(2))))
    shutil.copyfile(folder / "3.png", folder / "again.png")
    return folder
