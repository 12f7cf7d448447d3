"""What pytest leaves out where an extra is missing: doctests import the modules they are in."""

from importlib.util import find_spec

collect_ignore_glob = []
if find_spec("torch") is None:
    collect_ignore_glob += ["src/zshash/scale/device/*"]
elif find_spec("triton") is None:
    collect_ignore_glob += ["src/zshash/scale/device/kernels.py"]
