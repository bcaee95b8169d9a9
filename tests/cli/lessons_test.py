"""The lessons as a reader runs them: with the default text, with other heads and texts, and as a handout."""
import re
import subprocess
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

    def test_each_question_is_answered_with_a_command_that_checks_it(self):
        for lesson in LESSONS:
            for arguments in ([], ["--head", "1", "--row", "2", "--text", "It's \"odd\", isn't it?"], ["--tokens", "464,3797,3797"],
                              ["--text", "unhappiness"], ["--layer", "3", "--text", "One"]):
                page = self.teach(lesson, "--model", MINI, *arguments)
                for part in page.split("\n  Question ")[1:]:
                    self.assertRegex(part, "\n    Check: ", f"{lesson} {arguments}: {part}")
                for command in re.findall(r"^    Check: (.*)$", page, re.M):
                    self.check(command)

    def check(self, command):
        """Pasted into a shell it works: 0, or 1 from a comparison that finds what the lesson says."""
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
        self.assertIn(result.returncode, {0, 1} if " compare " in command else {0}, f"{command}\n{result.stderr}")
        self.assertEqual(result.stderr, "", command)
        self.assertNotEqual(result.stdout.strip(), "", command)

    def test_checks_show_what_the_answers_say(self):
        page = self.teach("2_scores", "--model", MINI)
        answer = subprocess.run(["bash", "-c", re.findall("Check: (.*)", page)[0]], capture_output=True, text=True, check=True).stdout
        self.assertIn("In the trace: -4.2", answer)
        self.assertIn("score(1, 4) = -4.22", page)
        counted = re.findall("Check: (grep.*)", self.teach("4_mask_softmax", "--model", MINI))[0]
        self.assertEqual(subprocess.run(["bash", "-c", counted], capture_output=True, text=True, check=True).stdout.strip(), "15")
        made_up = re.findall("Check: (awk 'function.*)", self.teach("3_scale", "--model", MINI))[0]
        self.assertAlmostEqual(float(subprocess.run(["bash", "-c", made_up], capture_output=True, text=True, check=True).stdout), 8, delta=0.8)

    def test_an_installed_lesson_names_the_installed_command(self):
        for place, program in (("libexec/onehead/2_scores", "2_scores"), ("bin/onehead", "onehead")):
            (self.folder / place).parent.mkdir(parents=True)
            (self.folder / place).symlink_to(BIN / program)
        page = self.teach(self.folder / "libexec/onehead/2_scores", "--model", MINI)
        for command in re.findall("Check: (.*)", page):
            self.assertTrue(command.startswith(str(self.folder)), command)
            self.check(command)

    def test_a_handout_asks_and_leaves_room(self):
        for lesson in LESSONS:
            answered, asked = self.teach(lesson, "--model", MINI), self.teach(lesson, "--model", MINI, "--no-answers")
            self.assertEqual(answered.count("Question"), asked.count("Question"))
            for question in asked.split("\n  Question ")[1:]:
                self.assertEqual(question.count("_" * 90), 3)
            self.assertEqual(re.findall("Check: (.*)", answered), re.findall(r"^  \d  (.*)$", asked, re.M))
            told = {line for line in asked.splitlines() if line.strip()}
            answers = [line for line in answered.splitlines() if line.startswith("    ") and not line.startswith("    Check") and line not in told]
            self.assertGreater(len(answers), 2, "nothing was left out")

    def test_a_handout_takes_the_readers_own_text(self):
        self.assertIn("' bark'", self.teach("4_mask_softmax", "--model", MINI, "--no-answers", "--text", "Dogs bark at night"))

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
