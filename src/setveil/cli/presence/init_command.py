"""`setveil presence init`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.cli.options import ForceOption, OutputOptions, about
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode
from setveil.presence.certificates import in_pairs
from setveil.presence.channel import PARTY_IN_WORDS, Role
from setveil.presence.home import CERTIFICATE


def init(
    home: Annotated[str, about("The folder of the party's home, to make or to add pinned certificates to.")],
    /,
    *,
    role: Annotated[Role | None, about("Provider A, provider B, or c for the collector; for a new home.")] = None,
    name: Annotated[str | None, about("A name for the certificate, such as that of the company.")] = None,
    pin_a: Annotated[str | None, about(f"The certificate of {PARTY_IN_WORDS['a']}, to pin.")] = None,
    pin_b: Annotated[str | None, about(f"The certificate of {PARTY_IN_WORDS['b']}, to pin.")] = None,
    pin_c: Annotated[str | None, about(f"The certificate of {PARTY_IN_WORDS['c']}, to pin.")] = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Make the keys and the certificate of a party, and pin those of the others.

    A home holds the private key of the party, its certificate, the key that draws its dummies, the pinned certificates of the others and
    the ledger of runs. Hand certificate.pem to the others, compare the fingerprints by telephone, and pin theirs with the same command.
    Keep the home: with another key of dummies a second run would tell real users from dummies.

    Example:
      setveil presence init bank --role a
    """
    named: dict[Role, str | None] = {"a": pin_a, "b": pin_b, "c": pin_c}
    pins = {party: file for party, file in named.items() if file}
    made = sv.Home.open_or_create(home, role=role, name=name, pins=pins, force=force)
    fingerprint = made.certificate.fingerprint
    if output.json:
        pinned = {party: one.fingerprint for party, one in made.pinned.items()}
        say_json({"home": str(made.folder), "role": made.role, "fingerprint": fingerprint, "pinned": pinned})
        return ExitCode.OK
    say(f"{made.folder} is the home of {PARTY_IN_WORDS[made.role]}")
    say(f"its certificate {made.folder / CERTIFICATE} has the fingerprint {in_pairs(fingerprint)}")
    for one in made.pinned.values():
        say(f"pinned: {one.party}, {in_pairs(one.fingerprint)}")
    if made.not_pinned:
        lacking = " and ".join(PARTY_IN_WORDS[party] for party in made.not_pinned)
        options = " and ".join(f"--pin-{party} FILE" for party in made.not_pinned)
        say(f"not pinned yet: {lacking}; add with {options}")
    return ExitCode.OK
