"""Operations on a collection: adding, searching, syncing, re-encoding, maintenance."""
