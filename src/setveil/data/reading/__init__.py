"""`read()` and its sisters: whatever people have becomes records."""
