"""The rules of the house that can be checked: arrows between rooms, what may be imported, what must be documented."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest
from importlinter import cli as import_linter

from setveil.catalog import FORMS, GUARANTEES, METHODS, METRICS
from setveil.data.forms.base import Published
from setveil.presence import catalog as joined

from support.time_limits import short_limits

REPOSITORY = Path(__file__).parents[1]
SOURCES = sorted((REPOSITORY / "src").rglob("*.py"))


def test_arrows_point_down_only(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    assert import_linter.lint_imports() == 0


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, setveil; print([m for m in ('numpy','numba','pyarrow','pydantic','cyclopts','rich') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


COMMAND = """
import json, sys
from setveil.cli.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code
print(json.dumps(sorted(sys.modules)))
"""
UNUSED = ("pandas", "altair", "scipy.linalg", "scipy.optimize", "vl_convert", "setveil.presence.catalog")


def imported_by(*arguments):
    """Return the modules that a command imports."""
    found = subprocess.run([sys.executable, "-c", COMMAND, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(found.stdout.splitlines()[-1]))


def test_a_publication_imports_its_own_method_only(tmp_path):
    options = ("--method", "part-swap", "--categories", "sample:supermarket", "--quiet", "--out", str(tmp_path / "out"))
    imported = imported_by("publish", "sample:supermarket?records=50", *options)
    assert (tmp_path / "out.private" / "report.html").exists()
    assert not imported.intersection(UNUSED)
    methods = {kind.__module__ for kind in METHODS.values()}
    assert imported & methods == {METHODS["part-swap"].__module__}
    guarantees = {kind.__module__ for kind in GUARANTEES.values()}
    assert imported & guarantees == {"setveil.guarantees.hidden_tendency"}


def test_a_profile_imports_nothing_of_releases(tmp_path):
    (tmp_path / "baskets.dat").write_text("milk bread\nmilk\n", encoding="utf-8")
    imported = imported_by("profile", str(tmp_path / "baskets.dat"), "--quiet")
    assert not imported.intersection((*UNUSED, "jinja2", "pyarrow.parquet", "pydantic.main", "setveil.release.card"))


def test_stored_kernels_import_nothing_that_only_compiling_needs(tmp_path):
    (tmp_path / "baskets.dat").write_text("milk bread\nmilk\n", encoding="utf-8")
    _first, second = (imported_by("profile", str(tmp_path / "baskets.dat"), "--quiet") for _ in range(2))
    assert "setveil.mining._uniqueness_kernels" in second
    assert "numba.np.arrayobj" not in second


def test_scipy_has_its_linear_algebra_beside_numba_without():
    code = (
        "from setveil.cli import lean_imports; lean_imports.install()\n"
        "import numba.np.arraymath, sys; assert 'scipy.linalg' not in sys.modules\n"
        "import numpy as np, scipy.linalg, scipy.optimize, scipy.linalg.cython_blas\n"
        "print(scipy.linalg.det(np.eye(2)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(found.stdout) == 1


def test_functions_of_arrow_work_without_parsed_docstrings():
    code = (
        "from setveil.cli import lean_imports; lean_imports.install()\n"
        "import pyarrow as pa, pyarrow.compute as pc; from pyarrow.vendored import docscrape\n"
        "assert 'options' in pc.index_in.__doc__ and 'value_set' not in pc.index_in.__doc__\n"
        "assert docscrape.NumpyDocString.__name__ == 'NumpyDocString'\n"
        "print(pc.index_in(pa.array(['b']), value_set=pa.array(['a', 'b']))[0])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(found.stdout) == 1


@pytest.mark.parametrize(
    "table", [METHODS, GUARANTEES, METRICS, *(vars(joined)[name] for name in ("METHODS", "GUARANTEES", "METRICS"))]
)
def test_names_are_registered_as_their_classes_declare_them(table):
    assert [*table] == [kind.name for kind in table.values()]
    assert len(table) == len(set(table.values()))
    assert "no-such-name" not in table
    assert table.get("no-such-name") is None


def test_forms_are_registered_under_their_names():
    assert [*FORMS] == [form.form_name for form in FORMS.values()]


def test_every_public_name_can_be_reached():
    import setveil  # noqa: PLC0415 - the package under test

    assert set(dir(setveil)) == {*setveil.__all__, "__version__"}
    for name in setveil.__all__:
        assert getattr(setveil, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = setveil.nothing


def test_the_oracles_import_nothing_from_the_package():
    for oracle in (REPOSITORY / "tests" / "oracle").glob("*.py"):
        assert not re.search(r"^\s*(from|import) setveil", oracle.read_text(encoding="utf-8"), re.MULTILINE), oracle


def test_files_are_not_too_long():
    for source in [*SOURCES, *(REPOSITORY / "tests").rglob("*.py")]:
        lines = len(source.read_text(encoding="utf-8").splitlines())
        assert lines <= 800, f"{source} has {lines} lines: split it by idea"


FORM_CLASSES = {"JoinedTable"}.union(
    *({kind.__name__ for kind in form.__mro__ if issubclass(kind, Published)} for form in FORMS.values())
) - {Published.__name__}
"""Published forms, and what several of them share. Whether something is data in any form at all may be asked."""


def names_form(node):
    """Tell whether an expression names the class of a published form."""
    names = {getattr(part, "id", getattr(part, "attr", None)) for part in ast.walk(node)}
    return bool(names & FORM_CLASSES)


def asks_for_form(node):
    """Tell whether a piece of code asks of a value which published form it has."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
            return names_form(kinds)
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            of_type = [side for side in sides if "type(" in ast.unparse(side) or "__class__" in ast.unparse(side)]
            return bool(of_type) and any(map(names_form, sides))
        case ast.MatchClass(cls=kind):
            return names_form(kind)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in {"singledispatch", "singledispatchmethod"}
    return False


def test_only_forms_ask_which_form_data_have():
    for source in SOURCES:
        if "data/forms/" in source.as_posix() or source.name == "transactions.py":
            continue
        found = [node.lineno for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if asks_for_form(node)]
        assert found == [], f"{source}, lines {found}: ask the data (setveil.data.forms.base), not for their form"


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        ("isinstance(published, Generalized)", True),
        ("assert isinstance(published, sv.Grouped | sv.Disassociated)", True),
        ("isinstance(data, (Transactions, str))", True),
        ("issubclass(kind, RowsOfRecords)", True),
        ("type(data) is Reassociated", True),
        ("type(data) in (Grouped, Generalized)", True),
        ("data.__class__ == JoinedTable", True),
        ("match data:\n    case Transactions():\n        pass", True),
        ("@functools.singledispatch\ndef rows(data): ...", True),
        ("isinstance(given, Published)", False),
        ("isinstance(published, self.takes)", False),
        ("Transactions in method.accepts", False),
        ("cast('Grouped', published)", False),
        ("Grouped.from_groups(groups)", False),
    ],
)
def test_a_question_for_a_form_is_found(code, asks):
    assert any(map(asks_for_form, ast.walk(ast.parse(code)))) == asks


SET_OPERATIONS = {"np.setdiff1d", "np.intersect1d", "np.setxor1d", "np.union1d"}


def hashes_values(node):
    """Return whether a call finds distinct values by a hash table, which NumPy 2.4 does unless it is asked for counts or places."""
    if not isinstance(node, ast.Call):
        return False
    options = {option.arg for option in node.keywords}
    match ast.unparse(node.func):
        case "np.unique":
            return not options
        case function:
            return function in SET_OPERATIONS and "assume_unique" not in options


def test_distinct_values_are_found_by_sorting():
    for source in SOURCES:
        found = [node.lineno for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if hashes_values(node)]
        assert found == [], f"{source}, lines {found}: use `distinct` of data/records/ragged.py, 60 times faster"


@pytest.mark.parametrize(
    ("code", "hashes"),
    [
        ("np.unique(rows)", True),
        ("np.unique(rows, return_counts=True)", False),
        ("np.unique(boxes, axis=0)", False),
        ("np.union1d(one, other)", True),
        ("np.intersect1d(one, other)", True),
        ("np.intersect1d(one, other, assume_unique=True)", False),
        ("distinct(rows)", False),
    ],
)
def test_a_hash_table_of_values_is_found(code, hashes):
    assert any(map(hashes_values, ast.walk(ast.parse(code)))) == hashes


def test_no_module_is_named_after_nothing():
    for source in SOURCES:
        assert source.stem not in {"utils", "util", "misc", "common", "helpers", "helper"}


def test_decisions_named_in_the_code_exist():
    decisions = {path.name[:4] for path in (REPOSITORY / "docs" / "decisions").glob("*.md")}
    for source in SOURCES:
        for number in re.findall(r"docs/decisions/(\d{4})", source.read_text(encoding="utf-8")):
            assert number in decisions, f"{source} cites decision {number}"


def test_links_between_pages_lead_somewhere():
    for page in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"


TESTS = REPOSITORY / "tests"


def test_no_test_limits_time_to_less_than_a_minute():
    for test in TESTS.rglob("*.py"):
        found = short_limits(test.read_text(encoding="utf-8"), TESTS)
        assert found == [], (
            f"{test}, lines {found}: a busy machine takes longer; measure it in benchmarks/ or allow a minute"
        )


@pytest.mark.parametrize(
    "short",
    [
        "assert time.monotonic() - since < 1",
        "assert 0.3 <= time.perf_counter() - since <= 1.5",
        "assert 2 > ended.seconds",
        "took = time.time() - since\nassert took < SOON",
        "took = []\ntook.append(time.monotonic() - since)\nlongest = max(took)\nassert longest < SOON, 'slow'",
        "assert time.monotonic() - since < 2 * SOON + 3",
        "assert time.monotonic() - since < parties.timeout",
        "assert done and time.process_time() - began < HANG_SECONDS / 2",
        "deadline = time.monotonic() + 5",
        "process.communicate(timeout=30)",
        "subprocess.run(command, timeout=SOON)",
        "signal.alarm(30)",
    ],
)
def test_a_short_limit_of_time_is_found(short):
    before = "from support.program import HANG_SECONDS\nSOON = 1.5\n"
    assert short_limits(before + short, TESTS) == [len((before + short).splitlines())]
    longer = re.sub(r"\b\d+(\.\d+)?\b|SOON$|SOON(?=[,)])|parties.timeout|HANG_SECONDS / 2", "HANG_SECONDS", short)
    assert short_limits(before + longer, TESTS) == []


@pytest.mark.parametrize(
    "allowed",
    [
        "assert time.monotonic() - since >= 0.3",
        "deadline = time.monotonic() + 60\nassert time.monotonic() < deadline",
        "time.sleep(0.2)",
        "play(method, timeout=0.5)",
        "signal.alarm(0)",
        "assert one.count < 3",
    ],
)
def test_what_limits_no_time_is_allowed(allowed):
    assert short_limits(allowed, TESTS) == []


AFTER_EVERY_MODULE = """
import ast, importlib, inspect, pathlib, pkgutil, sys
import setveil

for module in pkgutil.walk_packages(setveil.__path__, "setveil."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
stub = ast.parse(pathlib.Path(sys.argv[1]).read_text(encoding="ascii"))
lines = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
for line in lines:
    (name,) = line.names
    assert name.name == name.asname, f"type checkers do not export {name.name}"
    public = getattr(setveil, name.name)
    assert public is getattr(importlib.import_module(f"setveil.{line.module}"), name.name), name.name
    assert callable(public), name.name
    if not (inspect.isclass(public) and issubclass(public, Exception)):
        inspect.signature(public)
    assert inspect.getdoc(public), name.name
print(len(lines) == len(setveil.__all__))
"""


def test_every_name_of_the_stub_can_be_called_after_every_module_was_imported():
    """Importing a module sets its name on the package, so that a function of that name would be gone."""
    command = [sys.executable, "-c", AFTER_EVERY_MODULE, REPOSITORY / "src" / "setveil" / "__init__.pyi"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("True\n", "")


def test_the_stub_has_the_names_that_the_families_register():
    stub = (REPOSITORY / "src" / "setveil" / "__init__.pyi").read_text(encoding="ascii")
    with_registered_names = run_path(str(REPOSITORY / "tools" / "write_stub.py"))["with_registered_names"]
    assert with_registered_names(stub) == stub, "run make generated"
    without = re.sub(r".* import PartSwap as PartSwap\n", "", stub)
    assert with_registered_names(without) == stub != without


def test_no_public_name_is_that_of_a_module():
    import setveil  # noqa: PLC0415 - the package under test

    modules = {
        path.stem for path in (REPOSITORY / "src" / "setveil").iterdir() if path.suffix == ".py" or path.is_dir()
    }
    assert not modules & set(setveil.__all__)


OPTION = re.compile(r"(?<![\w-])--[a-z]")
ARGUMENTS_OF_OTHERS = {"presence/secure/mpyc_relay.py": {"--no-log", "--mix32-64bit"}}
"""Options of other programs, by the file that passes them: those of MPyC are read from a list of arguments."""
PACKAGE = REPOSITORY / "src" / "setveil"


def texts_with_options(source):
    """Return the texts of a source, docstrings too, that name an option of a command line."""
    constants = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    return {node.value for node in constants if isinstance(node.value, str) and OPTION.search(node.value)}


def test_only_the_command_line_names_its_options():
    for path in SOURCES:
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith("cli/"):
            found = texts_with_options(path.read_text(encoding="utf-8"))
            assert found == ARGUMENTS_OF_OTHERS.get(place, set()), f"{path}: name the Python argument, as `ids='drop'`"


@pytest.mark.parametrize(
    "named",
    [
        'raise Missing("name it with --original")',
        'note(f"{count} left out (--empty drop)")',
        'HINT = ("name yours with "\n    "--id and --item")',
        'def read():\n    """Read what `--query` asks for."""',
        'see = f"setveil presence init {home} --pin-{peer} FILE"',
    ],
)
def test_an_option_in_a_text_is_found(named):
    assert texts_with_options(named)
    assert not texts_with_options(re.sub("--(?=[a-z])", "", named))


MOST_BY_POSITION = 8


def is_kernel(path):
    return path.parent.name == "kernels" or re.fullmatch(r"_\w*kernels\.py", path.name)


def functions_with_many_positions(source):
    """Return the functions that take more arguments by position than a reader can tell apart; `self` and `cls` are not counted."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, kinds):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
            if len(names) - (names[:1] in (["self"], ["cls"])) > MOST_BY_POSITION:
                found.append(getattr(node, "name", "lambda"))
    return found


def test_no_function_takes_many_arguments_by_position():
    for path in SOURCES:
        if not is_kernel(path):
            found = functions_with_many_positions(path.read_text(encoding="utf-8"))
            assert found == [], f"{path}: {found} take more than {MOST_BY_POSITION}; bundle what belongs together"


def test_a_function_with_many_arguments_by_position_is_found():
    nine = ", ".join("abcdefghi")
    assert functions_with_many_positions(f"def sort({nine}): pass") == ["sort"]
    assert functions_with_many_positions(f"class A:\n    async def sort(self, {nine}): pass") == ["sort"]
    assert functions_with_many_positions(f"sort = lambda {nine}: a") == ["lambda"]
    assert functions_with_many_positions(f"def sort({nine[3:]}, *, j, k): pass") == []
    assert functions_with_many_positions(f"class A:\n    def sort(self, {nine[3:]}): pass") == []
