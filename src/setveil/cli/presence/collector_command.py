"""`setveil presence collector`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import setveil as sv
from setveil.base.display import quantity
from setveil.cli.options import ForceOption, OutputOptions, PrivateFolderOption, ReleaseFolderOption, about
from setveil.cli.presence.options import HomeOption, PolicyOption, WaitOption
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode
from setveil.release.card import CARD_NAME


def collector(
    *,
    home: HomeOption,
    policy: PolicyOption,
    listen: Annotated[str, about("The address to listen on for both providers, as HOST:PORT.")],
    out: ReleaseFolderOption,
    private: PrivateFolderOption = None,
    timeout: Annotated[
        float,
        about(
            "Stop if a provider sends nothing for this number of seconds. Providers send nothing to the collector while they divide. "
            "A lost connection is noticed earlier."
        ),
    ] = 3600.0,
    wait: WaitOption = 600.0,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    r"""Run the collector over the network.

    Waits for both providers, in any order, and joins their halves. It publishes the table after all three parties have checked the policy:
    each provider checks its own side of δ-site-presence, and the collector checks k-anonymity on the written file. The collector never
    sees ids or the sizes of groups in the population.

    Example:
      setveil presence collector --home agency --policy policy.toml \
          --listen 0.0.0.0:7002 --out joined
    """
    folder = Path(out)
    agreed = sv.read_policy(policy)
    party = sv.Home.open(home)
    found = sv.collect(party, agreed, listen, folder, private=private, timeout=timeout, wait=wait, force=force)
    card = found.card
    if output.json:
        say_json({"out": str(folder), "card": card.model_dump(mode="json"), "costs": found.costs.to_dict()})
        return ExitCode.OK
    counts = f"{quantity(card.counts.records, 'record')} in {quantity(card.counts.groups, 'group')}"
    say(f"{folder}/ holds {counts}; {folder / CARD_NAME} describes the table")
    say(card.secure_computation)
    return ExitCode.OK
