"""onehead measure: lengths and cosines as numpy finds them; onehead terms: every step, with names elsewhere."""
import re
import unittest

import numpy

from programs import ProgramTest, onehead


class Measure(ProgramTest):
    def test_as_numpy_finds_them(self):
        out = self.trace("cat", "--format", "csv,npy")
        q, k = (numpy.load(out / f"{name}.npy").astype(float) for name in ("05_q", "06_k"))
        words = onehead("measure", out, "q", 4, "k", 1).stdout.split()
        a, b = q[4], k[1]
        for number in (a.mean(), a.std(), numpy.linalg.norm(a), numpy.linalg.norm(b), a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b)):
            self.assertIn(f"{number:.3f}", words)

    def test_a_masked_row_keeps_its_sign(self):
        line = onehead("measure", self.trace("cat"), "masked_scores", 0).stdout.splitlines()[1]
        self.assertEqual(line.split()[-4:], ["6", "-inf", "-", "inf"])

    def test_wrong_use(self):
        out = self.trace("cat")
        for arguments, word in ((("q",), "expected a row after each step"), ((), "STEP ROW"), (("q", 6), "0 to 5"), (("dance", 1), "dance"), (("q", "one"), "whole number")):
            self.assert_refused(onehead("measure", out, *arguments), 2, word)


class Terms(ProgramTest):
    def test_every_step_is_named(self):
        page = onehead("terms", "--layer", 3).stdout
        sections = dict(re.findall(r"^(\d\d \w+ \[[^]]+\])$(.*?)(?=^\d\d |\Z)", page, re.DOTALL | re.MULTILINE))
        self.assertEqual(len(sections), 16)
        for section, words in sections.items():
            self.assertEqual((words.count("\n  TransformerLens "), words.count("\n  Hugging Face ")), (1, 1), section)
        self.assertIn("  TransformerLens  blocks.3.attn.hook_q\n", sections["05 q [pos, d_head]"])
        self.assertIn("  Hugging Face     hidden_states[3]\n", sections["03 residual [pos, d_model]"])
        self.assertEqual(onehead("terms", "--markdown").stdout.count("\n"), 2 + 16)


if __name__ == "__main__":
    unittest.main()
