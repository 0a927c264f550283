"""A joined table as a release: its card, its folders, and runs from files to files."""
