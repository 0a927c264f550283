"""Work on data in blocks: the verbs, and the engines that run them.

A block is an Arrow record batch with a fixed number of rows (`block_records`), and blocks are in the order of the data. Work gets one block
and its key and returns a block or counts. It may depend on nothing else, so every engine gives the same bytes, whatever its threads,
workers and repeated attempts. Only whole numbers are summed across blocks.
"""
