"""Pictures with their codes in a folder that survives a crash."""
