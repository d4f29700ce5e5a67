"""`python -m twinstep`: the `twinstep` command."""

import sys

from twinstep.cli import main

sys.exit(main())
