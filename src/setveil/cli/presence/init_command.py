"""`setveil presence init`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.cli.options import ForceOption, OutputOptions, about
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode
from setveil.presence.certificates import grouped_digits
from setveil.presence.channel import PARTY_NAMES, Role
from setveil.presence.home import CERTIFICATE


def init(
    home: Annotated[
        str, about("The folder of the party's home: a new one, or an existing one to pin certificates in.")
    ],
    /,
    *,
    role: Annotated[
        Role | None, about("The party of a new home: a for provider A, b for provider B, c for the collector.")
    ] = None,
    name: Annotated[
        str | None, about("The name in the certificate of a new home, for example the company's name.")
    ] = None,
    pin_a: Annotated[str | None, about(f"The certificate of {PARTY_NAMES['a']}, to pin.")] = None,
    pin_b: Annotated[str | None, about(f"The certificate of {PARTY_NAMES['b']}, to pin.")] = None,
    pin_c: Annotated[str | None, about(f"The certificate of {PARTY_NAMES['c']}, to pin.")] = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Create the home of a party, and pin the certificates of the other parties.

    A home holds the party's private key, its certificate, the key that its dummies are drawn with, the pinned certificates of the other
    parties and the ledger of runs. Give certificate.pem to the other parties, compare the fingerprints by telephone, and pin their
    certificates with the same command. Keep the home: a second run with another dummy key would separate real users from dummies.

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
    say(f"{made.folder} is the home of {PARTY_NAMES[made.role]}")
    say(f"its certificate {made.folder / CERTIFICATE} has the fingerprint {grouped_digits(fingerprint)}")
    for one in made.pinned.values():
        say(f"pinned: {one.party}, {grouped_digits(one.fingerprint)}")
    if made.not_pinned:
        lacking = " and ".join(PARTY_NAMES[party] for party in made.not_pinned)
        options = " and ".join(f"--pin-{party} FILE" for party in made.not_pinned)
        say(f"not pinned yet: {lacking}; pin with {options}")
    return ExitCode.OK
