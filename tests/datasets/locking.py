"""Folders that may not be listed; the tests may run as root, who may do anything."""

import errno
import os


def deny(monkeypatch, folder):
    """Let a folder be one that this user may not list."""
    scan = os.scandir

    def scandir(path):
        if os.fspath(path) == str(folder):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
