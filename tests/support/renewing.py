"""Making a release folder whose files were changed look as if it had been published so."""

import json
from dataclasses import asdict
from pathlib import Path

from setveil.data.formats import Layout
from setveil.data.forms.base import DataPlace
from setveil.release.card import file_sha256
from setveil.release.opening import form_named


def edit_json(path, edit):
    """Change a JSON file in place."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    edit(whole)
    path.write_text(json.dumps(whole), encoding="utf-8")


def renew_checksums(release):
    """Write the checksums of all files on the card."""

    def edit(card):
        for part in (card["data"], *card["data"]["beside"]):
            part["sha256"] = file_sha256(Path(release) / part["file"])

    edit_json(Path(release) / "card.json", edit)


def renew_card(release):
    """Write checksums and counts on the card, as somebody would who has the release alone and wants it to pass."""
    release = Path(release)
    renew_checksums(release)

    def edit(card):
        data = card["data"]
        form = form_named(card["form"], file="")
        place = DataPlace(release, data["file"], form.format_named(data["format"]), Layout(**data["layout"]))
        card["counts"] = asdict(form.read_from(place, card["unit"]).totals())
        reach = card["guarantee"].get("reach")
        if reach is not None:
            reach |= {"total": card["counts"]["records"]}

    edit_json(release / "card.json", edit)


def renew_both(release, private):
    """Write the same in the private folder too, so that only the check of the content itself can notice a change."""
    renew_card(release)
    card = json.loads((Path(release) / "card.json").read_text(encoding="utf-8"))
    edit_json(Path(private) / "dossier.json", lambda dossier: dossier.update(card=card))
