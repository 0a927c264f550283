"""Methods that hide what a person leans to."""
