"""`setveil releases` and `setveil withdraw`: the register."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.cli.options import OutputOptions, about
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode

RegisterOption = Annotated[str, about("The register, as given to setveil publish.")]


def releases(*, register: RegisterOption, output: OutputOptions) -> ExitCode:
    """List the releases in a register.

    The list shows who got which release, and which releases you accepted or withdrew, with your reasons.

    Example:
      setveil releases --register releases.db
    """
    found = sv.releases(register)
    if output.json:
        say_json([one.to_dict() for one in found])
        return ExitCode.OK
    for table in found.tables():
        say_table(table.header, table.rows)
    if not found:
        say("no releases")
    return ExitCode.OK


def withdraw(
    release: Annotated[str, about("The number of the release in the list, the id of its run, or its release folder.")],
    /,
    *,
    register: RegisterOption,
    reason: Annotated[str, about("Why the release is withdrawn.")] = "",
    output: OutputOptions,
) -> ExitCode:
    """Mark a release in a register as withdrawn.

    Joint checks still include the release, because its recipients have the data.

    Example:
      setveil withdraw 1 --register releases.db --reason "the project ended"
    """
    changed = sv.withdraw(register, release, reason=reason)
    if output.json:
        say_json(changed.to_dict())
    else:
        say(
            f"Release {changed.number} is withdrawn. Joint checks still include it, because its recipients have the data."
        )
    return ExitCode.OK
