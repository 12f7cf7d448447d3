"""Export and import of a collection's codes, and search in files of codes."""
