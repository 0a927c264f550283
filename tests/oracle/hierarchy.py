"""What a tree over items is, straight from the definition: a parent of each node but one, looked up step by step.

Everything takes the tree as a mapping from node to parent, in which the root is a parent and no key.
"""

from __future__ import annotations


def rooted(parent_of):
    """Return the mapping with one root: a run of stars that is no name stands above several nodes without parent."""
    tops = {parent for parent in parent_of.values() if parent not in parent_of}
    if len(tops) == 1:
        return dict(parent_of)
    names = set(parent_of) | tops
    root = next("*" * count for count in range(1, len(names) + 2) if "*" * count not in names)
    return {**parent_of, **dict.fromkeys(tops, root)}


def nodes(tree):
    return set(tree) | set(tree.values())


def leaves(tree):
    return {node for node in nodes(tree) if node not in tree.values()}


def ancestors(tree, node):
    """Return the nodes above, from the nearest on."""
    above = []
    while node in tree:
        node = tree[node]
        if node in above:
            raise ValueError("the parents go round in a circle")
        above.append(node)
    return above


def root(tree):
    (top,) = (node for node in nodes(tree) if node not in tree)
    return top


def children(tree, node):
    return {child for child, parent in tree.items() if parent == node}


def leaves_under(tree, node):
    return {leaf for leaf in leaves(tree) if leaf == node or node in ancestors(tree, leaf)}


def group_at(tree, leaf, distance):
    """Return the ancestor of an item at this distance from the root, or None."""
    from_the_root = [*reversed(ancestors(tree, leaf))]
    return from_the_root[distance] if distance < len(from_the_root) else None


def tree_by_path(rows):
    """Return the tree of rows (item, most specific name, ..., most general name), nodes named by their path from the top."""
    tree = {}
    for item, *names in rows:
        named = [name for name in names if name]
        paths = ["/".join(name.replace("/", "//") for name in reversed(named[at:])) for at in range(len(named))]
        tree |= dict(zip([item, *paths[:-1]], paths, strict=True))
    return rooted(tree)


def is_balanced(tree, fanout):
    """Tell whether all items are equally deep, and each node has at most `fanout` children with nearly as many items below each."""
    if len({len(ancestors(tree, leaf)) for leaf in leaves(tree)}) != 1:
        return False
    for node in set(tree.values()):
        items = [len(leaves_under(tree, child)) for child in children(tree, node)]
        if len(items) > fanout or max(items) - min(items) > 1:
            return False
    return True
