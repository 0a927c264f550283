"""How a joined table is made: one file a method."""

MEMBERS = {
    "DummyUsers": "dummy_users",
    "ExtendedMondrian": "extended_mondrian",
    "Mpalm": "mpalm",
    "Mondrian": "mondrian",
}
"""The class of each method and its module, in the order in which people see them."""
