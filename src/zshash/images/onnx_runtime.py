"""ONNX Runtime, imported with its telemetry switched off.

Its import alone writes a device identifier and a queue of usage events for Microsoft to the user's
cache folder. Only an environment variable that is set before the import prevents this, so
everything in zshash imports ONNX Runtime from this module. A value that the user has given to the
variable is left as it is.
"""

import os
import sys

from zshash._extras import needs
from zshash._warnings import warn_user

__all__ = ["onnxruntime"]

SWITCH = "ORT_DISABLE_TELEMETRY"

if not os.environ.get(SWITCH):
    if "onnxruntime" in sys.modules:
        warn_user(
            "onnxruntime was imported before zshash could switch its telemetry off: it queues "
            "usage events for Microsoft in the cache folder of the user. To prevent this, set "
            f"the environment variable {SWITCH}=1 before the program starts"
        )
    os.environ[SWITCH] = "1"  # the processes that this one starts inherit it

with needs("images"):
    import onnxruntime
