"""The content of files: texts, columns, lines, compression, and assembling records from them."""
