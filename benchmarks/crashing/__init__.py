"""What `crash.py` is made of: what must be there, who writes, and who looks."""
