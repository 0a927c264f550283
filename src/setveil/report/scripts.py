"""The scripts of a page with charts: Vega, Vega-Lite and Vega-Embed as one text, from the installed vl-convert.

Joining them takes vl-convert two seconds in which Python hears nothing, not even Ctrl-C. So another process does it, once for each
version, and the text is kept beside the compiled loops under the user's cache directory.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from setveil.base.atomic import replace_file
from setveil.base.cache_directory import find_cache_directory
from setveil.errors import OutputRefused

JOINING = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"


@cache
def scripts() -> tuple[str, ...]:
    """Return the scripts of a page, in the order in which they run."""
    return _inside_html(_libraries()), _inside_html(files("setveil.report").joinpath("draw.js").read_text("utf-8"))


def security_policy(texts: tuple[str, ...]) -> str:
    """Return a policy under which a page runs these scripts alone and loads nothing, whatever is written on it."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _inside_html(script: str) -> str:
    """Return a script in which HTML sees no end and no comment; what it does stays the same."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def _libraries() -> str:
    """Return the libraries, joined before or now."""
    stem = f"charts-{version('vl-convert-python')}-"
    kept = _kept(stem)
    if kept is None:
        kept = _joined()
        _keep(stem, kept)
    return kept


def _joined() -> str:
    made = subprocess.run([sys.executable, "-P", "-c", JOINING], check=False, capture_output=True)  # noqa: S603 - our own words
    if made.returncode:  # another process may not find what this one does, as where Python is part of another program
        import vl_convert  # noqa: PLC0415 - as a rule it is not needed here

        return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # its types ask for what has a default
    return made.stdout.decode()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _kept(stem: str) -> str | None:
    """Return what was kept, if its name still tells its content."""
    with suppress(OSError, UnicodeDecodeError):
        for path in find_cache_directory().glob(f"{stem}*.js"):
            text = path.read_bytes().decode()
            if path.name == f"{stem}{_digest(text)}.js":
                return text
    return None


def _keep(stem: str, text: str) -> None:
    """Keep the text for the next page, where that can be done, and drop what was kept of other versions."""
    folder = find_cache_directory()
    with suppress(OSError, OutputRefused):
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{stem}{_digest(text)}.js"
        replace_file(target, text.encode(), is_result=False)
        for other in folder.glob("charts-*.js"):
            if other != target:
                other.unlink()
