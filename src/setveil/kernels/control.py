"""The control array, through which a long loop tells how far it is and hears that it should stop.

A loop writes how much is done to `control[DONE]` and returns early, with whatever it has, once `control[STOP]` is not 0. Here, below the
engines that make these arrays, since the hash of the kernels' sources covers this folder.
"""

from __future__ import annotations

DONE = 0
STOP = 1
CONTROL_WIDTH = 8
"""Control arrays are as long as a cache line, so that two threads do not write to the same one."""
