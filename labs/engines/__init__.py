"""Where a run takes place: one engine a file."""
