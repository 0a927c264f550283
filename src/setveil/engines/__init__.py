"""Where the work runs: few verbs, the same results everywhere."""
