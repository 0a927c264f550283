"""Attacks: what an attacker with stated knowledge finds out from a release, tried on the people in it."""

MEMBERS = {
    "find-record": "find_record.FindRecord",
    "guess-items": "guess_items.GuessItems",
    "within-group": "within_group.WithinGroup",
    "near-the-limit": "near_the_limit.NearTheLimit",
    "learned": "learned.Learned",
    "holes": "holes.Holes",
    "absent-category": "absent_category.AbsentCategory",
    "which-sensitive": "which_sensitive.WhichSensitive",
    "membership": "membership.Membership",
    "downcode": "downcode.Downcode",
}
"""The name of each attack, its module and its class, in the order in which they are listed."""
