"""What stands in files: texts, columns, lines, packing, and how records are put together from them."""
