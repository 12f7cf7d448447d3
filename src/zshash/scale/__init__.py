"""The same fits and codes where features do not fit into memory, or into one machine."""

from zshash.scale.cluster import ClusterError
from zshash.scale.fitting import encode, fit, frozen
from zshash.scale.tables import DeviceError, ShardError

__all__ = ["ClusterError", "DeviceError", "ShardError", "encode", "fit", "frozen"]
