"""What everything stands on: declarations, atomic files, progress, arguments and tables for people."""
