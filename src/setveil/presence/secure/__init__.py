"""Secure computation behind a narrow interface, with three backends."""
