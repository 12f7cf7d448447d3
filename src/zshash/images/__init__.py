"""Pictures to features."""
