"""Methods as parameters of tests; those whose fits need PyTorch are marked."""

import pytest

import zshash


def marks(method):
    """Marks of a test that fits this method."""
    if not method.extra:
        return []
    reason = f"needs {method.extra}: make {method.extra} brings it"
    return [
        getattr(pytest.mark, method.extra),
        pytest.mark.skipif(not method.is_available, reason=reason),
    ]


def each(names=None):
    """A parameter for each of these methods, or for all."""
    methods = zshash.methods()
    return [pytest.param(name, marks=marks(methods[name])) for name in names or methods]
