"""`python -m nodes …` is `wiretable node …`, without the rest of the lab."""

from nodes.main import node

node(prog_name="wiretable node")
