"""What was seen: recording and reading captures."""
