"""Metrics of tasks: a model is trained on the release and tested on people who are not in it."""
