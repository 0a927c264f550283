"""`setveil presence init`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from setveil.cli.options import FORCE, Option, argument
from setveil.cli.show import say, say_json
from setveil.errors import BadParameter, Missing, OutputRefused
from setveil.presence.certificates import in_pairs
from setveil.presence.channel import PARTY_IN_WORDS, Role
from setveil.presence.home import CERTIFICATE, Home

TEXT = """A home holds the private key of the party, its certificate, the key that draws its dummies, the pinned certificates of the
others and the ledger of runs. Hand certificate.pem to the others, compare the fingerprints by telephone, and pin theirs with the same
command. Keep the home: with another key of dummies a second run would tell real users from dummies.

Example:
  setveil presence init bank --role a"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("home", "The folder of the party's home, to make or to add pinned certificates to."),
        Option("role", Literal["a", "b", "c"], "Provider A, provider B, or c for the collector; for a new home."),
        Option("name", str, "A name for the certificate, such as that of the company."),
        *(
            Option(f"pin_{role}", str, f"The certificate of {PARTY_IN_WORDS[role]}, to pin.")
            for role in ("a", "b", "c")
        ),
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Make a home, or add to one."""
    folder = Path(given["home"])
    roles: tuple[Role, ...] = ("a", "b", "c")
    pins = {role: Path(given[f"pin_{role}"]) for role in roles if given[f"pin_{role}"]}
    if folder.exists():
        if given["role"] and not (folder / CERTIFICATE).exists():
            raise OutputRefused(f"{folder} exists and is not a party's home; name another place")
        home = Home.open(folder, replacing=pins if given["force"] else ())
        if given["name"] is not None:
            raise BadParameter(f"{folder} is a home already, whose certificate keeps its name; --name is for a new one")
        if given["role"] not in (None, home.role):
            raise BadParameter(
                f"{folder} is the home of {PARTY_IN_WORDS[home.role]}, not of {PARTY_IN_WORDS[given['role']]}"
            )
    elif given["role"] is None:
        raise Missing(f"{folder} is not there; make a home with --role a, b or c")
    else:
        for role, file in pins.items():  # a home is not made where what is to be pinned cannot be
            Home.refuse_pin(given["role"], role, file)
        home = Home.create(folder, given["role"], name=given["name"] or "")
    for role, file in pins.items():
        home = home.pin(role, file, force=given["force"])
    lacking = [role for role in roles if role != home.role and role not in home.pinned]
    if given["json"]:
        pinned = {role: one.fingerprint for role, one in home.pinned.items()}
        say_json({
            "home": str(folder), "role": home.role, "fingerprint": home.certificate.fingerprint, "pinned": pinned,
        })  # fmt: skip
        return 0
    say(f"{folder} is the home of {PARTY_IN_WORDS[home.role]}")
    say(f"its certificate {folder / 'certificate.pem'} has the fingerprint {in_pairs(home.certificate.fingerprint)}")
    for one in home.pinned.values():
        say(f"pinned: {one.party}, {in_pairs(one.fingerprint)}")
    if lacking:
        options = [f"--pin-{role} FILE" for role in lacking]
        say(
            f"not pinned yet: {' and '.join(PARTY_IN_WORDS[role] for role in lacking)}; add with {' and '.join(options)}"
        )
    return 0
