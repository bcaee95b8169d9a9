"""The pages: read by a parser as a screen reader would, and laid out by a browser as a person sees them."""
import html
import html.parser
import json
import re
import shutil
import subprocess
import unittest

from programs import MINI, SOURCE, SHARED, ProgramTest, onehead, run

FOX = SOURCE / "data" / "texts" / "fox.txt"
HOSTILE = "<b>bold</b> \"quoted\" 'single' & \U0001F600 \u05e9\u05dc\u05d5\u05dd \u202eevil</title><script>alert(1)</script> =1+1"
TWENTY = "one river seven green clock paper lamp one river seven green clock paper lamp one river seven green clock paper"

# A page in a frame of a width: what only a browser knows, left in the title where it can be read.
FRAME = """<!doctype html><meta charset="utf-8"><iframe id="f" style="width: WIDTHpx; height: 900px; border: 0" srcdoc="PAGE"></iframe>
<script>addEventListener("load", () => {
  const page = f.contentDocument, view = f.contentWindow;
  const texts = [...page.querySelectorAll("p, li, td, th, dd, text")].filter(e => e.textContent.trim());
  document.title = JSON.stringify([page.documentElement.scrollWidth <= view.innerWidth, view.innerWidth,
    Math.min(...texts.map(e => parseFloat(view.getComputedStyle(e).fontSize))),
    [...page.querySelectorAll("figure")].every(e => e.getBoundingClientRect().right <= view.innerWidth)]);
})</script>"""


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


class HtmlTest(ProgramTest):
    def page(self, *arguments):
        out = self.trace("page", "--format", "text,csv,html", *arguments)
        return out / "trace.html"

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
        self.assertEqual(len(page.all("svg")), len(steps))
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

    def test_loads_nothing_and_runs_nothing(self):
        page = self.read(self.page("--text", HOSTILE))
        self.assertEqual((page.all("script"), page.all("img"), page.all("iframe"), page.all("b")), ([], [], [], []))
        policy = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy[0]["content"])
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

    def test_pages_of_usual_size_are_small(self):
        self.assertLess(self.page("--text", TWENTY, "--layer", "3").stat().st_size, 1_000_000)

    @unittest.skipUnless(SHARED.joinpath("gpt2-small").exists(), "SKIPPED: the excerpts of GPT-2 small are not here")
    def test_pages_of_gpt2_small_too(self):
        out = self.folder / "real"
        model = SHARED / "gpt2-small" / "block0.safetensors"
        self.assertEqual(onehead("trace", "--model", model, "--format", "html", "--out", out, "--quiet").returncode, 0)
        self.assertLess((out / "trace.html").stat().st_size, 1_000_000)

    def test_a_long_text_is_cut_and_says_so(self):
        page = "".join(self.read(self.page("--text-file", SOURCE / "tests/reference/100-tokens.txt")).words)
        self.assertIn("Shown are rows 80 to 99 of 100.", page)

    def test_compare_and_causality(self):
        a, b = self.trace("a"), self.trace("b", "--experiment", "unscaled")
        onehead("compare", a, b, "--html", self.folder / "difference.html")
        page = self.read(self.folder / "difference.html")
        self.assertIn("experiment", "".join(page.words))
        self.assertEqual(len([t for t in page.all("table") if t.get("class") == "grid"]), 2)
        onehead("causality", "--model", MINI, "--change", "1=dog", "--html", self.folder / "moved.html")
        moved = (self.folder / "moved.html").read_text()
        self.assertIn('class=" moved"', moved)
        self.assertNotIn('class=" broken"', moved)
        self.read(self.folder / "moved.html")

    def test_the_lessons_have_an_index(self):
        for lesson in ("1_query_key_value", "3_scale"):
            self.assertEqual(run(lesson, "--model", MINI, "--out", self.folder / "t").returncode, 0)
        page = self.read(self.folder / "t" / "index.html")
        links = [a["href"] for a in page.all("a")]
        self.assertEqual(links[::2], [f"{name}/trace.html" for name in ("1_query_key_value", "3_scale/scaled", "3_scale/unscaled")])
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


@unittest.skipUnless(shutil.which("chromium"), "SKIPPED: chromium is not here")
class Browser(HtmlTest):
    def browse(self, file, width, *options):
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/browser",
                   "--enable-logging=stderr", "--disable-background-networking", "--no-first-run", f"--window-size={width},900", *options, file.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)

    def measure(self, file, width):
        """Whether the page fits, its width, the smallest font, and whether every figure fits."""
        page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", file.read_text())
        frame = self.folder / "frame.html"
        frame.write_text(FRAME.replace("WIDTH", str(width)).replace("PAGE", html.escape(page)))
        return json.loads(re.search(r"<title>(\[.*?\])</title>", self.browse(frame, 1700, "--dump-dom").stdout).group(1))

    def test_no_complaints(self):
        pages = [self.page("--text", HOSTILE)]
        onehead("causality", "--model", MINI, "--change", "1=dog", "--html", self.folder / "moved.html")
        for file in [*pages, self.folder / "moved.html"]:
            result = self.browse(file, 1000, "--dump-dom")
            self.assertNotIn("CONSOLE", result.stderr)
            self.assertIn("<main>", result.stdout)

    def test_fits_a_telephone_and_a_projector(self):
        for text in (["--text", "The cat sat on the mat"], ["--text-file", FOX], ["--text", HOSTILE]):
            file = self.page(*text)
            for width in (400, 1600):
                fits, seen, smallest, figures = self.measure(file, width)
                self.assertEqual((fits, figures, seen), (True, True, width), f"{text} at {width}")
                self.assertGreaterEqual(smallest, 10.5)


if __name__ == "__main__":
    unittest.main()
