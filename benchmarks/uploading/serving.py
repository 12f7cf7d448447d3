"""The server as a separate process, and its state as seen from outside."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from uploading.requests import TOKEN

__all__ = ["ServerProcess"]

TIMEOUT = 5  # seconds that a request may take


class ServerProcess:
    """`zshash serve` with a collection that may be changed.

    Parameters
    ----------
    folder : Path
        Folder of the collection.
    scratch : Path
        A folder for its temporary files and its output.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.temporary, self._said = scratch / "temporary", scratch / "errors"
        self.temporary.mkdir()
        command = [sys.executable, "-m", "zshash.cli", "serve", str(folder), "--port", "0"]
        command += ["--writable", "--timeout", str(TIMEOUT)]
        more = {"ZSHASH_TOKEN": TOKEN, "TMPDIR": str(self.temporary)}
        with self._said.open("wb") as errors:
            self._process = subprocess.Popen(
                command, env=os.environ | more, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self._process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self._process.stdout.readline())
        if found is None:
            raise RuntimeError(f"the server did not start: {self._said.read_text()}")
        self.port = int(found[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def is_alive(self) -> bool:
        """Whether the server still runs."""
        return self._process.poll() is None

    def memory(self) -> tuple[float, float]:
        """Memory now and at the peak, in megabytes."""
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        now, most = (int(re.findall(rf"{name}:\s+(\d+)", text)[0]) for name in ("VmRSS", "VmHWM"))
        return now / 1024, most / 1024

    def descriptors(self) -> int:
        """Number of open files and connections."""
        return len(list(Path(f"/proc/{self._process.pid}/fd").iterdir()))

    def complaints(self) -> list[str]:
        """The last lines of uncaught errors."""
        blocks = self._said.read_text(errors="replace").split("Traceback (most recent call last)")
        ends = [[line for line in block.splitlines() if line[:1].strip()] for block in blocks[1:]]
        return [lines[1] if len(lines) > 1 else "an error" for lines in ends]

    def stop(self) -> int:
        """Stop the server and wait for its end; returns its exit status."""
        if self.is_alive:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
