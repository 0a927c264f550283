"""Rows to records in plain Python: what grouping a long table and numbering texts mean."""


def codes_of(batches):
    """Number texts in the order of their first appearance; return the numbers of each batch, and the texts."""
    known = {}
    return [[known.setdefault(text, len(known)) for text in batch] for batch in batches], list(known)


def records_of_rows(rows):
    """Return id and set of items of each record, in the order in which ids first appear."""
    records = {}
    for name, item in rows:
        records.setdefault(name, set()).add(item)
    return list(records.items())
