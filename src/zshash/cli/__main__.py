"""``python -m zshash.cli`` is the command line, too."""

from zshash.cli import main

main()
