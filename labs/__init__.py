"""What one does with it: the command line, engines, benchmarks."""
