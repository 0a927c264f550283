"""Tables of two providers about the same people, and the table that joins them."""
