"""Compiled loops of setveil. This package holds no code; `setveil.kernels.shipped` describes its files."""
