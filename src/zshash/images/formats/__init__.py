"""Files of pictures, kind by kind: what they announce, what cameras noted, and their pixels."""
