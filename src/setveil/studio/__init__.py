"""The studio: a local web page, and the REST API under it.

It computes nothing about data: each job is the command line in a child process.
"""
