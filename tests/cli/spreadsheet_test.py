"""A spreadsheet opens every CSV of a trace: the same labels, the same numbers, and no label taken for a formula."""
import csv
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

from programs import ProgramTest

HOSTILE = '=1+1,@SUM(A1) +1 -1 "a,b"\n\tNA 1e5 TRUE 007 1/2 \'x\' \U0001f600 é'
SPREADSHEET = shutil.which("soffice")
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
CSV_AS_UTF8 = "CSV:44,34,76,1,,0,false,false"  # separated by commas, quoted by ", UTF-8, from line 1, guessing no further types


def cells(row):
    """The cells of a row as (type, content), where the type is None for an empty cell."""
    for cell in row.iter(f"{TABLE}table-cell"):
        kind = cell.get(f"{OFFICE}value-type")
        text = "\n".join("".join(paragraph.itertext()) for paragraph in cell)
        content = cell.get(f"{OFFICE}value") if kind == "float" else text
        yield from [(kind, content)] * int(cell.get(f"{TABLE}number-columns-repeated", "1"))


@unittest.skipUnless(SPREADSHEET, "SKIPPED: LibreOffice is not here")
class Spreadsheet(ProgramTest):
    def open_all(self, tables):
        """Each table's rows of cells, as the spreadsheet sees them."""
        subprocess.run([SPREADSHEET, f"-env:UserInstallation=file://{self.folder}/profile", "--headless", f"--infilter={CSV_AS_UTF8}",
                        "--convert-to", "fods", "--outdir", self.folder / "opened", *tables],
                       check=True, capture_output=True, timeout=300)
        return {table: ElementTree.parse(self.folder / "opened" / f"{table.stem}.fods") for table in tables}

    def compare(self, name, row, fields):
        opened = list(cells(row))
        self.assertTrue(all(cell == (None, "") for cell in opened[len(fields):]), name)
        for (kind, content), field in zip(opened, fields):
            if kind == "float":
                self.assertRegex(field, r"^-?[\d.]+(e[-+]?\d+)?$", name)  # never a label that looked like a number
                self.assertLessEqual(abs(float(content) - float(field)), 1e-9 * abs(float(field)), name)
            else:
                self.assertEqual(content, field, name)
                self.assertFalse(re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", field), f"{name}: {field} was not read as a number")

    def test_every_table_opens_as_it_was_written(self):
        tables = sorted(self.trace("hostile", "--text", HOSTILE, "--tidy").glob("*.csv"))
        self.assertEqual(len(tables), 1 + 16 + 4)
        for table, opened in self.open_all(tables).items():
            self.assertNotIn(f"{TABLE}formula", {name for element in opened.iter() for name in element.attrib}, table.name)
            with open(table, newline="") as file:
                written = list(csv.reader(file))
            rows = [row for row in opened.iter(f"{TABLE}table-row") if any(kind for kind, _ in cells(row))]
            self.assertEqual(len(rows), len(written), table.name)
            for row, fields in zip(rows, written):
                self.compare(table.name, row, fields)


if __name__ == "__main__":
    unittest.main()
