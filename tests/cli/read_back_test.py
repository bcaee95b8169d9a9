"""What a trace holds, read with pandas and numpy: every CSV comes back bit for bit, and labels stay what they are."""
import json
import unittest

import numpy
import pandas

from programs import MINI, ProgramTest, bytes_of, onehead

HARD = 'He said "a,b"\nNA =1+1 \U0001f600 é'


class ReadBack(ProgramTest):
    def read(self, file):
        return pandas.read_csv(file, float_precision="round_trip", dtype={"token": str}, keep_default_na=False)

    def test_every_number_comes_back_bit_for_bit(self):
        out = self.trace("hard", "--text", HARD, "--format", "text,csv,npy")
        facts = json.loads((out / "trace.json").read_text())
        self.assertEqual(len(facts["steps"]), 16)
        for step in facts["steps"]:
            table = self.read(out / step["file"])
            values = table.iloc[:, 3:].to_numpy().astype(numpy.float64)
            exact = numpy.load(out / step["file"].replace(".csv", ".npy"))
            self.assertEqual(exact.dtype, numpy.float32)
            self.assertEqual(list(exact.shape), step["shape"])
            self.assertTrue(numpy.array_equal(values.astype(numpy.float32).view(numpy.uint32), exact.view(numpy.uint32)), step["file"])

    def test_the_long_form_comes_back_bit_for_bit(self):
        out = self.trace("hard", "--text", HARD, "--format", "csv,npy", "--tidy")
        labels = list(pandas.read_csv(out / "tokens.csv")["token"])
        tidy = sorted(out.glob("*.tidy.csv"))
        self.assertEqual([path.name[:2] for path in tidy], ["08", "09", "10", "11"])
        for path in tidy:
            table = pandas.read_csv(path, float_precision="round_trip")
            self.assertEqual(list(table.columns), ["query_pos", "query", "key_pos", "key", "value"])
            exact = numpy.load(out / path.name.replace(".tidy.csv", ".npy"))
            values = table.pivot(index="query_pos", columns="key_pos", values="value").to_numpy().astype(numpy.float32)
            self.assertTrue(numpy.array_equal(values.view(numpy.uint32), exact.view(numpy.uint32)), path.name)
            self.assertTrue((table["query"] == table["query_pos"].map(labels.__getitem__)).all())
            self.assertTrue((table["key"] == table["key_pos"].map(labels.__getitem__)).all())
        self.assertEqual(len(list(out.glob("*.csv"))), 1 + 16 + 4)  # tokens, the steps, the long forms: no table unread

    def test_the_long_form_is_no_step_of_its_own(self):
        out = self.trace("cat", "--tidy", "--format", "tidy,csv")
        files = [step["file"] for step in json.loads((out / "trace.json").read_text())["steps"]]
        self.assertTrue(all((out / file).exists() and ".tidy" not in file for file in files))
        self.assertEqual(onehead("compare", out, self.trace("again", "--format", "csv")).returncode, 0)
        self.trace("cat", "--tidy")  # an earlier trace, which may be replaced
        self.assert_refused(onehead("trace", "--model", MINI, "--tidy"), 2, "--tidy", "--out")

    def test_plain_pandas_takes_no_label_for_something_else(self):
        out = self.trace("hard", "--text", HARD)
        tokens = pandas.read_csv(out / "tokens.csv")
        self.assertFalse(tokens.isna().any().any())
        self.assertEqual(b"".join(bytes_of(text) for text in tokens["bytes"]).decode(), HARD)
        self.assertTrue(all(label.startswith("'") and label.endswith("'") for label in tokens["token"]))
        self.assertIn("'NA'", list(tokens["token"]))
        scores = pandas.read_csv(out / "08_scores.csv")
        self.assertEqual(len(scores.columns), 3 + len(tokens))
        self.assertEqual(list(scores["token"]), list(tokens["token"]))

    def test_scaling_is_an_exact_division_and_rows_sum_to_one(self):
        out = self.trace("cat", "--format", "npy")
        scores, scaled = numpy.load(out / "08_scores.npy"), numpy.load(out / "09_scaled_scores.npy")
        self.assertTrue(numpy.array_equal(scaled * 8, scores))
        pattern = numpy.load(out / "11_softmax.npy")
        self.assertLess(abs(pattern.astype(numpy.float64).sum(axis=1) - 1).max(), 1e-6)
        self.assertTrue((pattern[numpy.triu_indices(6, 1)] == 0).all())
        self.assertEqual(list(pattern[0]), [1, 0, 0, 0, 0, 0])

    def test_the_parts_add_up(self):
        out = self.trace("cat", "--format", "npy")
        read = lambda name: numpy.load(out / f"{name}.npy").astype(numpy.float64)
        total = read("03_residual") + read("13_output_projection") + read("14_other_heads") + read("15_projection_bias")
        self.assertLess(abs(total - read("16_residual_after")).max(), 1e-6)


if __name__ == "__main__":
    unittest.main()
