"""Forms of published data, one module each. A form in `MEMBERS` can be published, opened and checked, and is tested."""

MEMBERS = {
    "transactions": "records.transactions.Transactions",
    "generalized": "forms.generalized.Generalized",
    "grouped": "forms.grouped.Grouped",
    "disassociated": "forms.disassociated.Disassociated",
    "reassociated": "forms.reassociated.Reassociated",
}
"""The name of each form, its module in `setveil.data` and its class, so that one form does not import all of them."""
