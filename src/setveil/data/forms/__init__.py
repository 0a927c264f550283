"""Published forms, one module each; standing in `MEMBERS` is enough to be published, opened, checked and tested."""

MEMBERS = {
    "Transactions": "records.transactions",
    "Generalized": "forms.generalized",
    "Grouped": "forms.grouped",
    "Disassociated": "forms.disassociated",
    "Reassociated": "forms.reassociated",
}
"""The class of each form, and its module below `setveil.data`. Nothing is imported, so that one form does not import all of them."""
