"""The pages' script in a real browser, used as a person would: by clicking, dragging and typing.

Expected numbers come from the CSVs of the program's own experiments (to the bit, where the page promises bits) and from numpy.
Each trace is looked at in another look: light or dark, 400 or 1200 px wide. ONEHEAD_EVERY_LOOK=1: each in all four.
"""
import csv
import functools
import itertools
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import unittest

import numpy
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from browser import SHOW, open_browser, set_look  # noqa: E402
from programs import MINI, SHARED, SOURCE, onehead, run  # noqa: E402

LOOKS = [("light", 1200), ("dark", 400), ("light", 400), ("dark", 1200)]  # the first two have both themes and both widths
EVERY_LOOK = bool(os.environ.get("ONEHEAD_EVERY_LOOK"))
REAL = SHARED / "gpt2-small" / "block5.safetensors"
HOSTILE = "<b>bold</b> \"quoted\" 'single' & \U0001F600 \u05e9\u05dc\u05d5\u05dd \u202eevil</script><script>alert(1)</script> =1+1 ${x} `y`"
TRACES = {"default": ["--model", MINI], "fox": ["--model", MINI, "--layer", "3", "--head", "2", "--text-file", SOURCE / "data/texts/fox.txt"]}
if REAL.exists():
    TRACES["real"] = ["--model", REAL, "--layer", "5", "--head", "5"]
EXPERIMENTS = ("unscaled", "divide-by-sqrt-d-model", "unmasked", "masked-by-zero", "masked-by-10000", "masked-after-softmax")


def looks_of(traces):
    """Pairs of a look and a trace: two at least."""
    if EVERY_LOOK:
        return list(itertools.product(LOOKS, traces))
    return [(LOOKS[i], traces[i % len(traces)]) for i in range(max(2, len(traces)))]


def setUpModule():
    """One browser and one folder of traces for all tests."""
    global place, browser
    place = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(place.cleanup)
    browser = open_browser()
    unittest.addModuleCleanup(browser.quit)


@functools.lru_cache(maxsize=None)
def trace(name, *options):
    """The folder of a trace, made once."""
    out = pathlib.Path(place.name) / name
    result = onehead("trace", *options, "--out", out, "--format", "csv,html,text", "--quiet")
    assert result.returncode == 0, result.stderr
    return out


@functools.lru_cache(maxsize=None)
def read_step(folder, stem):
    """[rows, columns] in float32."""
    with open(next(folder.glob(f"[0-9][0-9]_{stem}.csv")), newline="", encoding="utf-8") as file:
        return numpy.array([record[3:] for record in csv.reader(file)][1:], dtype=numpy.float32)


def weight_text(value):
    return str(int(value)) if value in (0, 1) else f"{value:.3f}".removeprefix("0")


class BrowserTest(unittest.TestCase):
    def setUp(self):
        self.browser, self.folder = browser, pathlib.Path(place.name)

    def each(self, traces=None):
        """The traces in turn, each with its page open, in changing looks."""
        for look, name in looks_of(traces or list(TRACES)):
            set_look(self.browser, *look)
            self.where = f"{name}, {look}: "
            self.name, self.folder_of_run = name, trace(name, *TRACES[name])
            self.facts = json.loads((self.folder_of_run / "trace.json").read_text())
            self.n = len(read_step(self.folder_of_run, "q"))
            self.row = self.n - 2
            self.open(self.folder_of_run / "trace.html")
            yield name
            self.assert_quiet()

    def each_look(self):
        for look in LOOKS if EVERY_LOOK else LOOKS[:2]:
            set_look(self.browser, *look)
            self.where = f"{look}: "
            yield look

    def _formatMessage(self, msg, standardMsg):
        """Which page it was, in front of what is wrong."""
        return getattr(self, "where", "") + super()._formatMessage(msg, standardMsg)

    def open(self, file, state=""):
        if state:
            self.browser.get("about:blank")  # the same page with another state would not be loaded again
        self.browser.get(file.as_uri() + state)
        self.wait(lambda: "recomputed" in self.text("#recomputed") or not self.all("#recomputed"))

    def wait(self, what):
        WebDriverWait(self.browser, 20, poll_frequency=0.02).until(lambda _: what())

    def assert_quiet(self):
        """No message on the console, nothing requested, nothing wider than the window."""
        self.assertEqual(self.browser.get_log("browser"), [])
        requested, fits = self.script("return [performance.getEntriesByType('resource').map(entry => entry.name), document.documentElement.scrollWidth <= innerWidth]")
        self.assertEqual(requested, [])
        self.assertTrue(fits, "wider than the window")

    def experiment(self, name):
        return trace(f"{self.name}-{name}", *TRACES[self.name], "--experiment", name)

    def script(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """What all of them say, in one call."""
        return self.script("return Array.from(document.querySelectorAll(arguments[0]), element => element.textContent)", selector)

    def attributes(self, selector, name):
        return self.script("return Array.from(document.querySelectorAll(arguments[0]), element => element.getAttribute(arguments[1]))", selector, name)

    def text(self, selector):
        return (self.texts(selector) or [""])[0]

    def actions(self):
        return ActionChains(self.browser, duration=0)  # milliseconds that the pointer takes from place to place

    def show(self, element):
        self.browser.execute_async_script(SHOW, element)
        return element

    def click(self, element):
        element = self.one(element) if isinstance(element, str) else element
        self.actions().move_to_element(self.show(element)).click().perform()

    def click_word(self, place):
        self.click(self.all(".sentence [role=radio]")[place])

    def button(self, within, words):
        found = self.script("return [...document.querySelectorAll(arguments[0] + ' button')].find(button => button.textContent.includes(arguments[1]))", within, words)
        self.assertIsNotNone(found, f"no button {words}")
        return found

    def press(self, element, *keys):
        self.script("arguments[0].focus()", self.show(element))
        self.actions().send_keys(*keys).perform()

    def drag(self, element, start, right):
        """From a place in the element, measured from its middle, so many pixels to the right."""
        self.show(element)
        half = right // 2
        self.actions().move_to_element_with_offset(element, start, 0).click_and_hold().move_by_offset(half, 0).move_by_offset(right - half, 0).release().perform()

    @property
    def address(self):
        return dict(part.split("=", 1) for part in self.script("return decodeURIComponent(location.hash.slice(1))").split("&") if part)

    def shown_weights(self):
        """What the words of the text say of their weights: {position: text}, every digit."""
        words = ", ".join(self.attributes(".sentence [data-first]", "title"))
        return {int(m[1]): m[2] for m in re.finditer(r"(?:^|, )(\d+) '(?:[^'\\]|\\.)*'\S*: ([-\d.e]+)", words)}

    def assert_weights(self, folder, row=None):
        """The page's weights are those of a trace, to the bit."""
        row = self.row if row is None else row
        expected = read_step(folder, "softmax")[row]
        shown = self.shown_weights()
        self.assertEqual(sorted(shown), list(range(self.n)))
        self.assertEqual([numpy.float32(shown[key]) for key in range(self.n)], list(expected))


class FollowAnyRow(BrowserTest):
    def assert_follows(self, row):
        """Title, sentence, story, matrices, panels and pictures tell of this row."""
        weights = read_step(self.folder_of_run, "softmax")[row]
        best = int(weights.argmax())
        seen = self.script("""
          const texts = selector => Array.from(document.querySelectorAll(selector), element => element.textContent);
          return {
            titles: [...texts('h1'), document.title, ...texts('.controls .which')],
            chapters: texts('[data-part=chapter-2], [data-part=chapter-3]'),
            asks: Array.from(document.querySelectorAll('.sentence .asks'), word => word.dataset.first),
            checked: texts('.sentence [role=radio][aria-checked=true]').length,
            grids: Array.from(document.querySelectorAll('table[role=grid]'), grid => grid.querySelector('tr.asks th').textContent),
            captions: Object.fromEntries(['divisor', 'mask', 'gaps', 'mixer'].map(name => [name, texts(`.${name} caption`)[0]])),
            labels: texts('svg.live text.asks'),
          }""")
        self.assertEqual(len(seen["titles"]), 3)
        for title in seen["titles"][:2]:
            self.assertIn(f"row {row} '", title)
        self.assertIn(f"{row} '", seen["titles"][2])
        first = read_step(self.folder_of_run, "q")[row][0]
        self.assertIn(f"{first:.3f}", seen["chapters"][0])
        self.assertRegex(seen["chapters"][1], rf"Row {row} '.*' gives most weight to {'itself' if best == row else f'row {best} '}")
        self.assertEqual(seen["asks"], [str(row)])
        self.assertEqual(seen["checked"], 1)
        for grid in seen["grids"]:
            self.assertIn(f"{row} '", grid)
        for panel, caption in seen["captions"].items():
            self.assertIn(f"{row} '", caption, panel)
        self.assertGreater(len(seen["labels"]), 5)
        for label in seen["labels"]:
            self.assertTrue(label.startswith(f"{row} "), label)
        self.assert_weights(self.folder_of_run, row)

    def test_by_a_word_a_label_and_the_keys(self):
        for _ in self.each():
            self.assert_follows(self.row)
            self.click_word(1)
            self.assert_follows(1)
            self.assertEqual(self.address["row"], "1")
            self.actions().send_keys(Keys.ARROW_RIGHT).perform()  # the word has the focus
            self.assert_follows(2)
            self.actions().send_keys(Keys.ARROW_LEFT).perform()
            self.assert_follows(1)
            self.press(self.one("body"), Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
            self.script("document.activeElement.blur()")
            self.actions().send_keys(Keys.ARROW_RIGHT).perform()
            self.assertGreater(int(self.address.get("row", self.row)), 1)
            label = [t for t in self.all('section[id="08_scores"] svg.live text.row')][0]
            self.click(label)
            self.assert_follows(0)
            self.click(self.button(".controls", "later row"))
            self.assert_follows(1)
            for head in self.all("table[role=grid] tr:nth-child(5) th")[:1]:
                self.click(head)
                self.assert_follows(3)

    def test_every_row_has_its_story(self):
        for _ in self.each():
            for row in range(self.n):
                self.click_word(row)
                self.assert_follows(row)


class Microscope(BrowserTest):
    def test_a_cell_of_scores(self):
        for _ in self.each():
            scores = read_step(self.folder_of_run, "scores")
            query, key = 3, 1
            cell = self.script("""return [...document.querySelectorAll('section[id="08_scores"] svg path')].find(
                path => path.textContent.startsWith(arguments[0]) && path.textContent.includes(' reads ' + arguments[1]))""", f"{query} '", f"{key} '")
            self.click(cell)
            self.assertEqual(self.address["cell"], f"scores,{query},{key}")
            self.assertEqual(numpy.float32(self.text(".worked .result strong")), scores[query, key])
            titles = self.texts(".worked svg g > title")
            self.assertEqual([len(titles), len(self.all(".worked svg rect.q")), len(self.all(".worked svg rect.k"))], [64] * 3)
            self.assertAlmostEqual(float(self.text(".worked svg text.landing")), float(scores[query, key]), delta=0.0051)
            products = read_step(self.folder_of_run, "q")[query].astype(float) * read_step(self.folder_of_run, "k")[key]
            said = [float(title.split(" = ")[1].split(",")[0]) for title in titles]
            numpy.testing.assert_allclose(said, products, atol=0.0051)
            self.click(self.one(".worked input[value=size]"))
            said = [abs(float(title.split(" = ")[1].split(",")[0])) for title in self.texts(".worked svg g > title")]
            self.assertEqual(said, sorted(said, reverse=True))
            self.assertEqual(self.address["order"], "size")
            directions = self.texts(".worked table.keys button")
            self.assertEqual(directions, [f"{scores[query, key]:.2f}", f"{scores[key, query]:.2f}"])
            self.assertIn(f"{scores[query, key]:.2f}", directions[0])
            self.click(self.all(".worked table.keys button")[1])  # the other direction
            self.assertEqual(self.address["cell"], f"scores,{key},{query}")
            self.assertEqual(self.text(".worked .agrees"), "The program wrote the same bits.")

    def test_any_number_by_typing_and_its_command(self):
        for name in self.each():
            for step in ("normalized", "q", "k", "v", "scaled_scores", "masked_scores", "softmax", "blend", "output_projection", "other_heads", "residual_after"):
                if not list(self.folder_of_run.glob(f"[0-9][0-9]_{step}.csv")):
                    continue  # an excerpt leaves out what it cannot know
                values = read_step(self.folder_of_run, step)
                Select(self.one(".worked select")).select_by_value(step)
                self.press(self.one(".worked input[type=number]"))
                keys = self.actions()
                for number in ("2", "5"):
                    keys.key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys(number, Keys.TAB)
                keys.perform()
                self.assertEqual(self.address["cell"], f"{step},2,5")
                if name == "real" and step == "normalized":  # made of rows that the excerpt does not have
                    continue
                shown = self.text(".worked .result strong")
                self.assertEqual(numpy.float32(shown.replace("inf", "inf")), values[2, 5], step)
                self.assertEqual(self.text(".worked .agrees"), "The program wrote the same bits.", step)
                command = self.text(".worked .command code")
                words = command.replace("'", "").split()
                self.assertEqual(words[:5], ["onehead", "worked", step, "2", "5"])
                if "--model" in words:
                    words[words.index("--model") + 1] = str(REAL)
                else:
                    words += ["--model", str(MINI)]
                printed = onehead(*words[1:]).stdout
                self.assertIn(f"{shown}", printed, command)

    def test_numbers_of_a_what_if_have_the_command_of_its_experiment(self):
        for _ in self.each(["default"]):
            self.click(self.button(".divisor", "unscaled"))
            self.click(self.all(".divisor td button.number")[2])
            self.assertIn("--experiment unscaled", self.text(".worked .command code"))
            self.click(".mask input[value=none]")
            self.assertEqual(self.all(".worked .command code"), [])

    def test_the_command_can_be_copied(self):
        for _ in self.each(["default"]):
            self.click(self.button(".worked", "Copy"))
            self.wait(lambda: "Copied" in self.texts(".worked button"))


class Divisor(BrowserTest):
    def figures(self):
        return float(self.text(".divisor .effective")), float(self.text(".divisor .slopes"))

    def assert_figures(self, weights):
        p = numpy.asarray(weights, dtype=float)
        entropy = -sum(x * math.log(x) for x in p if x > 0)
        rows, slopes = self.figures()
        self.assertAlmostEqual(rows, math.exp(entropy), delta=0.00501)
        self.assertAlmostEqual(slopes, 1 - (p * p).sum(), delta=0.000501)

    def test_the_marks_give_the_experiments_to_the_bit(self):
        for _ in self.each():
            slider = self.one(".divisor input[type=range]")
            for folder, how in ((self.experiment("unscaled"), lambda: self.press(slider, Keys.HOME)),
                                (self.experiment("divide-by-sqrt-d-model"), lambda: self.press(slider, Keys.END)),
                                (self.folder_of_run, lambda: self.click(self.button(".divisor", "√d_head"))),
                                (self.experiment("unscaled"), lambda: self.click(self.button(".divisor", "Flip"))),
                                (self.folder_of_run, lambda: self.click(self.button(".divisor", "Flip")))):
                how()
                self.assert_weights(folder)
                self.assert_figures(read_step(folder, "softmax")[self.row])
            self.assertNotIn("divisor", self.address)

    def test_between_the_marks_by_dragging(self):
        for _ in self.each():
            slider = self.one(".divisor input[type=range]")
            width = slider.size["width"]
            at = float(slider.get_property("value"))
            wide = math.sqrt(self.facts["d_model"])
            place = (at - 1) / (wide - 1) - 0.5
            self.drag(slider, round(place * (width - 16)), -width // 5)
            divisor = float(self.address["divisor"])
            self.assertTrue(1 < divisor < at, divisor)
            scores = read_step(self.folder_of_run, "scores")[self.row][:self.row + 1].astype(float)
            powers = numpy.exp((scores - scores.max()) / divisor)
            weights = powers / powers.sum()
            shown = self.shown_weights()
            numpy.testing.assert_allclose([float(shown[key]) for key in range(self.row + 1)], weights, rtol=1e-5, atol=1e-7)
            self.assert_figures(weights)
            self.assertFalse(self.one(".changes").get_attribute("hidden"))
            self.click(self.button(".changes", "Undo"))
            self.assert_weights(self.folder_of_run)


class Gaps(BrowserTest):
    def assert_nothing_moved(self):
        self.assert_weights(self.folder_of_run)
        self.assertRegex(self.text(".gaps .verdict"), rf"All {self.n} weights have the same bits")
        weights = read_step(self.folder_of_run, "softmax")[self.row]
        said = self.texts(".gaps td button.number")
        self.assertEqual(said, [weight_text(w) for w in weights[:self.row + 1]])

    def test_drag_the_origin_and_add_a_number(self):
        for _ in self.each():
            before = self.attributes(".gaps .origin path", "d")
            line = self.one(".gaps .line svg")
            self.drag(line, 0, -80)
            shift = float(self.address["shift"])
            self.assertGreater(shift, 0)  # the origin went left: every score is larger now
            self.assertNotEqual(self.attributes(".gaps .origin path", "d"), before)
            self.assert_nothing_moved()
            scaled = read_step(self.folder_of_run, "scaled_scores")[self.row]
            first = self.text(".gaps tbody tr td")
            self.assertAlmostEqual(float(first), float(scaled[0]) + shift, delta=0.0051)
            slider = self.one(".gaps input[type=range]")
            self.press(slider, Keys.END)
            self.assertEqual(self.address["shift"], "20")
            self.assert_nothing_moved()
            self.press(slider, Keys.HOME, Keys.ARROW_RIGHT)
            self.assertEqual(self.address["shift"], "-19.75")
            self.assert_nothing_moved()
            self.click(self.button(".gaps", "0"))
            self.assertNotIn("shift", self.address)


class Mask(BrowserTest):
    def test_each_kind_is_its_experiment_to_the_bit(self):
        for _ in self.each():
            for kind, experiment in (("none", "unmasked"), ("0", "masked-by-zero"), ("-10000", "masked-by-10000"), ("after", "masked-after-softmax"), ("-inf", None)):
                self.click(f".mask input[value='{kind}']")
                folder = self.experiment(experiment) if experiment else self.folder_of_run
                self.assert_weights(folder)
                weights = read_step(folder, "softmax")[self.row].astype(float)
                self.assertIn(f"sums to {weights.sum():.6f}", self.text(".mask .total p"))
                self.assertEqual(bool(self.all(".mask .sum.broken")), weights.sum() < 1 - 1e-5, kind)
                self.assertEqual(self.address.get("mask", "-inf"), kind)
                parts = [float(style.split(":")[1].strip(" %;")) / 100 for style in self.attributes(".mask .sum span", "style")]
                expected = [weights[:self.row + 1].sum(), weights[self.row + 1:].sum(), 1 - weights.sum()]
                numpy.testing.assert_allclose(parts, expected, atol=1e-4)
            self.press(self.one(".mask input[value='-inf']"), Keys.ARROW_DOWN)
            self.assertEqual(self.address["mask"], "none")

    def test_after_the_softmax_the_sum_breaks(self):
        for _ in self.each(["default"]):
            self.click(".mask input[value=after]")
            total = read_step(self.experiment("masked-after-softmax"), "softmax")[self.row].astype(float).sum()
            self.assertLess(total, 0.99)
            self.assertIn(f"sums to {total:.6f} and not to 1", self.text(".mask .verdict"))
            missing = self.one(".mask .sum .missing")
            self.assertGreater(missing.size["width"], 10)
            self.click_word(-1)
            self.assertIn("No row comes after row 5", self.text(".mask .verdict"))


class Mixer(BrowserTest):
    def test_bars_and_the_mix(self):
        for _ in self.each():
            weights, values = read_step(self.folder_of_run, "softmax")[self.row].astype(float), read_step(self.folder_of_run, "v").astype(float)
            blend = read_step(self.folder_of_run, "blend")[self.row].astype(float)
            lines = self.script("""return Array.from(document.querySelectorAll('.mixer tbody tr'), line =>
                [Number(line.querySelector('input').value), ...Array.from(line.querySelectorAll('td'), cell => cell.textContent)])""")
            self.assertEqual([key for key, *_ in lines], [key for key in range(self.n) if weights[key] > 0])
            for key, weight, norm, loud, _ in lines:
                self.assertEqual(weight, weight_text(weights[key]))
                self.assertAlmostEqual(float(norm), numpy.linalg.norm(values[key]), delta=0.0051)
                self.assertAlmostEqual(float(loud), weights[key] * numpy.linalg.norm(values[key]), delta=0.0051)
            self.assertRegex(self.text(".mixer .verdict"), f"the blend of row {self.row}: the same bits")
            best = int(weights.argmax())
            self.click(f".mixer input[value='{best}']")
            left = weights.copy()
            left[best] = 0
            mix = left @ values
            self.assertIn(f"the norm is {numpy.linalg.norm(mix):.2f} instead of {numpy.linalg.norm(blend):.2f}", self.text(".mixer .verdict"))
            cosine = mix @ blend / numpy.linalg.norm(mix) / numpy.linalg.norm(blend)
            self.assertAlmostEqual(float(self.text(".mixer .verdict").rsplit(" ", 1)[1].rstrip(".")), cosine, delta=0.0051)
            self.assertEqual(self.address["without"], str(best))
            self.click(f".mixer input[value='{best}']")
            slider = self.one(".mixer input[type=range]")
            self.press(slider, Keys.HOME)
            self.assertIn("0 of", self.text(".mixer output"))
            self.assertIn("the norm is 0.00", self.text(".mixer .verdict"))
            self.press(slider, Keys.ARROW_RIGHT)
            self.assertEqual(len(self.all(".mixer svg[role=img] path title")), 1)
            self.press(slider, Keys.END)
            self.assertIn("the same bits", self.text(".mixer .verdict"))


class Flow(BrowserTest):
    def test_it_is_the_spine_of_the_page(self):
        head = re.sub(r" +", " ", (SOURCE / "src/onehead/attention/head.cpp").read_text())
        for name in self.each():
            width, n = self.facts["d_model"], self.n
            shapes = dict(zip(self.attributes(".flow li button", "data-step"), self.texts(".flow li button .shape")))
            self.assertEqual([shapes[step] for step in ("normalized", "q", "v", "softmax", "blend", "output_projection")],
                             [str(width), "64", f"{n} × 64", str(n), "64", str(width)])
            self.click(".flow button[data-step=q]")
            seen = []
            while True:
                step, = self.attributes(".flow [aria-current=step]", "data-step")
                seen.append(step)
                for code in self.texts(".flow pre code"):
                    self.assertTrue(re.sub(r" +", " ", code) in head, code)
                row = read_step(self.folder_of_run, step)[self.row]
                numbers = self.texts(".flow .numbers button")
                pattern = {"softmax": weight_text}.get(step, lambda x, s=step: ("-inf" if x == -math.inf else f"{x:.{2 if 'scores' in s else 3}f}"))
                self.assertEqual([t.lstrip("-") for t in numbers], [pattern(float(x)).lstrip("-") for x in row[:8]])
                forward = self.button(".flow", "next")
                if not forward.is_enabled():
                    break
                self.script("arguments[0].click()", forward)
                place = self.script("return document.querySelector('section[id$=\"_' + arguments[0] + '\"]').getBoundingClientRect().top", self.address["step"]) if "step" in self.address else 0
                self.assertTrue(-5 <= place < 900, place)
            expected = ["q", "k", "v", "scores", "scaled_scores", "masked_scores", "softmax", "blend", "output_projection"]
            self.assertEqual(seen, expected + (["residual_after"] if name != "real" else []))
            self.script("arguments[0].click()", self.button(".flow", "back"))
            self.assertEqual(self.one(".flow [aria-current]").get_attribute("data-step"), seen[-2])


class Predict(BrowserTest):
    def test_the_page_asks_before_it_shows(self):
        for _ in self.each():
            weights = read_step(self.folder_of_run, "softmax")
            switch = self.one(".controls input[role=switch]")
            self.click(switch)
            self.assertFalse(self.one(".divisor").is_displayed())
            self.assertFalse(self.one("[data-part=chapter-3]").is_displayed())
            self.assertEqual(self.shown_weights(), {})
            self.assertNotIn(weight_text(weights[self.row].max()), self.script("return document.querySelector('main').innerText"))
            wrong = next(key for key in range(self.row + 1) if weights[self.row][key] != weights[self.row].max())
            self.click(self.all(".question button.guess")[wrong])
            verdict = self.text(".controls .verdict")
            self.assertIn("You said", verdict)
            self.assertIn(weight_text(weights[self.row][wrong]), verdict)
            self.assertIn(f": {weight_text(weights[self.row].max())}. 0 of 1 so far.", verdict)
            self.assertTrue(self.one(".divisor").is_displayed())
            self.click(self.button(".controls", "earlier row"))
            self.assertFalse(self.one(".divisor").is_displayed())
            best = int(weights[self.row - 1].argmax())
            self.click(self.all(".question button.guess")[best])
            self.assertIn("Right: row", self.text(".controls .verdict"))
            self.assertIn("1 of 2 so far", self.text(".controls .verdict"))
            self.click(switch)
            self.assertNotIn("predict", self.address)


class TheCheck(BrowserTest):
    def test_every_number_is_recomputed(self):
        for _ in self.each():
            steps = ("residual", "normalized", "q", "k", "v", "scores", "scaled_scores", "masked_scores", "softmax", "blend", "output_projection", "other_heads", "residual_after")
            # What an excerpt does not hold cannot be worked out again: residual, and what is made of it.
            own = [step for step in steps if list(self.folder_of_run.glob(f"[0-9][0-9]_{step}.csv")) and not (step == "residual" and self.facts["layer"] > 0)
                   and not (step == "normalized" and not list(self.folder_of_run.glob("[0-9][0-9]_residual.csv")))]
            count = sum(read_step(self.folder_of_run, step).size for step in own)
            self.assertEqual(self.text("#recomputed"), f"{count} of {count} numbers recomputed here: the same bits")

    def test_a_difference_is_shown(self):
        for _ in self.each(["default"]):
            page = (self.folder_of_run / "trace.html").read_text()
            start = page.index('"name":"scores"')
            at = page.index('"float32":"', start) + len('"float32":"')
            changed = self.folder / "changed.html"
            changed.write_text(page[:at] + ("A" if page[at] != "A" else "B") + page[at + 1:])
            self.open(changed)
            self.assertRegex(self.text("#recomputed"), r"^7439 of 7440 numbers recomputed here have the same bits. The first that differs: scores, row 0, column 0")
            self.assertIn("differs", self.one("#recomputed").get_attribute("class"))


class Address(BrowserTest):
    STATE = "#row=2&divisor=1&mask=none&cell=scores,4,1"

    def test_a_view_can_be_linked_and_reloaded(self):
        for _ in self.each():
            for again in (False, True):
                if again:
                    self.browser.refresh()
                else:
                    self.open(self.folder_of_run / "trace.html", self.STATE)
                self.assertIn("row 2 '", self.text("h1"))
                self.assertEqual(self.text(".divisor .tools output"), "1, unscaled")
                self.assertTrue(self.one(".mask input[value=none]").is_selected())
                self.assertEqual(self.text(".worked .result").split(" =")[0], "scores[4, 1]")
            scores = read_step(self.folder_of_run, "scores")[2].astype(float)
            weights = numpy.exp(scores - scores.max()) / numpy.exp(scores - scores.max()).sum()
            shown = self.shown_weights()
            numpy.testing.assert_allclose([float(shown[key]) for key in range(self.n)], weights, rtol=1e-5, atol=1e-30)
            self.click_word(3)
            self.assertEqual(self.address["row"], "3")
            self.script("location.hash = '#row=1'")
            self.wait(lambda: "row 1 '" in self.text("h1"))
            self.assert_weights(self.folder_of_run, 1)
            self.script("location.hash = '#08_scores'")  # a place of the page is no state
            self.assertIn("row 1 '", self.text("h1"))

    def test_nonsense_is_passed_over(self):
        for _ in self.each(["default"]):
            for state in ("#row=999&divisor=abc&cell=scores,-1,x&mask=foo", "#row=1.5&cell=scores,,1&without=,", "#cell=scores,0x1,1&without=1e0,2", "#row=99", "#row=x&divisor=0&mask=constructor&cell=scores,99,1", "#cell=toString,1,1&step=__proto__&shift=1e9", "#%E0%A4%A", "#divisor=NaN&without=7,8", "#row=&divisor="):
                self.open(self.folder_of_run / "trace.html", state)
                self.assertIn("row 4 '", self.text("h1"), state)
                self.assert_weights(self.folder_of_run)
                self.assertEqual(self.text(".worked .result").split(" =")[0], "scores[4, 1]")
                self.assertIn("This is the blend of row 4", self.text(".mixer .verdict"))
                self.assert_quiet()

    def test_any_address_at_all(self):
        """States put together at random, some of them right: none is an error, and all numbers on the page are numbers."""
        random_states = """
          const [seed, done] = arguments, values = ['', '-1', '0', '1', '2', '4', '5', '6', '99', 'x', '1e3', '8', '13.9', '-inf', 'none', 'after', '-10000', '%', 'size', 'NaN', 'scores',
              'scores,4,1', 'q,2,63', 'softmax,0,5', 'projection_bias,0,5', 'residual_after,5,191', 'other_heads,1,1', '__proto__,1,1', '1,2', '0,1,2,3,4,5'];
          const names = ['row', 'divisor', 'mask', 'shift', 'cell', 'step', 'order', 'without', 'predict', 'constructor', ''], wrong = [];
          let at = seed;
          const pick = list => list[(at = (at * 1103515245 + 12345) % 2147483648) % list.length];
          (async () => {
            for (let i = 0; i < 25; ++i) {
              const changed = new Promise(resolve => addEventListener('hashchange', resolve, {once: true}));
              location.hash = `n${i}=1&` + Array.from({length: 4}, () => `${pick(names)}=${pick(values)}`).join('&');
              await changed;
              for (const part of document.querySelectorAll('main > :not(script, template)'))
                if (/NaN|undefined|\\[object/.test(part.textContent)) wrong.push(`${location.hash}: ${part.textContent.slice(0, 200)}`);
            }
          })().then(() => done(wrong));"""
        for name in self.each(["default"]):
            self.assertEqual(self.browser.execute_async_script(random_states, len(name)), [])

    def test_a_slider_may_be_moved_for_long(self):
        """Browsers complain about a page that writes its address some hundred times in half a minute."""
        for _ in self.each(["default"]):
            written = self.script("""
              const slider = document.querySelector('.divisor input[type=range]'), write = history.replaceState;
              let written = 0;
              history.replaceState = function (...state) {
                ++written;
                return write.apply(this, state);
              };
              for (let i = 0; i < 100; ++i) {
                slider.value = 2 + i / 50;
                slider.dispatchEvent(new Event('input'));
              }
              return written""")
            self.assertLess(written, 80)
            self.wait(lambda: self.address["divisor"] == "3.98")


class ThePage(BrowserTest):
    def test_hostile_tokens_stay_text(self):
        for _ in self.each_look():
            out = trace("hostile", "--model", MINI, "--text", HOSTILE)
            self.open(out / "trace.html")
            self.n = len((out / "tokens.csv").read_text().splitlines()) - 1
            words = self.all(".sentence [role=radio]")
            for word in (words[0], words[5], words[-1]):
                self.click(word)
            self.click(self.button(".divisor", "unscaled"))
            self.assertEqual([self.all(name) for name in ("b:not(.bar b)", "main script:not([type]) ~ script[src]", "img")], [[], [], []])
            self.assertIn("</script", self.text(".sentence"))
            self.assert_quiet()

    def test_without_script_it_reads_as_before(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setScriptExecutionDisabled", {"value": False})
        for look, name in looks_of(list(TRACES)):
            set_look(self.browser, *look)
            self.where, out = f"{name}, {look}: ", trace(name, *TRACES[name])
            self.browser.get((out / "trace.html").as_uri())
            row = json.loads((out / "trace.json").read_text())["row"]
            best = int(read_step(out, "softmax")[row].argmax())
            body = self.one("main").text
            for says in (f"How row {row}", "2. It becomes a query, a key and a value", "3. It scores every row, and the scores become weights",
                         "4. ", f"gives most weight to row {best} ", "The attention pattern", "The symbols"):
                self.assertIn(says, body)
            for says in ("Play with this page", "Predict first", "The divisor", "recomput"):
                self.assertNotIn(says, body)
            self.assertEqual(len(re.findall("gives most weight to", body)), 1)  # no other row's story shows
            self.assertEqual([control for control in self.all("main button, main input, main select, main [role=radio]")], [])
            steps = [file.stem for file in sorted(out.glob("[0-9]*.csv"))]
            self.assertEqual(self.attributes("section[id]", "id"), steps)
            widths = """return Object.fromEntries(Array.from(document.querySelectorAll('section[id]'), section => {
                const picture = section.querySelector('svg');
                return [section.id, picture.checkVisibility() ? picture.getBoundingClientRect().width : 0];
              }))"""
            before = self.script(widths)
            folded = self.one("section[id$=_q]")
            folded.find_element(By.TAG_NAME, "summary").click()
            self.assertEqual([step for step, width in self.script(widths).items() if width != before[step]], [folded.get_attribute("id")])
            self.script("for (const fold of document.querySelectorAll('section[id] > details')) fold.open = true")
            for step, width in self.script(widths).items():
                self.assertGreater(width, 200, step)
            self.assertEqual(self.browser.get_log("browser"), [])

    def test_mounted_again_nothing_is_there_twice(self):
        mount = "return mount(document.querySelector('main'), JSON.parse(document.getElementById('numbers').textContent))"
        look = """
          const count = selector => document.querySelectorAll(selector).length;
          return [count('.flow'), count('.panel'), count('.changes'), count('button'), count('input'), count('rect.cursor'), count('[tabindex]'),
                  Array.from(document.querySelectorAll('main > :not(script, template)'), part => part.textContent.trim())]"""
        # The page as its file has it: the order of attributes does not count, nor that a class is empty.
        pristine = """
          const whole = document.querySelector('main').cloneNode(true);
          for (const element of whole.querySelectorAll('*')) {
            const attributes = Array.from(element.attributes, ({name, value}) => [name, value]).sort();
            for (const [name] of attributes) element.removeAttribute(name);
            for (const [name, value] of attributes) if (name !== 'class' || value !== '') element.setAttribute(name, value);
          }
          return [whole.className, whole.innerHTML]"""
        for _ in self.each(["default", "fox"]):
            once = self.script(look)
            for _ in range(2):
                self.script(mount + " && 0")
                self.wait(lambda: "recomputed here" in self.text("#recomputed"))
                self.assertEqual(self.script(look), once)
            self.click_word(1)
            self.press(self.one("body"), Keys.ARROW_RIGHT)
            self.assertEqual(self.address["row"], "2")
            self.script(mount + " && 0")
            self.assertIn("row 2 '", self.text("h1"))
            self.click_word(3)
            self.assertEqual(self.address["row"], "3")
            self.click(self.button(".divisor", "unscaled"))
            self.script(mount.replace("return", "const mounted =") + "; mounted.unmount()")
            left = self.script(pristine)
            self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
            try:
                self.browser.get((self.folder_of_run / "trace.html").as_uri())
                self.assertEqual(left[0], "")
                self.assertTrue(left[1] == self.script(pristine)[1], "not the page that the program wrote")
            finally:
                self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def test_it_is_whole_for_keyboard_and_screen_reader(self):
        for _ in self.each(["default"]):
            for control in self.all("main button, main input, main select"):
                name = self.script("const e = arguments[0]; return (e.getAttribute('aria-label') || e.textContent || (e.closest('label') || {textContent: ''}).textContent).trim()", control)
                self.assertTrue(name, control.get_attribute("outerHTML"))
            for picture in self.all(".panel svg, .flow svg"):
                self.assertEqual(picture.get_attribute("role"), "img")
                self.assertTrue(picture.get_attribute("aria-label"))
            self.assertEqual(self.one("[role=status]").get_attribute("aria-live"), "polite")
            self.click_word(2)
            self.assertRegex(self.text("[role=status]"), "^Row 2 ' sat' asks. It gives most weight to 0 'The': .434.")
            grid = self.one("table[role=grid]")
            cell = grid.find_element(By.CSS_SELECTOR, "td[tabindex='0']")
            self.press(cell, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ENTER)
            self.assertEqual(self.address["cell"], "softmax,3,1")
            self.actions().send_keys("f").perform()
            self.assertEqual(self.address["row"], "3")
            self.actions().send_keys(Keys.HOME, Keys.ENTER).perform()
            self.assertEqual(self.address["cell"], "softmax,3,0")

    def test_pictures_are_walked_with_the_keys(self):
        for _ in self.each(["default"]):
            values = read_step(self.folder_of_run, "q")
            self.click("section[id$=_q] summary")
            picture = self.one("section[id$=_q] svg")
            self.press(picture, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_UP)
            said = self.text("[role=status]")
            self.assertRegex(said, rf"^{self.row - 1} '.*', d2: ")
            self.assertEqual(numpy.float32(said.rsplit(" ", 1)[1]), values[self.row - 1, 2])
            self.assertEqual([cursor.is_displayed() for cursor in picture.find_elements(By.CSS_SELECTOR, "rect.cursor")], [True])
            self.actions().send_keys(Keys.ENTER).perform()
            self.assertEqual(self.address["cell"], f"q,{self.row - 1},2")
            self.actions().send_keys("f").perform()
            self.assertEqual(self.address["row"], str(self.row - 1))
            self.actions().send_keys(Keys.END, Keys.ARROW_RIGHT, Keys.ENTER).perform()  # it stays at the end
            self.assertEqual(self.address["cell"], f"q,{self.row - 1},63")
            self.press(self.one("section[id$=_scores] svg"), Keys.HOME, Keys.ARROW_LEFT, Keys.ENTER)
            self.assertEqual(self.address["cell"], f"scores,{self.row - 1},0")
            self.assertEqual(self.address["row"], str(self.row - 1))  # arrows in a picture follow no row

    def test_every_control_is_reached_by_the_tabulator(self):
        for _ in self.each(["default"]):
            self.script("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
            reached = self.script("""
              const stops = Array.from(document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')).filter(e => e.tabIndex >= 0 && !e.disabled && e.getClientRects().length > 0);
              return stops.map((e, i) => e.dataset.stop = `${i}`)""")
            self.script("""
              window.seen = [];
              addEventListener('focusin', event => window.seen.push(event.target.dataset.stop));
              document.activeElement.blur();
              getSelection().removeAllRanges();""")
            self.actions().send_keys(Keys.TAB * len(reached)).perform()
            seen = self.script("return window.seen")
            # Of the choices in a group one is a stop, and arrows lead to the others.
            groups = self.script("return Array.from(document.querySelectorAll('input[type=radio]:not(:checked)'), e => e.dataset.stop)")
            self.assertEqual([stop for stop in reached if stop not in seen and stop not in groups], [])

    def test_nothing_moves_where_motion_is_unwanted(self):
        for look in LOOKS:
            moving = {}
            for motion in ("no-preference", "reduce"):
                set_look(self.browser, *look, motion)
                self.open(trace("default", *TRACES["default"]) / "trace.html")
                moving[motion] = self.script("""return Array.from(document.querySelectorAll('*')).filter(element => {
                    const style = getComputedStyle(element);
                    return parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none' || style.scrollBehavior === 'smooth';
                  }).length""")
            self.assertGreater(moving["no-preference"], 0)
            self.assertEqual(moving["reduce"], 0)

    def test_prints_on_two_pages(self):
        for _ in self.each(["default"]):
            import base64
            printed = base64.b64decode(self.browser.print_page())
            self.assertLessEqual(len(re.findall(rb"/Type\s*/Page\b", printed)), 2)

    def test_sizes(self):
        twenty = "one river seven green clock paper lamp one river seven green clock paper lamp one river seven green clock paper"
        page = trace("twenty", "--model", MINI, "--text", twenty, "--layer", "3") / "trace.html"
        self.assertLess(page.stat().st_size, 1_500_000)
        if "real" in TRACES:
            self.assertLess((trace("real", *TRACES["real"]) / "trace.html").stat().st_size, 3_000_000)

    def test_every_action_is_fast_at_100_tokens(self):
        out = trace("hundred", "--model", MINI, "--text-file", SOURCE / "tests/reference/100-tokens.txt")
        for _ in self.each_look():
            self.open(out / "trace.html")
            self.browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})  # of this thread: others may be busy
            times = {}
            for name, act in (("row", "document.querySelectorAll('.sentence [role=radio]')[5 + i].click()"),
                              ("divisor", "slide('.divisor', 3 + i)"), ("shift", "slide('.gaps', 3 + i)"), ("stack", "slide('.mixer', i)"),
                              ("mask", "document.querySelectorAll('.mask input')[(i + 1) % 5].click()")):
                each = []
                for i in range(5):
                    before = self.spent()
                    self.script("""const i = arguments[0];
                      function slide(panel, value) {
                        const slider = document.querySelector(panel + ' input[type=range]');
                        slider.value = value;
                        slider.dispatchEvent(new Event('input'));
                      }
                      """ + act + "; document.body.getBoundingClientRect()", i)
                    each.append(self.spent() - before)
                times[name] = min(each)  # what else runs on the machine only adds to it
            print(f"milliseconds at 100 tokens: {({name: round(ms, 1) for name, ms in times.items()})}", file=sys.stderr)
            for name, milliseconds in times.items():
                self.assertLess(milliseconds, 100, name)  # 50 is the goal; a processor that others share takes longer

    def spent(self):
        """Milliseconds that the page has computed and laid itself out so far."""
        metrics = {m["name"]: m["value"] for m in self.browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
        return 1000 * sum(metrics[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration"))


class OtherPages(BrowserTest):
    def test_compare_flips(self):
        a, b = trace("default", *TRACES["default"]), trace("default-unscaled", *TRACES["default"], "--experiment", "unscaled")
        page = self.folder / "difference.html"
        onehead("compare", a, b, "--html", page)
        for _ in self.each_look():
            self.browser.get(page.as_uri())
            sides = self.all(".pair > section")
            self.assertEqual([side.is_displayed() for side in sides], [True, True])
            self.click(self.button("main", "Flip"))
            self.assertEqual([side.is_displayed() for side in sides], [True, False])
            place = sides[0].location["y"]
            self.click(self.button("main", "Flip"))
            self.assertEqual([side.is_displayed() for side in sides], [False, True])
            self.assertAlmostEqual(sides[1].location["y"], place, delta=1)  # on the spot
            self.press(self.button("main", "Flip"), Keys.SPACE)
            self.assertEqual([side.is_displayed() for side in sides], [True, False])
            self.click(self.button("main", "Side by side"))
            self.assertEqual([side.is_displayed() for side in sides], [True, True])
            self.assert_quiet()

    def test_the_lessons_have_their_panels(self):
        panels = {"1_query_key_value": ["worked"], "2_scores": ["worked", "gaps"], "3_scale": ["divisor"], "4_mask_softmax": ["mask"], "5_blend_project": ["mixer"]}
        out = self.folder / "lessons"
        for name, expected in panels.items():
            self.assertEqual(run(name, "--model", MINI, "--out", out).returncode, 0)
            for _ in self.each_look():
                self.open(out / name / "lesson.html")
                self.assertRegex(self.text("#recomputed"), r"^(\d+) of \1 numbers recomputed here: the same bits")
                self.assertEqual([p.get_attribute("class").split()[1] for p in self.all(".panel")], ["controls", *expected])
                self.click_word(2)
                self.assertIn("the panels follow row 2 ' sat', the text tells of row 4 ' the'", self.text(".changes"))
                self.assert_quiet()


if __name__ == "__main__":
    unittest.main()
