"""What tests of data share: files to read, and databases."""

import gzip

import pytest

from support.databases import fill, sqlite_url  # noqa: F401 - fixtures
from support.postgres import postgres_server  # noqa: F401 - the same


@pytest.fixture
def written(tmp_path, request):
    """Give a function that writes a file, packed if its name ends in .gz; without a name it is the module's FILE_NAME."""

    def write(content, name=None):
        path = tmp_path / (name or request.module.FILE_NAME)
        content = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write
