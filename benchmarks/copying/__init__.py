"""Copies of pictures, changed in known ways, and the peer that looks for them."""
