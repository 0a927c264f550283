import platformdirs
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from setveil.base.cache_directory import find_cache_directory


@pytest.mark.parametrize(("system", "usual"), [(Unix, ".cache/setveil"), (MacOS, "Library/Caches/setveil")])
def test_the_cache_is_where_the_system_keeps_caches_unless_said_otherwise(monkeypatch, tmp_path, system, usual):
    monkeypatch.setattr(platformdirs, "PlatformDirs", system)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SETVEIL_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert find_cache_directory() == tmp_path / usual
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find_cache_directory() == tmp_path / "xdg" / "setveil"
    monkeypatch.setenv("SETVEIL_CACHE_DIR", str(tmp_path / "mine"))
    assert find_cache_directory() == tmp_path / "mine"
    monkeypatch.setenv("SETVEIL_CACHE_DIR", "")
    assert find_cache_directory() == tmp_path / "xdg" / "setveil"
    assert list(tmp_path.iterdir()) == []
