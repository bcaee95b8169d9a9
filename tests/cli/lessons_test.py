"""The lessons as a reader runs them: with the default text, with other heads and texts, as a handout; and what they keep.
What their sentences say is in lesson_sentences_test."""
import html.parser
import json
import re
import subprocess
import unittest

from programs import BIN, MINI, SHARED, SOURCE, ProgramTest, onehead, run
from tiny_model import write_tiny

LESSONS = sorted(path.stem for path in (SOURCE / "lessons").glob("[0-9]*.cpp"))
STEPS = {"1_query_key_value": {1, 2, 3, 4, 5, 6, 7}, "2_scores": {5, 6, 8, 9}, "3_scale": {8, 9, 10, 11}, "4_mask_softmax": {9, 10, 11},
         "5_blend_project": {3, 7, 11, 12, 13, 14, 15, 16}, "6_one_head": set(range(1, 17)), "7_check_yourself": {11}}
OWN = {"3_scale": {"compare.html", "scaled", "unscaled"}, "6_one_head": {"trace.txt", "trace.html", "pattern.svg", "head_0.2", "head_3.2"},
       "7_check_yourself": {"pytorch.safetensors"}}
TEXTS = (["--head", "1"], ["--head", "2", "--text", "Dogs bark at night."], ["--text", "One"],
         ["--layer", "3", "--head", "2", "--text-file", SOURCE / "data/texts/fox.txt"])


class Links(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.links = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.links.append(dict(attributes)["href"])


def checks(page):
    """The commands of a lesson, each with what it is said to show."""
    found = []
    for part in re.split(r"^    Check: ", page, flags=re.M)[1:]:
        command, *shows = part.split("\n")
        rest = []
        for line in shows:
            if not line.startswith("           "):
                break
            rest.append(line.strip())
        found.append((command, " ".join(rest)))
    return found


class Lessons(ProgramTest):
    def teach(self, lesson, *arguments):
        result = run(lesson, "--out", self.folder / "traces", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_there_are_seven(self):
        self.assertEqual(LESSONS, sorted(STEPS))
        for lesson in LESSONS:
            self.assertTrue((BIN / lesson).exists())
            # A lesson is read from end to end: what it asks and how it judges the answer is most of it.
            self.assertLessEqual(len((SOURCE / "lessons" / f"{lesson}.cpp").read_text().splitlines()), 220, lesson)

    def test_each_keeps_what_is_its_own(self):
        for lesson in LESSONS:
            printed = self.teach(lesson, "--model", MINI)
            folder = self.folder / "traces" / lesson
            files = {entry.name for entry in folder.iterdir()}
            steps = {name for name in files if name[0].isdigit()}
            self.assertEqual({int(name[:2]) for name in steps}, STEPS[lesson])
            self.assertEqual(files - steps, {"lesson.txt", "lesson.html", "trace.json", "tokens.csv"} | OWN.get(lesson, set()))
            self.assertEqual((folder / "lesson.txt").read_text(), printed)
            index = json.loads((folder / "trace.json").read_text())
            self.assertEqual(index["lesson"]["name"], lesson)
            kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
            self.assertEqual(set(index["lesson"]["files"]) | {"trace.json"}, kept)
            for link in Links((folder / "lesson.html").read_text()).links:
                self.assertTrue((folder / link.split("#")[0]).exists(), f"{lesson}: {link}")

    def test_whole_traces_below_a_lesson_are_whole(self):
        for lesson, below in (("3_scale", ("scaled", "unscaled")), ("6_one_head", ("head_0.2", "head_3.2"))):
            self.teach(lesson, "--model", MINI)
            for name in below:
                again = onehead("compare", self.folder / "traces" / lesson / name, self.folder / "traces" / lesson / name)
                self.assertEqual((again.returncode, again.stderr), (0, ""))

    def test_the_contents_page_leads_everywhere(self):
        for lesson in LESSONS:
            self.teach(lesson, "--model", MINI)
        page = (self.folder / "traces" / "index.html").read_text()
        links = Links(page).links
        for link in links:
            self.assertTrue((self.folder / "traces" / link).exists(), link)
        for lesson in LESSONS:
            self.assertIn(f"{lesson}/lesson.html", links)
        for further in ("6_one_head/head_0.2/trace.html", "6_one_head/head_3.2/trace.html", "3_scale/compare.html"):
            self.assertIn(further, links)
        self.assertNotIn("http", "".join(links))

    def test_a_lesson_replaces_its_own_folder_and_nothing_else(self):
        self.teach("3_scale", "--model", MINI)
        before = {path.relative_to(self.folder): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        self.teach("3_scale", "--model", MINI)
        self.assertEqual(before, {path.relative_to(self.folder): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()})
        mine = self.folder / "traces/3_scale/scaled/mine.txt"
        mine.write_text("notes")
        self.assert_refused(run("3_scale", "--model", MINI, "--out", self.folder / "traces"), 1, "scaled/mine.txt")
        self.assertEqual(mine.read_text(), "notes")
        mine.unlink()
        self.assertEqual([entry.name for entry in (self.folder / "traces").iterdir() if entry.name.startswith(".")], [])

    def test_any_head_and_text(self):
        for lesson in LESSONS:
            for arguments in TEXTS:
                self.teach(lesson, "--model", MINI, *arguments)

    def test_a_vocabulary_of_its_own(self):
        model = write_tiny(self.folder / "tiny")
        for lesson in LESSONS:
            self.teach(lesson, "--model", model, "--text", "the cat")

    def test_each_question_is_answered_with_a_command_that_checks_it(self):
        for lesson in LESSONS:
            for arguments in ([], ["--head", "1", "--row", "2", "--text", "It's \"odd\", isn't it?"], ["--tokens", "464,3797,3797"],
                              ["--text", "unhappiness"], ["--layer", "3", "--text", "One"]):
                page = self.teach(lesson, "--model", MINI, *arguments)
                for part in page.split("\n  Question ")[1:]:
                    self.assertRegex(part, "\n    Check: ", f"{lesson} {arguments}: {part}")
                for command, shows in checks(page):
                    self.check(command, shows)

    def check(self, command, shows):
        """Pasted into a shell it works: 0, or 1 from a comparison that finds what the lesson says. It prints the numbers that
        the lesson says it shows, in some rounding."""
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
        self.assertIn(result.returncode, {0, 1} if " compare " in command else {0}, f"{command}\n{result.stderr}")
        self.assertEqual(result.stderr, "", command)
        self.assertNotEqual(result.stdout.strip(), "", command)
        self.assertNotEqual(shows, "", command)
        if "rand()" in command:
            return self.assertAlmostEqual(float(result.stdout), float(re.search(r"[\d.]+\d", shows)[0]), delta=0.8)
        printed = [float(number) for number in re.findall(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[+-]\d+)?", result.stdout)]
        for number in re.findall(r"(?<![\w.'])-?(?:\d+\.\d+|\.\d+|\d)(?:e[+-]\d+)?(?![\w'])", shows.split("column")[0]):
            value = float(number)
            digits = len(number.split("e")[0].split(".")[1]) if "." in number else 0
            unit = 10.0 ** -digits * (10.0 ** int(number.split("e")[1]) if "e" in number else 1)
            self.assertTrue(any(abs(abs(one) - abs(value)) <= 1.01 * unit for one in printed), f"{command}\nshould show {number}: {shows}\n{result.stdout}")

    def test_an_installed_lesson_names_the_installed_command(self):
        for place, program in (("libexec/onehead/2_scores", "2_scores"), ("bin/onehead", "onehead")):
            (self.folder / place).parent.mkdir(parents=True)
            (self.folder / place).symlink_to(BIN / program)
        page = self.teach(self.folder / "libexec/onehead/2_scores", "--model", MINI)
        for command, shows in checks(page):
            if not command.startswith("awk"):
                self.assertTrue(command.startswith(str(self.folder)), command)
            self.check(command, shows)

    def test_commands_are_relative_where_they_can_be(self):
        result = run("2_scores", "--out", self.folder / "traces", cwd=BIN.parent)
        commands = [command for command, _ in checks(result.stdout) if not command.startswith("awk")]
        self.assertTrue(commands)
        for command in commands:
            self.assertTrue(command.startswith("bin/onehead "), command)

    def test_a_handout_asks_and_leaves_room(self):
        for lesson in LESSONS:
            answered, asked = self.teach(lesson, "--model", MINI), self.teach(lesson, "--model", MINI, "--no-answers")
            self.assertEqual(answered.count("Question"), asked.split("To check an answer")[0].count("Question"))
            for question in asked.split("To check an answer")[0].split("\n  Question ")[1:]:
                self.assertIn(question.count("_" * 90), range(1, 9))
            for command, _ in checks(answered):
                self.assertIn(command, asked)
            self.assertNotIn("Check:", asked)
            told = {line for line in asked.splitlines() if line.strip()}
            answers = [line for line in answered.splitlines() if line.startswith("    ") and not line.startswith("    Check") and line not in told]
            self.assertGreater(len(answers), 2, "nothing was left out")

    def test_the_key_has_the_answers_alone(self):
        for lesson in LESSONS:
            answered, key = self.teach(lesson, "--model", MINI), self.teach(lesson, "--model", MINI, "--answers")
            self.assertIn(": the answers", key)
            self.assertEqual(checks(answered), checks(key))
            self.assertEqual(re.findall(r"Question \d", answered), re.findall(r"Question \d", key))
        self.assert_refused(run(LESSONS[0], "--answers", "--no-answers"), 2, "--answers")

    def test_a_handout_takes_the_readers_own_text(self):
        self.assertIn("' bark'", self.teach("4_mask_softmax", "--model", MINI, "--no-answers", "--text", "Dogs bark at night"))

    @unittest.skipUnless(SHARED.joinpath("gpt2-small").exists(), "SKIPPED: the excerpts of GPT-2 small are not here")
    def test_real_gpt2(self):
        for lesson in LESSONS:
            for block, head in (("block0", "1"), ("block4", "11"), ("block5", "5")):
                page = self.teach(lesson, "--model", SHARED / "gpt2-small" / f"{block}.safetensors", "--head", head)
                self.assertNotIn("(!)", page)
                if lesson in ("3_scale", "7_check_yourself"):
                    self.assertIn("What the model expects next is left out", " ".join(page.split()))

    def test_errors_are_one_line(self):
        for lesson in LESSONS:
            self.assert_refused(run(lesson, "--head", "9", "--model", MINI), 2, lesson, "--head: expected one from 0 to 2, found 9")
            self.assert_refused(run(lesson, "--model", self.folder / "none"), 1, lesson, "none")


if __name__ == "__main__":
    unittest.main()
