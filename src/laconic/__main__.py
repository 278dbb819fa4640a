"""``python -m laconic``: the command line."""

import sys

from laconic.cli import main

if __name__ == "__main__":
    sys.exit(main())
