"""The rules of the docs test by themselves: when output is as shown, when a number is known, what an update fills in."""
import pathlib
import unittest

from complaints import shows
from figures import Known
from page import Page
from refill import refilled

HEAD = "head 0.2 gives .3994 to row 4 of 6 tokens, 2981 times, off by 3e-08, -4.22"


class Shown(unittest.TestCase):
    def test_three_dots_stand_for_lines(self):
        output = ["a", "b", "c", "d", ""]
        self.assertTrue(shows(["a", "b", "c", "d"], output))
        self.assertTrue(shows(["a", "...", "d"], output))
        self.assertTrue(shows(["...", "c", "..."], output))
        for wrong in (["a", "b", "c"], ["...", "x", "..."], ["b", "...", "d"], ["a", "...", "c"], ["...", "c", "...", "b", "..."]):
            self.assertFalse(shows(wrong, output), wrong)

    def test_an_update_finds_the_lines_that_were_shown(self):
        output = ["title", "  09 scaled  1.5", "  11 softmax  .250  .750", "", "written to cat"]
        self.assertEqual(refilled(["...", "  11 softmax  .320  .680", "...", "written to cat"], output),
                         ["...", "  11 softmax  .250  .750", "...", "written to cat"])
        self.assertEqual(refilled(["an earlier output"], output), output)


class Figures(unittest.TestCase):
    def unknown(self, prose, given=()):
        return Known([HEAD]).unknown(prose, set(given))

    def test_numbers_that_the_output_has(self):
        self.assertEqual(self.unknown("Row 4 gets 0.399 or 0.40, 2,981 times; -4.22. Head 0.2 has 6 tokens and 3e-8"), [])

    def test_numbers_that_it_has_not(self):
        self.assertEqual(self.unknown("0.398 and 0.41, 2982, 4.23, 4e-8, head 0.4, head 0.3"), ["0.398", "0.41", "2982", "4.23", "4e-8", "0.4", "0.3"])

    def test_small_numbers_need_their_word(self):
        self.assertEqual(self.unknown("Row 6 of 4 tokens"), ["6", "4"])

    def test_names_are_no_numbers_and_facts_may_be_given(self):
        self.assertEqual(self.unknown("GPT-2 in float32 of 2019, UTF-8, step d0", ["2019"]), [])


class Pages(unittest.TestCase):
    def test_what_a_page_says_to_its_test(self):
        page = Page(pathlib.Path("x.md"), "# T\n\n<!-- $ b -->\n<!-- given: 7 -->\n\n## S\n\nRun `onehead worked q 4 0`.\n\n```console\n$ a\nout\n```\n\n```cpp\nx;\n```\n")
        self.assertEqual([(step.text, step.section, step.shown) for step in page.steps],
                         [("b", 0, None), ("onehead worked q 4 0", 1, None), ("a", 1, ["out"])])
        self.assertEqual((page.given, page.quotes), ({0: {"7"}}, [("x;", 1)]))

    def test_what_it_does_not_know_is_an_error(self):
        for text in ("<!-- whatever -->", "```\n$ a\n```", "```console\nout\n```"):
            with self.assertRaises(ValueError):
                Page(pathlib.Path("x.md"), text)


if __name__ == "__main__":
    unittest.main()
