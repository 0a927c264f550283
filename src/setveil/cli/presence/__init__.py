"""The commands of `setveil presence`."""
