"""Storage of a collection: catalogue, model, snapshots and lock in its folder, and the index."""
