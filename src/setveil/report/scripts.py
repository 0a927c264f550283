"""The scripts of a page with charts: Vega, Vega-Lite and Vega-Embed as one text, from the installed vl-convert.

Bundling takes vl-convert two seconds, during which Python handles no signal, not even Ctrl-C. Therefore another process does it once per
version, and the text is stored beside the compiled loops in the user's cache directory.
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

OWN = ("draw.js", "contents.js")
"""The scripts of this package."""


@cache
def scripts(more: tuple[tuple[str, str], ...] = ()) -> tuple[str, ...]:
    """Return the scripts of a page, in the order in which they run; `more` are further files, each with its package."""
    own = [*(("setveil.report", name) for name in OWN), *more]
    text = "".join(files(package).joinpath(name).read_text("utf-8") for package, name in own)
    return _inside_html(libraries()), _inside_html(text)


def security_policy(texts: tuple[str, ...]) -> str:
    """Return a content security policy that allows only these scripts and loads nothing, whatever the page contains."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _inside_html(script: str) -> str:
    """Return an equivalent script that contains no end tag and no comment of HTML."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--").replace("\r\n", "\n")


def libraries() -> str:
    """Return the bundled libraries, from the cache or newly made."""
    stem = f"charts-{version('vl-convert-python')}-"
    kept = _kept(stem)
    if kept is None:
        kept = _joined()
        _keep(stem, kept)
    return kept


def _joined() -> str:
    made = subprocess.run([sys.executable, "-P", "-c", JOINING], check=False, capture_output=True)  # noqa: S603 - our own words
    if (
        made.returncode
    ):  # another process may not find the package, for example if Python is embedded in another program
        import vl_convert  # noqa: PLC0415 - usually not needed here

        return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # its types ask for what has a default
    return made.stdout.decode()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _kept(stem: str) -> str | None:
    """Return the stored text, if its name has the digest of its content."""
    with suppress(OSError, UnicodeDecodeError):
        for path in find_cache_directory().glob(f"{stem}*.js"):
            text = path.read_bytes().decode()
            if path.name == f"{stem}{_digest(text)}.js":
                return text
    return None


def _keep(stem: str, text: str) -> None:
    """Store the text for the next page if possible, and remove the texts of other versions."""
    folder = find_cache_directory()
    with suppress(OSError, OutputRefused):
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{stem}{_digest(text)}.js"
        replace_file(target, text.encode(), is_result=False)
        for other in folder.glob("charts-*.js"):
            if other != target:
                other.unlink()
