"""`python -m labs` is `wiretable`."""

import sys

try:
    from labs.cli import main

    main(prog_name="wiretable")
except KeyboardInterrupt:  # before there was anything to end
    sys.exit(130)
