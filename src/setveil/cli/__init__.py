"""The command line: commands built from the catalog."""
