"""`python -m tools.evidence`."""

import sys

from tools.evidence.command import main

sys.exit(main())
