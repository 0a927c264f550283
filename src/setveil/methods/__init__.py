"""Methods that reach guarantees, and baselines: one file per method, named after it."""
