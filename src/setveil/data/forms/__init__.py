"""Forms of published data, one module each. A form in `MEMBERS` can be published, opened and checked, and is tested."""

MEMBERS = {
    "Transactions": "records.transactions",
    "Generalized": "forms.generalized",
    "Grouped": "forms.grouped",
    "Disassociated": "forms.disassociated",
    "Reassociated": "forms.reassociated",
}
"""The class of each form and its module in `setveil.data`, by name, so that one form does not import all of them."""
