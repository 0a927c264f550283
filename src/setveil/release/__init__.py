"""Make, write, open, check and measure releases."""
