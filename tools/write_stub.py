"""Write the public names of forms, methods, guarantees, metrics and attacks to `src/setveil/__init__.pyi`, from their registrations."""

from pathlib import Path

from setveil import catalog
from setveil.presence import catalog as joined

STUB = Path(__file__).parents[1] / "src" / "setveil" / "__init__.pyi"
TABLES = [catalog.FORMS, catalog.ATTACKS]
TABLES += [table for one in (catalog, joined) for table in (one.METHODS, one.GUARANTEES, one.METRICS)]


def with_registered_names(stub: str) -> str:
    """Return the stub with a line for every registered class; its other lines stay."""
    kinds = [kind for table in TABLES for kind in table.values()]
    registered = {
        f"from {kind.__module__.removeprefix('setveil')} import {kind.__name__} as {kind.__name__}" for kind in kinds
    }
    imports = {line for line in stub.splitlines() if line.startswith("from ")}
    return "\n".join([*sorted(imports | registered), "", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(with_registered_names(STUB.read_text(encoding="ascii")), encoding="ascii")
