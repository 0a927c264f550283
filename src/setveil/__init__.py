"""Publish set-valued data so that people stay protected and the data stays useful.

    import setveil as sv

    data = sv.read("sample:supermarket")
    method = sv.PartSwap(categories=sv.read_categories("sample:supermarket"))
    release = sv.publish(data, method)          # checked, or raises GuaranteeViolated with the verdict
    release.save("release")                     # two folders: one to hand over, one to keep

`__init__.pyi` lists the public names. Each is imported on first use, so that importing the package stays fast.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, _public_names, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __dir__() -> list[str]:
    """Return the public names, including those not imported yet."""
    return [*_public_names(), "__version__"]
