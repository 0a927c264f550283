"""The control array, through which a long loop tells how far it is and hears that it should stop.

A loop writes how much is done to `control[DONE]` and returns early, with whatever it has, once `control[STOP]` is not 0. The
module `threads` makes these arrays.
"""

from __future__ import annotations

DONE = 0
STOP = 1
CONTROL_WIDTH = 8
"""Control arrays are as long as a cache line, so that two threads do not write to the same one."""
