"""onehead next and onehead heads --worth: the next token, and what one head is worth to it."""
import csv
import json
import re
import unittest

from programs import MINI, SOURCE, ProgramTest, onehead

FOX = SOURCE / "data" / "texts" / "fox.txt"
REFERENCE = json.loads((SOURCE / "tests" / "reference" / "mini-next-f64.json").read_text())


def expected(ids, change, layer=None, head=None):
    """The entry of the float64 reference after the last row of these tokens."""
    return next(entry for entry in REFERENCE
                if (entry["token_ids"], entry["row"]) == (ids, len(ids) - 1)
                and (entry["change"], entry["layer"], entry["head"]) == (change, layer, head))


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Next(ProgramTest):
    FOX_IDS = REFERENCE[-1]["token_ids"]

    def next(self, *arguments):
        table = self.folder / "next.csv"
        result = onehead("next", "--model", MINI, "--csv", table, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout, rows_of(table)

    def test_the_next_token_with_its_probability(self):
        shown, rows = self.next("--tokens", ",".join(map(str, self.FOX_IDS)))
        right = expected(self.FOX_IDS, None)
        self.assertEqual(list(rows[0]), ["token_id", "token", "probability"])
        self.assertEqual([int(row["token_id"]) for row in rows], [token["token_id"] for token in right["next"]])
        for row, token in zip(rows, right["next"]):
            self.assertAlmostEqual(float(row["probability"]), token["probability"], delta=2e-5)
        self.assertIn("' over'", shown)

    def test_a_silenced_head_side_by_side(self):
        shown, rows = self.next("--tokens", ",".join(map(str, self.FOX_IDS)), "--layer", "3", "--head", "2",
                                "--experiment", "silent")
        changed = {int(row["token_id"]): float(row["changed"]) for row in rows}
        for token in expected(self.FOX_IDS, "silent", 3, 2)["next"]:
            self.assertAlmostEqual(changed[token["token_id"]], token["probability"], delta=2e-5)
        words = " ".join(shown.split())
        as_it_is, silent = ({token["token"]: f"{token['probability']:.3f}".lstrip("0") for token in expected(self.FOX_IDS, *change)["next"]}
                            for change in ((None,), ("silent", 3, 2)))
        self.assertIn(f"' up' is on top with {silent['Ġup']} instead of {as_it_is['Ġup']}, and ' over' goes from {as_it_is['Ġover']} to .0", words)
        self.assertIn("4.15 nats", words)

    def test_what_every_head_is_worth(self):
        table, page = self.folder / "heads.csv", self.folder / "heads.html"
        result = onehead("heads", "--model", MINI, "--tokens", ",".join(map(str, self.FOX_IDS)), "--worth",
                         "--sort", "worth", "--out", table, "--html", page)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = rows_of(table)
        self.assertEqual(len(rows), 12)
        self.assertEqual((rows[0]["layer"], rows[0]["head"]), ("3", "2"))
        for row in rows:
            right = expected(self.FOX_IDS, "silent", int(row["layer"]), int(row["head"]))
            self.assertAlmostEqual(float(row["worth"]), right["worth_nats"], delta=1e-4)
        self.assertIn("<svg", page.read_text())
        one = onehead("heads", "--model", MINI, "--text-file", FOX, "--worth", "--layer", "3")
        heads = [line.split()[0] for line in one.stdout.splitlines() if re.match(r" *\d\.\d ", line)]
        self.assertEqual(heads, 2 * ["3.0", "3.1", "3.2"])

    def test_what_is_refused(self):
        excerpt = self.folder / "e.safetensors"
        self.assertEqual(onehead("excerpt", "--model", MINI, "--out", excerpt).returncode, 0)
        self.assert_refused(onehead("next", "--model", excerpt), 2, "use the whole model")
        self.assert_refused(onehead("heads", "--worth", "--model", excerpt), 2, "use the whole model")
        self.assert_refused(onehead("next", "--model", MINI, "--top", "0"), 2, "--top")
        self.assert_refused(onehead("next", "--model", MINI, "--row", "6"), 2, "row")
        self.assert_refused(onehead("heads", "--model", MINI, "--row", "3"), 2, "--worth")
        self.assert_refused(onehead("heads", "--model", MINI, "--worth", "--row", "6"), 2, "row")


if __name__ == "__main__":
    unittest.main()
