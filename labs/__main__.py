"""`python -m labs` is `wiretable`."""

from labs.cli import main

main(prog_name="wiretable")
