"""Methods that make a joined table, one file per method."""

MEMBERS = {
    "DummyUsers": "dummy_users",
    "ExtendedMondrian": "extended_mondrian",
    "Mpalm": "mpalm",
    "Mondrian": "mondrian",
}
"""The class of each method and its module, in the order of lists and help texts."""
