"""Commands that cannot be carried out though the data is good: options, targets, categories, side files, and what must be said."""

from dataclasses import dataclass

from setveil.data.records.transactions import from_lists
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.parameters.named_itemsets import read_itemsets
from setveil.parameters.sensitive_items import read_sensitive

GOOD = {
    "good.dat": b"a b\nc d\na d\n",
    "good.csv": b"id,item\np1,a\np2,b\n",
    "good.jsonl": b'["a"]\n[]\n',
    "good-categories.csv": b"item,category\na,x\nb,y\nc,z\nd,z\n",
    "header.csv": b"id,item\n",
    "wide-header.csv": b"id,items\n",
    "blank.dat": b"\n\n\n",
    "comma.csv": b'id,item\np1,"a,b"\np2,c\n',
    "blanks.csv": b"id,item\np1,a b\n",
    "begins-as-header.csv": b"id,item\np1,@ITEM=1=x\n",
    "good.xyz": b"a b\n",
}
"""Files that can be read."""

LONG_NAME = "n" * 300 + ".dat"
SEPARATOR = "allowed is one printable ASCII character or a tab, such as ','"
SELECT = ("--query", "SELECT id, item FROM baskets ORDER BY 1")


@dataclass(frozen=True)
class Use:
    """A command that cannot be carried out."""

    name: str
    arguments: tuple[str, ...]
    says: str

    def __str__(self):
        return f"{self.arguments[0]}: {self.name}"


def _publish(data, *more, categories="good-categories.csv"):
    return ("publish", data, "--method", "part-swap", "--categories", categories, "--out", "new", *more)


USES = [
    # options of reading
    Use("unknown format", ("profile", "good.dat", "--format", "parchment"),
        "there is no format 'parchment'; there are: attributes, basket"),
    Use("unknown extension", ("profile", "good.xyz"), "good.xyz: unknown file extension (known: .dat"),
    Use("separator of two characters", ("profile", "good.dat", "--separator", "ab"), f"the separator is 'ab'; {SEPARATOR}"),
    Use("empty separator", ("convert", "good.dat", "new.jsonl", "--separator", ""), f"the separator is ''; {SEPARATOR}"),
    Use("separator that is no ASCII", ("measure", "good.dat", "good.dat", "--separator", "é"), f"the separator is 'é'; {SEPARATOR}"),
    Use("line break as separator", _publish("good.dat", "--separator", "\n"), f"the separator is '\\n'; {SEPARATOR}"),
    Use("quote as separator", ("profile", "good.csv", "--separator", '"'), f"the separator is '\"'; {SEPARATOR}"),
    Use("the same column twice", ("profile", "good.csv", "--id", "item"), "two columns have the same name 'item'; choose"),
    Use("ragged with another --id", ("profile", "good.csv", "--ragged", "--id", "x"), "has no column 'x'"),
    Use("ragged with --items", ("convert", "good.csv", "new.dat", "--ragged", "--items", "x"), "ragged lines have no column of items"),
    Use("a query of a file", ("profile", "good.dat", *SELECT),
        "--query goes with a database (postgresql://, sqlite:///, duckdb:///), not"),
    Use("a table in a file", ("convert", "good.dat", "new.csv", "--table", "t"), "--table goes with a database (postgresql://"),
    # databases
    Use("unknown scheme", ("profile", "mysql://root:hidden-word@host/shop", *SELECT), "mysql://... is not a supported database address"),
    Use("password with an at sign", ("convert", "good.dat", "postgresql://ann:hidden-word@x@host/shop", "--table", "t"), "%40 for @"),
    Use("no such database", ("profile", "sqlite:///missing.db", *SELECT), "sqlite:///missing.db: there is no such file"),
    Use("a folder as database", ("profile", "sqlite:///folder.dat", *SELECT), "sqlite:///folder.dat: is a folder; expected a database"),
    Use("no database", ("profile", "sqlite:///good.dat", *SELECT), "sqlite:///good.dat: cannot be opened: file is not a database"),
    Use("no query", ("convert", "sqlite:///good.db", "new.dat"), "name the rows with --query, such as"),
    Use("a query that writes", ("profile", "sqlite:///good.db", "--query", "DROP TABLE baskets"),
        "the query begins with 'drop'; give a"),
    Use("two queries", ("profile", "sqlite:///good.db", "--query", "SELECT 1; SELECT 2"), "the query holds several statements"),
    Use("a query of no table", ("profile", "sqlite:///good.db", "--query", "SELECT * FROM nowhere ORDER BY 1"),
        "no such table: nowhere"),
    Use("a query without the column", ("profile", "sqlite:///good.db", "--query", "SELECT id FROM baskets ORDER BY 1"),
        "has no column 'item'"),
    Use("a basket of a query", ("profile", "sqlite:///good.db", *SELECT, "--format", "basket"), "allowed for a query is long | list"),
    Use("a missing item", _publish("sqlite:///good.db", *SELECT), "sqlite:///good.db, row 2: the column 'item' has a missing value"),
    Use("no table", ("convert", "good.dat", "sqlite:///new.db"), "sqlite:///new.db: name the new table with --table"),
    Use("a table that is there", ("convert", "good.dat", "sqlite:///good.db", "--table", "baskets"),
        "the table 'baskets' exists"),
    Use("a table by force", ("convert", "good.dat", "sqlite:///good.db", "--table", "baskets", "--force"), "a table is never replaced"),
    Use("a wide table", ("convert", "good.dat", "sqlite:///new.db", "--table", "t", "--to", "wide"), "a table is long | list"),
    Use("a database in no folder", ("convert", "good.dat", "sqlite:///missing/new.db", "--table", "t"),
        "missing is not a folder; create it"),
    # data without records
    Use("no records", _publish("header.csv"), "the data have no records: there is nothing to publish"),
    Use("no records in a wide file", _publish("wide-header.csv", "--items", "items"), "the data have no records"),
    Use("no records but empty ones", _publish("blank.dat", "--empty", "drop"), "the data have no records"),
    Use("no items", _publish("blank.dat"), "part-swap: the items of the data are in 0 categories; there must be at least 3"),
    Use("no records", ("convert", "header.csv", "new.dat"), "a basket file cannot hold data without records"),
    Use("no records", ("convert", "header.csv", "new.jsonl.gz"), "JSON Lines cannot hold data without records"),
    Use("no records", ("convert", "header.csv", "new.csv", "--to", "ragged"), "ragged lines cannot hold data without records"),
    # what a format cannot hold
    Use("separator in an item", ("convert", "comma.csv", "new.dat", "--to-separator", ","), "the item 'a,b' holds the separator ','"),
    Use("separator in an item", ("convert", "comma.csv", "new.csv", "--to", "wide", "--to-separator", ","),
        "a cell of a wide file cannot hold"),
    Use("blank in an item", ("convert", "blanks.csv", "new.dat"), "the item 'a b' holds a blank, which a basket file cannot hold"),
    Use("blank in an item", ("convert", "blanks.csv", "new.csv.zst", "--to", "wide"), "the item 'a b' holds a blank, which a cell"),
    Use("an item like a header", ("convert", "begins-as-header.csv", "new.dat"), "begins like the header of an SPMF file"),
    Use("empty records", ("convert", "good.jsonl", "new.csv"), "cannot hold the 1 empty record of the data; drop them with --empty drop"),
    Use("separator of two characters", ("convert", "good.dat", "new.csv", "--to-separator", "ab"),
        f"the separator is 'ab'; {SEPARATOR}"),
    # targets
    Use("unknown format", ("convert", "good.dat", "new.csv", "--to", "parchment"), "there is no format 'parchment'"),
    Use("unknown extension", ("convert", "good.dat", "new.xyz"), "new.xyz: unknown file extension"),
    Use("packed Parquet", ("convert", "good.dat", "new.parquet.gz"), "a .parquet file is compressed inside; omit the extension .gz"),
    Use("a basket in Parquet", ("convert", "good.dat", "new.parquet", "--to", "basket"),
        "a .parquet file cannot have the format 'basket'"),
    Use("target exists", ("convert", "good.dat", "good.csv"), "good.csv exists; choose another path, or replace it with --force"),
    Use("target is the data", ("convert", "good.dat", "good.dat"), "good.dat exists"),
    Use("target is a folder", ("convert", "good.dat", "folder.dat", "--force"), "folder.dat is not a regular file and is not replaced"),
    Use("target is a pipe", ("convert", "good.dat", "pipe.dat", "--force"), "pipe.dat is not a regular file and is not replaced"),
    Use("target is a link to nothing", ("convert", "good.dat", "dangling.dat"), "dangling.dat exists"),
    Use("target is a link, by force", ("convert", "good.dat", "dangling.dat", "--force"),
        "dangling.dat is a symbolic link, which is not replaced"),
    Use("target is a device", ("convert", "good.dat", "/dev/full", "--to", "basket", "--force"), "/dev/full is not a regular file"),
    Use("target in no folder", ("convert", "good.dat", "missing/new.dat"), "missing is not a folder; create it"),
    Use("target below a file", ("convert", "good.dat", "good.csv/new.dat"), "good.csv is not a folder"),
    Use("name too long", ("convert", "good.dat", LONG_NAME), "File name too long"),
]  # fmt: skip


def _table(name, content, says, *more, place=""):
    """Name categories that cannot be used, and what must be said of them."""
    return name, content, more, f"bad.csv, {place}: {says}" if place else says


CATEGORIES = [
    _table("a circle", b"item,parent\na,x\nx,y\ny,x\n", "parents form a cycle: 'y' -> 'x' -> 'y'", "--level", "1",
        place="line 4"),
    _table("its own parent", b"item,parent\na,x\nx,x\n", "'x' is its own parent; expected another node", "--level", "1",
        place="line 3"),
    _table("two parents", b"item,parent\na,x\na,y\n", "'a' has two parents, 'y' here and 'x' on", "--level", "1", place="line 3"),
    _table("no level for a tree", b"item,parent\na,x\nx,y\ny,t\n", "is an item,parent file; give with --level", place="line 1"),
    _table("a level that is no number", b"item,parent\na,x\nx,t\n", "is an item,parent file, and --level is 'x'", "--level", "x",
        place="line 1"),
    _table("a level that is not there", b"item,parent\na,x\nx,t\n", "bad.csv: has no level 7; its levels are: 1 to 1",
        "--level", "7"),
    _table("an item without category", b"item,category\na,x\nb,y\nc,z\n",
        "1 of 4 items have no category, such as 'd'; add a line for each"),
    _table("an item with two", b"item,category\na,x\nb,y\na,z\n", "item 'a' has two categories, 'z' here and 'x' on", place="line 4"),
    _table("a column twice", b"item,category,category\na,x,y\n", "has 2 columns 'category'; expected each column once", place="line 1"),
    _table("an empty category", b"item,category\na,x\nb,\n", "an item or its category is empty", place="line 3"),
    _table("an empty item", b"item,category\n,x\n", "an item or its category is empty", place="line 2"),
    _table("too few fields", b"item,category\na,x\nb\n", "has 1 field where the header has 2", place="line 3"),
    _table("too many fields", b"item,category\na,x,y\n", "has 3 fields where the header has 2", place="line 2"),
    _table("no column of items", b"thing,category\na,x\n", "expected a header with the column 'item'", place="line 1"),
    _table("items alone", b"item\na\n", "has only the column 'item'", place="line 1"),
    _table("several levels", b"item,aisle,shelf\na,x,1\n", "has several levels (aisle, shelf); name one with --level", place="line 1"),
    _table("an unknown level", b"item,aisle\na,x\n", "has no level 'floor'; the levels are: aisle", "--level", "floor", place="line 1"),
    _table("a quote that never closes", b'item,category\na,"x\n', "is not valid CSV (unexpected end of data)", place="line 2"),
    _table("latin 1", b"item,category\na,x\nb,\xe9\n", "holds the byte 0xe9, which is not UTF-8 text", place="line 3"),
    _table("UTF-16", "item,category\n".encode("utf-16"), "bad.csv: is UTF-16 text; expected UTF-8"),
    _table("nothing", b"", "expected a header with the column 'item'", place="line 1"),
    _table("a header alone", b"item,category\n", "4 of 4 items have no category"),
]  # fmt: skip

KNOWN = from_lists([["milk", "bread"], ["tea"]])

SIDE_FILES = [
    ("hierarchy with a circle", read_hierarchy, ".csv", b"item,parent\na,b\nb,c\nc,a\n", "line 4", "'c' -> 'a' -> 'b' -> 'c'"),
    ("hierarchy with two parents", read_hierarchy, ".csv", b"item,parent\na,b\na,c\n", "line 3", "keep one of them"),
    ("hierarchy of no items", read_hierarchy, ".csv", b"item,parent\n", "", "holds no items; expected one line per item"),
    ("hierarchy without a level", read_hierarchy, ".csv", b"item,aisle\na,\n", "line 2", "has no name on any level; expected at least one"),
    ("hierarchy with a gap", read_hierarchy, ".csv", b"item,s,a\nx,1,\n", "line 2",
        "the level 'a' is empty, but the more specific 's' is not"),
    ("hierarchy with a name twice", read_hierarchy, ".csv", b"item,s,a\nx,1,y\nz,1,w\n", "line 3", "distinguish nodes by their paths"),
    ("hierarchy in Parquet that is none", read_hierarchy, ".parquet", b"item,s,a\nx,1,y\n", "", "is not a complete Parquet file"),
    ("hierarchy in objects that are lists", read_hierarchy, ".jsonl", b'["a", "b"]\n', "line 1", "is a list; expected an object"),
    ("hierarchy with a NUL", read_hierarchy, ".csv", b"item,aisle\na,x\nb\0,x\n", "line 3", "holds a control character"),
    ("no sensitive item", read_sensitive, ".txt", b"\n \n", "", "is empty; expected one sensitive item per line"),
    ("sensitive items with a NUL", read_sensitive, ".txt", b"tea\nmi\0lk\n", "line 2", "holds the control byte 0x00"),
    ("sensitive items in latin 1", read_sensitive, ".txt", b"tea\ncaf\xe9\n", "line 2", "holds the byte 0xe9, which is not UTF-8 text"),
    ("empty itemset", read_itemsets, ".txt", b"milk tea\n\nbread\n", "line 2", "is blank; expected an itemset of at least one item"),
    ("no itemset", read_itemsets, ".txt", b"\n\n", "", "is empty; expected one itemset per line"),
    ("empty list", read_itemsets, ".jsonl", b'["milk"]\n[]\n', "line 2", "is an empty list; expected a list of items such as"),
    ("list with a fraction", read_itemsets, ".jsonl", b"[1.5]\n", "line 1", "an item is a number with a fraction; expected a list"),
    ("list in a list", read_itemsets, ".jsonl", b'[["milk"]]\n', "line 1", "an item is a list; expected a list of items"),
    ("list that is not JSON", read_itemsets, ".jsonl", b"milk\n", "line 1", "is not JSON (Expecting value at character 1)"),
    ("list nested 100,000 deep", read_itemsets, ".jsonl", b"[" * 100_000, "line 1", "is nested too deeply"),
]  # fmt: skip
"""Readers that no command offers yet, and what they must say."""
