"""Methods that keep sensitive items from being inferred."""
