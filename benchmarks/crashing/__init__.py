"""What the programs that attack collections share: a small world, its truth, and processes."""
