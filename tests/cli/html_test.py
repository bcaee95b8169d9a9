"""The pages: read by a parser as a screen reader would, and laid out by a browser as a person sees them."""
import base64
import hashlib
import html.parser
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "browser"))
from browser import open_browser, set_look  # noqa: E402
from programs import MINI, SOURCE, SHARED, ProgramTest, onehead, run  # noqa: E402

FOX = SOURCE / "data" / "texts" / "fox.txt"
HOSTILE = "<b>bold</b> \"quoted\" 'single' & \U0001F600 \u05e9\u05dc\u05d5\u05dd \u202eevil</title><script>alert(1)</script> =1+1"
TWENTY = "one river seven green clock paper lamp one river seven green clock paper lamp one river seven green clock paper"

# What only a browser knows of a page: whether it fits, its width, the smallest font, and whether every figure fits.
MEASURE = """
const texts = [...document.querySelectorAll("p, li, td, th, dd, text")].filter(e => e.textContent.trim());
return [document.documentElement.scrollWidth <= innerWidth, innerWidth, Math.min(...texts.map(e => parseFloat(getComputedStyle(e).fontSize))),
  [...document.querySelectorAll("figure")].every(e => e.getBoundingClientRect().right <= innerWidth)];"""


class Page(html.parser.HTMLParser):
    """What is in a page: its elements with attributes, and its text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def contrast(*colours):
    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        return sum(w * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), parts))
    darker, brighter = sorted(map(luminance, colours))
    return (brighter + 0.05) / (darker + 0.05)


class HtmlTest(ProgramTest):
    def page(self, *arguments):
        out = self.trace("page", "--format", "text,csv,html", *arguments)
        return out / "trace.html"

    def values(self, folder, step):
        return [float(value) for line in (folder / f"{step}.csv").read_text().splitlines()[1:] for value in line.split(",")[3:]]

    def grids(self, file):
        """Of each table of shaded cells: class, exact value and what is printed, cell by cell."""
        tables = re.findall(r'<table class="grid">(.*?)</table>\n<svg', file.read_text(), re.DOTALL)  # its scale follows
        return [re.findall(r'<td class="([^"]*)" title="([^"]+)">([^<]+)</td>', table) for table in tables]

    def read(self, file):
        page = Page(file.read_text())
        self.assertEqual(page.open, [])
        return page


class Content(HtmlTest):
    def test_has_every_step_with_its_picture_formula_and_file(self):
        file = self.page()
        page = self.read(file)
        steps = sorted(path.stem for path in file.parent.glob("[0-9]*.csv"))
        self.assertEqual(len(steps), 16)
        self.assertEqual([s["id"] for s in page.all("section") if "id" in s], steps)
        sections = dict(re.findall(r'<section id="(.*?)">(.*?)</section>', file.read_text(), re.DOTALL))
        for step in steps:
            for part in ("<svg", 'class="formula"', f'href="{step}.csv"'):
                self.assertEqual(sections[step].count(part), 1, (step, part))
        links = {a["href"] for a in page.all("a")}
        self.assertTrue({f"{step}.csv" for step in steps} <= links)
        for link in links:
            self.assertTrue(link[1:] in steps if link.startswith("#") else (file.parent / link).exists(), link)

    def test_the_pattern_is_a_table_with_the_values_of_the_csv(self):
        file = self.page()
        cells = re.findall(r'<td class="[mp]\d?" title="([^"]+)">([^<]+)</td>', file.read_text())
        rows = [line.split(",")[3:] for line in (file.parent / "11_softmax.csv").read_text().splitlines()[1:]]
        self.assertEqual([exact for exact, _ in cells], [value for row in rows for value in row])
        for exact, rounded in cells:
            self.assertAlmostEqual(float(exact), float(rounded), delta=0.0005 + 1e-9)

    def test_every_value_of_a_score_shows_on_hover(self):
        file = self.page()
        section = file.read_text().split('<section id="08_scores">')[1].split("</section>")[0]
        titles = re.findall(r"<title>(\d) '.*?' reads (\d) '.*?': (\S+)</title>", section)
        rows = [line.split(",")[3:] for line in (file.parent / "08_scores.csv").read_text().splitlines()[1:]]
        self.assertEqual([(str(i), str(j), value) for i, row in enumerate(rows) for j, value in enumerate(row)], titles)

    def test_loads_nothing_and_runs_nothing_but_its_own_script(self):
        file = self.page("--text", HOSTILE)
        page = self.read(file)
        self.assertEqual((page.all("img"), page.all("iframe"), page.all("b")), ([], [], []))
        scripts = re.findall(r"<script(.*?)>(.*?)</script>", file.read_bytes().decode(), re.DOTALL)
        self.assertEqual(["application/json" in attributes for attributes, _ in scripts], [True, False])
        self.assertEqual(len(page.all("script")), 2)
        self.assertNotIn("<", scripts[0][1])
        digest = base64.b64encode(hashlib.sha256(scripts[1][1].encode()).digest()).decode()
        policy = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(policy[0]["content"], "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" + digest + "'")
        for _, attributes in page.elements:
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on"), name)
                if name in ("href", "src"):
                    self.assertNotRegex(value, r"^[a-z]+:(?!,$)|^//")

    def test_hostile_text_is_shown_as_it_is(self):
        file = self.page("--text", HOSTILE)
        text = "".join(self.read(file).words)
        for shown in ("<b>bold</b> \"quoted\" 'single' &", "\U0001F600", "\u05e9\u05dc\u05d5\u05dd", "\\u{202E}evil", "<script>alert(1)</script>"):
            self.assertTrue(shown in text, shown)
        self.assertFalse("\u202e" in file.read_text())

    def test_tokens_that_break_a_character(self):
        """Whatever is written about them is UTF-8, and shows their bytes as escapes."""
        ids = ("--model", MINI, "--tokens", "47249,464,222,3797")
        for name, more in (("half", ()), ("sharp", ("--experiment", "unscaled"))):
            onehead("trace", *ids, *more, "--out", self.folder / name, "--format", "text,csv,tidy,svg,html", "--quiet")
        runs = {"compare": ("compare", self.folder / "half", self.folder / "sharp"), "causality": ("causality", *ids, "--change", "1=dog"),
                "heads": ("heads", *ids, "--worth")}
        for name, run_ in runs.items():
            (self.folder / f"{name}.txt").write_text(onehead(*run_, "--html", self.folder / f"{name}.html").stdout)
        files = [file for file in self.folder.rglob("*.*") if file.suffix in (".txt", ".csv", ".svg", ".html", ".json")]
        self.assertGreater(len(files), 2 * 20 + 6)
        for file in files:
            shown = file.read_text(encoding="utf-8")  # fails for other bytes
            if file.suffix in (".txt", ".html", ".svg"):
                self.assertIn(r"\xF0\x9F\x98", shown, file)

    def test_pages_of_usual_size_are_small(self):
        self.assertLess(self.page("--text", TWENTY, "--layer", "3").stat().st_size, 1_500_000)

    @unittest.skipUnless(SHARED.joinpath("gpt2-small").exists(), "SKIPPED: the excerpts of GPT-2 small are not here")
    def test_pages_of_gpt2_small_too(self):
        out = self.folder / "real"
        model = SHARED / "gpt2-small" / "block0.safetensors"
        self.assertEqual(onehead("trace", "--model", model, "--format", "html", "--out", out, "--quiet").returncode, 0)
        self.assertLess((out / "trace.html").stat().st_size, 3_000_000)

    def test_a_long_text_is_cut_and_says_so(self):
        page = "".join(self.read(self.page("--text-file", SOURCE / "tests/reference/100-tokens.txt")).words)
        self.assertIn("Shown are rows 80 to 99 of 100.", page)

    def test_compare_and_causality(self):
        a, b = self.trace("a"), self.trace("b", "--experiment", "unscaled")
        onehead("compare", a, b, "--html", self.folder / "difference.html")
        words = "".join(self.read(self.folder / "difference.html").words)
        self.assertIn("A: as GPT-2 computes it", words)
        self.assertIn("B: experiment unscaled", words)
        self.assertNotIn(str(self.folder), words)
        grids = self.grids(self.folder / "difference.html")
        ours, theirs = (self.values(folder, "11_softmax") for folder in (a, b))
        self.assertEqual([[float(cell) for _, cell, _ in grid] for grid in grids[:2]], [ours, theirs])
        self.assertEqual(len(grids), 3)
        for x, y, (_, exact, shown) in zip(ours, theirs, grids[2]):
            self.assertAlmostEqual(float(exact), y - x, delta=1e-6)
            self.assertAlmostEqual(float(shown), y - x, delta=0.005 + 1e-6)

    def test_causality_says_what_was_changed_and_shades_by_size(self):
        onehead("causality", "--model", MINI, "--change", "1=dog", "--html", self.folder / "moved.html")
        moved = (self.folder / "moved.html").read_text()
        self.assertRegex("".join(self.read(self.folder / "moved.html").words).split("What a changed word moves")[1], r"^\s*changed1 ' cat' became ' dog'\n")
        cells = re.findall(r'<td class="(p\d)">(\d\.\d)e([-+]\d+)</td>', moved)
        self.assertGreater(len(cells), 40)
        self.assertGreater(len({shade for shade, _, _ in cells}), 2)
        for shade, digits, power in cells:
            if digits != "1.0":  # may be less before it is rounded
                self.assertEqual(shade, f"p{min(max(int(power) + 8, 1), 8)}")
        self.assertNotIn('class="broken"', moved)

    def test_numbers_can_be_read_on_every_shade(self):
        """A contrast of 4.5, as the web's guidelines for accessible content ask, in light and dark."""
        light, dark = re.split(r"@media screen and \(prefers-color-scheme: dark\)", self.page().read_text(), maxsplit=1)
        colours = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part.split("}")[0])) for part in (light.split(":root {")[1], dark)]
        shades = re.findall(r"\.(\w+) { --c: var\(--(\w+)\)(?:; --t: ([^}]+))? }", dark)
        self.assertEqual(len(shades), 19)
        for theme in colours:
            for name, fill, text in shades:
                text = theme[text.strip()[6:-1]] if text.startswith("var") else text.strip() or theme["ink"]
                self.assertGreaterEqual(contrast(theme[fill], text), 4.5, (name, fill, text))
            for name in ("ink", "quiet", "link", "accent"):
                self.assertGreaterEqual(contrast(theme["page"], theme[name]), 4.5, name)

    def test_the_lessons_have_an_index(self):
        for lesson in ("1_query_key_value", "3_scale"):
            self.assertEqual(run(lesson, "--model", MINI, "--out", self.folder / "t").returncode, 0)
        page = self.read(self.folder / "t" / "index.html")
        links = [a["href"] for a in page.all("a")]
        self.assertEqual(len(links), len(set(links)))
        for name in ("1_query_key_value/lesson.html", "3_scale/lesson.html", "3_scale/compare.html"):
            self.assertIn(name, links)
        for link in links:
            self.assertTrue((self.folder / "t" / link).exists(), link)

    def test_a_foreign_index_is_left_alone(self):
        (self.folder / "index.html").write_text("mine")
        self.assert_refused(run("2_scores", "--model", MINI, "--out", self.folder), 1, "index.html")
        self.assertEqual((self.folder / "index.html").read_text(), "mine")

    def test_the_picture_alone(self):
        picture = (self.trace("svg", "--format", "svg") / "pattern.svg").read_text()
        self.assertEqual(picture.count("<title>"), 36)
        self.assertIn("<style>", picture)


class Browser(HtmlTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = open_browser()
        cls.addClassCleanup(cls.browser.quit)

    def open(self, file, width):
        set_look(self.browser, "light", width)
        self.browser.get(file.as_uri())
        self.assertEqual(self.browser.get_log("browser"), [], file)

    def test_no_complaints(self):
        onehead("causality", "--model", MINI, "--change", "1=dog", "--html", self.folder / "moved.html")
        for file in [self.page("--text", HOSTILE), self.folder / "moved.html"]:
            self.open(file, 1000)
            self.assertEqual(self.browser.execute_script("return document.querySelectorAll('main').length"), 1)

    def test_fits_a_telephone_and_a_projector(self):
        files = []
        for name, text in {"cat": ["--text", "The cat sat on the mat"], "fox": ["--text-file", FOX], "hostile": ["--text", HOSTILE]}.items():
            files.append(self.trace(name, "--format", "text,csv,html", *text) / "trace.html")
            onehead("trace", "--model", MINI, "--out", self.folder / "sharp", "--experiment", "unscaled", *text, "--quiet")
            files += [self.folder / f"{name}.{page}.html" for page in ("compare", "causality", "heads")]
            onehead("compare", files[-4].parent, self.folder / "sharp", "--html", files[-3])
            onehead("causality", "--model", MINI, "--change", "1=dog", *text, "--html", files[-2])
            onehead("heads", "--model", MINI, "--worth", *text, "--html", files[-1])
        for file in files:
            for width in (400, 1600):
                self.open(file, width)
                fits, seen, smallest, figures = self.browser.execute_script(MEASURE)
                self.assertEqual((fits, figures, seen), (True, True, width), f"{file} at {width}")
                self.assertGreaterEqual(smallest, 10.5)


if __name__ == "__main__":
    unittest.main()
