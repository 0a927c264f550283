"""The recipes run as printed, on small tables that have the columns of the data that they are for."""

import csv
import gzip
import json
import os
import re
import subprocess
from dataclasses import replace

import pytest

import setveil as sv

from support.pages import DOCS, blocks_in, run_command, run_python
from support.postgres import postgres_server, programs  # noqa: F401 - a fixture

PAGE = "recipes.md"
ADDRESS = "postgresql://reader@db.example/omop"
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", (DOCS / PAGE).read_text(), re.MULTILINE | re.DOTALL))
INTRODUCTION = (DOCS / PAGE).read_text().partition("\n## ")[0]
ICD, SNOMED = "http://hl7.org/fhir/sid/icd-10-cm", "http://snomed.info/sct"


@pytest.fixture(scope="module")
def patients():
    return sv.read("sample:hospital?records=600")


def run(text, folder):
    """Run the commands and the Python blocks of a text in their order; return the other blocks."""
    others = []
    for block in blocks_in(text):
        for line in block.lines:
            run_command(line, folder)
        if block.kind == "python":
            run_python(block, PAGE, folder)
        elif not block.lines:
            others.append(block)
    return others


def write_csv(path, header, rows, opened=open):
    with opened(path, "wt", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def records_of(path, **options):
    """Return the records of a file by id."""
    data = sv.read(path, **options)
    return dict(zip(data.ids.to_pylist(), map(set, data.to_lists()), strict=True))


def test_every_section_is_tested():
    assert list(SECTIONS) == ["FHIR bulk export", "MIMIC-IV", "OMOP CDM 5.4", "Instacart and other shops"]


def test_the_introduction(tmp_path):
    assert run(INTRODUCTION, tmp_path) == []


def test_fhir(tmp_path, patients):
    with (tmp_path / "Condition.ndjson").open("w", encoding="utf-8") as file:
        for patient, codes in enumerate(patients, start=1):
            for code in codes:
                coding = [{"system": ICD, "code": code, "display": "…"}, {"system": SNOMED, "code": "404684003"}]
                resource = {"resourceType": "Condition", "id": f"{patient}-{code}", "code": {"coding": coding}}
                resource |= {"subject": {"reference": f"Patient/{patient}"}, "recordedDate": "2026-01-01"}
                file.write(json.dumps(resource) + "\n")
    assert run(SECTIONS["FHIR bulk export"], tmp_path) == []
    read = records_of(tmp_path / "conditions.parquet")
    assert read == {f"Patient/{number}": set(codes) for number, codes in enumerate(patients, start=1)}
    assert sv.check(tmp_path / "fhir")


def test_mimic(tmp_path, patients):
    rows = []
    for patient, codes in enumerate(patients, start=10_000_000):
        for place, code in enumerate(codes):
            stay = 20_000_000 + 2 * patient + place % 2
            rows.append((patient, stay, place + 1, code.replace(".", ""), 10))
        rows.append((patient, 20_000_000 + 2 * patient, 99, "07070", 9))
    header = ("subject_id", "hadm_id", "seq_num", "icd_code", "icd_version")
    write_csv(tmp_path / "diagnoses_icd.csv.gz", header, rows, gzip.open)
    assert run(SECTIONS["MIMIC-IV"], tmp_path) == []
    bare = [{code.replace(".", "") for code in codes} for codes in patients]
    assert list(records_of(tmp_path / "patients.parquet").values()) == bare
    stays = records_of(tmp_path / "stays.parquet")
    assert len(stays) > len(bare)
    assert set().union(*stays.values()) == set().union(*bare)
    assert sv.check(tmp_path / "mimic")


CDM = """
CREATE SCHEMA cdm;
CREATE TABLE cdm.concept (concept_id integer NOT NULL, concept_name varchar(255) NOT NULL, domain_id varchar(20) NOT NULL,
  vocabulary_id varchar(20) NOT NULL, concept_class_id varchar(20) NOT NULL, standard_concept varchar(1),
  concept_code varchar(50) NOT NULL, valid_start_date date NOT NULL, valid_end_date date NOT NULL, invalid_reason varchar(1));
CREATE TABLE cdm.concept_ancestor (ancestor_concept_id integer NOT NULL, descendant_concept_id integer NOT NULL,
  min_levels_of_separation integer NOT NULL, max_levels_of_separation integer NOT NULL);
CREATE TABLE cdm.condition_occurrence (condition_occurrence_id integer NOT NULL, person_id integer NOT NULL,
  condition_concept_id integer NOT NULL, condition_start_date date NOT NULL, condition_type_concept_id integer NOT NULL,
  condition_source_value varchar(50), condition_source_concept_id integer);
CREATE TABLE cdm.drug_exposure (drug_exposure_id integer NOT NULL, person_id integer NOT NULL, drug_concept_id integer NOT NULL,
  drug_exposure_start_date date NOT NULL, drug_exposure_end_date date NOT NULL, drug_type_concept_id integer NOT NULL);
"""
ROOT = 441840
DRUGS = ("A10BA02", "A10BB01", "C09AA05", "C10AA01", "N02BE01")


def omop_rows(patients):
    """Return the statements that fill the tables: each diagnosis has a standard concept, one level below its category."""
    chapters = dict(sv.read_hierarchy("sample:hospital").parent_of())
    codes = sorted({code for codes in patients for code in codes})
    groups = sorted({chapters[code] for code in codes})
    group_of = {name: 500_000 + number for number, name in enumerate(groups)}
    standard = {code: 600_000 + number for number, code in enumerate(codes)}
    recorded = {code: 700_000 + number for number, code in enumerate(codes)}
    names = sv.read_names("sample:hospital")
    day = "'2020-01-01', '2099-12-31', NULL"
    concepts = [f"({ROOT}, 'Clinical finding', 'Condition', 'SNOMED', 'Clinical Finding', 'S', '404684003', {day})"]
    above = []
    for name, concept in group_of.items():
        concepts.append(f"({concept}, '{name}', 'Condition', 'SNOMED', 'Disorder', 'S', '{concept}', {day})")
        above += [f"({ROOT}, {concept}, 2, 2)", f"({concept}, {concept}, 0, 0)"]
    for code in codes:
        name = names[code].replace("'", "''")
        concepts.append(f"({standard[code]}, '{name}', 'Condition', 'SNOMED', 'Disorder', 'S', 's{code}', {day})")
        concepts.append(
            f"({recorded[code]}, '{name}', 'Condition', 'ICD10CM', '5-char billing code', NULL, '{code}', {day})"
        )
        above += [f"({group_of[chapters[code]]}, {standard[code]}, 1, 1)", f"({ROOT}, {standard[code]}, 3, 3)"]
        above.append(f"({standard[code]}, {standard[code]}, 0, 0)")
    for number, code in enumerate(DRUGS):
        concepts.append(f"({800_000 + number}, 'class {number}', 'Drug', 'ATC', 'ATC 5th', 'C', '{code}', {day})")
        concepts.append(
            f"({900_000 + number}, 'drug {number}', 'Drug', 'RxNorm', 'Clinical Drug', 'S', 'r{number}', {day})"
        )
        above.append(f"({800_000 + number}, {900_000 + number}, 1, 1)")
    conditions, drugs = [], []
    for person, held in enumerate(patients, start=1):
        for code in held:
            occurrence = (
                f"{len(conditions)}, {person}, {standard[code]}, '2025-01-01', 32817, '{code}', {recorded[code]}"
            )
            conditions.append(f"({occurrence})")
        conditions.append(f"({len(conditions)}, {person}, 0, '2025-01-01', 32817, 'unmapped', 0)")
        for drug in range(person % 3 + 1):
            when = "'2025-01-01', '2025-02-01', 32817"
            drugs.append(f"({len(drugs)}, {person}, {900_000 + (person + drug) % len(DRUGS)}, {when})")
    rows = {"concept": concepts, "concept_ancestor": above, "condition_occurrence": conditions, "drug_exposure": drugs}
    return group_of, [f"INSERT INTO cdm.{table} VALUES {', '.join(values)}" for table, values in rows.items()]  # noqa: S608 - ours


def test_omop(tmp_path, patients, postgres_server):  # noqa: F811 - the fixture
    database = postgres_server.new_database()
    group_of, filling = omop_rows(patients)
    postgres_server.run(*CDM.strip().removesuffix(";").split(";"), *filling, database=database)
    address = postgres_server.url(database)
    section = SECTIONS["OMOP CDM 5.4"]
    (copy,) = (block for block in blocks_in(section) if block.kind == "sql")
    subprocess.run(
        [programs() / "psql", address, "-q", "-c", copy.text.strip()],
        cwd=tmp_path,
        check=True,
        env=os.environ | {"PGCLIENTENCODING": "UTF8"},
    )
    before = section.replace(ADDRESS, address)
    assert run(before, tmp_path) == [replace(copy, text=copy.text)]
    by_person = {str(person): set(codes) for person, codes in enumerate(patients, start=1)}
    assert records_of(tmp_path / "icd.parquet") == by_person
    parents = sv.read_hierarchy("sample:hospital").parent_of()
    expected = {person: {str(group_of[parents[code]]) for code in codes} for person, codes in by_person.items()}
    assert records_of(tmp_path / "rolled-up.parquet") == expected
    conditions = records_of(tmp_path / "conditions.parquet")
    assert {person: len(codes) for person, codes in conditions.items()} == {p: len(c) for p, c in by_person.items()}
    assert set(sv.read(tmp_path / "atc.parquet").vocabulary) == set(DRUGS)
    originals = {"omop": "rolled-up.parquet", "omop-icd": "icd.parquet", "omop-atc": "atc.parquet"}
    assert all(sv.check(tmp_path / name, original=tmp_path / file) for name, file in originals.items())


def test_instacart(tmp_path):
    baskets = sv.read("sample:supermarket?records=900")
    taxonomy = {item: (category, department) for item, category, department in _rows_of_the_taxonomy()}
    products = {item: number for number, item in enumerate(sorted(taxonomy), start=1)}
    aisles = {name: number for number, name in enumerate(sorted({aisle for aisle, _ in taxonomy.values()}), start=1)}
    departments = sorted({department for _, department in taxonomy.values()})
    number_of = {name: number for number, name in enumerate(departments, start=1)}
    write_csv(tmp_path / "aisles.csv", ("aisle_id", "aisle"), [(number, name) for name, number in aisles.items()])
    write_csv(
        tmp_path / "departments.csv", ("department_id", "department"), [(n, name) for name, n in number_of.items()]
    )
    write_csv(
        tmp_path / "products.csv",
        ("product_id", "product_name", "aisle_id", "department_id"),
        [(products[item], item, aisles[aisle], number_of[top]) for item, (aisle, top) in sorted(taxonomy.items())],
    )
    write_csv(
        tmp_path / "orders.csv",
        ("order_id", "user_id", "eval_set", "order_number", "order_dow", "order_hour_of_day", "days_since_prior_order"),
        [(order, 1 + order // 2, "prior", 1 + order % 2, 1, 9, "" if order % 2 == 0 else 7.0) for order in range(900)],
    )
    write_csv(
        tmp_path / "order_products__prior.csv",
        ("order_id", "product_id", "add_to_cart_order", "reordered"),
        [
            (order, products[item], place, 0)
            for order, basket in enumerate(baskets)
            for place, item in enumerate(basket, start=1)
        ],
    )
    assert run(SECTIONS["Instacart and other shops"], tmp_path) == []
    orders = records_of(tmp_path / "orders.parquet")
    assert orders == {str(order): {str(products[item]) for item in basket} for order, basket in enumerate(baskets)}
    customers = records_of(tmp_path / "customers.parquet")
    assert customers["1"] == orders["0"] | orders["1"]
    assert len(customers) == 450
    assert sv.check(tmp_path / "shop", original=tmp_path / "customers.parquet")


def _rows_of_the_taxonomy():
    from setveil.data.samples import sample_taxonomy  # noqa: PLC0415 - only here

    return sample_taxonomy("sample:supermarket")[1]
