"""The lessons as a reader runs them: with the default text, with other heads and texts, and as a handout."""
import unittest

from programs import BIN, MINI, SHARED, SOURCE, ProgramTest, run

LESSONS = sorted(path.stem for path in (SOURCE / "lessons").glob("[0-9]*.cpp"))
STEPS = 16


class Lessons(ProgramTest):
    def teach(self, lesson, *arguments):
        result = run(lesson, "--out", self.folder, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_there_are_seven(self):
        self.assertEqual(len(LESSONS), 7)
        for lesson in LESSONS:
            self.assertTrue((BIN / lesson).exists())
            self.assertLessEqual(len((SOURCE / "lessons" / f"{lesson}.cpp").read_text().splitlines()), 80, lesson)

    def test_each_writes_its_trace(self):
        for lesson in LESSONS:
            self.teach(lesson, "--model", MINI)
            folders = ["scaled", "unscaled"] if lesson == "3_scale" else ["."]
            for folder in folders:
                files = {entry.name for entry in (self.folder / lesson / folder).iterdir()}
                self.assertTrue({"trace.txt", "trace.json", "tokens.csv"} <= files)
                self.assertEqual(len([name for name in files if name[0].isdigit()]), STEPS)

    def test_any_head_and_text(self):
        for lesson in LESSONS:
            for arguments in (["--head", "1"], ["--head", "2", "--text", "Dogs bark at night."], ["--text", "One"],
                              ["--layer", "3", "--head", "2", "--text-file", SOURCE / "data/texts/fox.txt"]):
                self.teach(lesson, "--model", MINI, *arguments)

    def test_a_handout_asks_and_does_not_answer(self):
        for lesson in LESSONS:
            answered, asked = self.teach(lesson, "--model", MINI), self.teach(lesson, "--model", MINI, "--no-answers")
            self.assertEqual(answered.count("Question"), asked.count("Question"))
            self.assertGreater(len(answered), len(asked) + 100)

    @unittest.skipUnless(SHARED.joinpath("gpt2-small").exists(), "SKIPPED: the excerpts of GPT-2 small are not here")
    def test_real_gpt2(self):
        for lesson in LESSONS:
            for block, head in (("block0", "1"), ("block4", "11"), ("block5", "5")):
                self.teach(lesson, "--model", SHARED / "gpt2-small" / f"{block}.safetensors", "--head", head)

    def test_errors_are_one_line(self):
        for lesson in LESSONS:
            self.assert_refused(run(lesson, "--head", "9", "--model", MINI), 2, lesson, "--head 9")
            self.assert_refused(run(lesson, "--model", self.folder / "none"), 1, lesson, "none")


if __name__ == "__main__":
    unittest.main()
