"""How guarantees are reached: one file a method, named after it."""
