"""What a release cost and what it still tells, one idea a file."""
