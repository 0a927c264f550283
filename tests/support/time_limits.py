"""Finds limits of time in tests that a busy machine could exceed: assertions, deadlines and timeouts of less than a minute.

How long something takes is measured in `benchmarks`. A test may only say that nothing hangs.
"""

import ast
import operator
from pathlib import Path

SHORTEST_SECONDS = 60
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}
GIVEN_UP_AFTER = {"communicate", "run", "check_call", "check_output", "wait", "get"}
"""Functions that fail when their `timeout` is over."""
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
LESS, MORE = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


def short_limits(source, folder):
    """Return the lines of a test's source that limit time to less than a minute; `folder` holds the modules that it imports from."""
    tree = ast.parse(source)
    numbers, measured = _numbers(tree, folder), _measured_names(tree)
    return sorted({node.lineno for node in ast.walk(tree) if _is_short(node, numbers, measured)})


def _is_short(node, numbers, measured):
    if isinstance(node, ast.Assert):
        return any(_bounds(one, numbers, measured) for one in ast.walk(node.test) if isinstance(one, ast.Compare))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _reads_clock(node.left, set()):
        return _below(_value(node.right, numbers))
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        limits = [one.value for one in node.keywords if one.arg == "timeout"] if name in GIVEN_UP_AFTER else []
        limits += node.args if name == "alarm" else []
        return any(_below(_value(limit, numbers)) and _value(limit, numbers) != 0 for limit in limits)
    return False


def _bounds(compare, numbers, measured):
    """Tell whether a comparison says that a measured time is less than a minute, or less than what cannot be known here."""
    sides = [compare.left, *compare.comparators]
    for left, sign, right in zip(sides, compare.ops, sides[1:], strict=False):
        time, limit = (left, right) if isinstance(sign, LESS) else (right, left)
        if isinstance(sign, LESS + MORE) and _reads_clock(time, measured) and not _reads_clock(limit, measured):
            value = _value(limit, numbers)
            return value is None or _below(value)
    return False


def _below(value):
    return value is not None and value < SHORTEST_SECONDS


def _reads_clock(node, measured):
    """Tell whether a time is in an expression: a clock, the seconds of a run, or a name that was made of such."""
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            if one.func.attr in CLOCKS and getattr(one.func.value, "id", None) == "time":
                return True
        elif (isinstance(one, ast.Attribute) and one.attr == "seconds") or getattr(one, "id", None) in measured:
            return True
    return False


def _measured_names(tree):
    found, before = set(), None
    while found != before:
        before = set(found)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AugAssign) and _reads_clock(node.value, found):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr == "append" and isinstance(called.value, ast.Name):
                found.update({called.value.id} if any(_reads_clock(one, found) for one in node.args) else ())
    return found


def _numbers(tree, folder):
    """Return the numbers that names stand for: those of the module, and those that it imports from a module of the tests."""
    found = {}
    for node in tree.body:
        if (
            isinstance(node, ast.ImportFrom)
            and (module := Path(folder, *node.module.split("."))).with_suffix(".py").is_file()
        ):
            theirs = _numbers(ast.parse(module.with_suffix(".py").read_text(encoding="utf-8")), folder)
            found |= {one.asname or one.name: theirs[one.name] for one in node.names if one.name in theirs}
        if isinstance(node, ast.Assign) and (value := _value(node.value, found)) is not None:
            found |= {target.id: value for target in node.targets if isinstance(target, ast.Name)}
    return found


def _value(node, numbers):
    """Return the number that an expression stands for; None if it cannot be known here."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name):
        return numbers.get(node.id)
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        left, right = _value(node.left, numbers), _value(node.right, numbers)
        return None if left is None or right is None else ARITHMETIC[type(node.op)](left, right)
    return None
