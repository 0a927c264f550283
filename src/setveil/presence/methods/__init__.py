"""Methods that make a joined table, one file per method."""

MEMBERS = {
    "dummy-users": "dummy_users.DummyUsers",
    "extended-mondrian": "extended_mondrian.ExtendedMondrian",
    "mpalm": "mpalm.Mpalm",
    "mondrian": "mondrian.Mondrian",
}
"""The name of each method, its module and its class, in the order of lists and help texts."""
