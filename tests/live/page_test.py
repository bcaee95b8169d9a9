"""The live page in a real browser, from a disk and from a local server, used as a person would: type, choose, click, download.

What is expected comes from the command: the fingerprint in its trace.json, the bytes of its files. ONEHEAD_PAGE: the page's folder.
"""
import contextlib
import functools
import http.server
import itertools
import json
import os
import pathlib
import re
import shutil
import sys
import threading
import time
import unittest
import zipfile

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

for folder in ("cli", "browser"):
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / folder))
from browser import open_browser, set_look  # noqa: E402
from programs import SHARED, SOURCE, ProgramTest, measured, onehead, MINI  # noqa: E402

PAGE = pathlib.Path(os.environ["ONEHEAD_PAGE"]).resolve()
TEXTS = [
    "The cat sat on the mat",
    "One",
    "one two three one two three",
    (SOURCE / "data/texts/fox.txt").read_text().removesuffix("\n"),
    (SOURCE / "tests/reference/100-tokens.txt").read_text().removesuffix("\n"),
    "\U0001F600 smile \U0001F468\u200D\U0001F469\u200D\U0001F467",
    "\u05e9\u05dc\u05d5\u05dd \u0627\u0644\u0633\u0644\u0627\u0645 and left",
    "</script><img src=x onerror=alert(1)><script>alert(2)</script>",
    "' \" \\ ` $(touch x) & < > \u202eevil ]]> --text -x",
    "-1 =1+1\n\ttwo lines  ",
]
HEADS = [(0, 0), (0, 2), (3, 2)]
EXPERIMENTS = ["", "unscaled", "masked-after-softmax"]

# Shows head 1 and head 0 of a layer in turn: for each choice the ms that the program took.
SHOW_IN_TURN = """
const [layer, count, finish] = arguments;
const isShown = () => !pending() && !program.running && !program.waiting.size;
(async () => {
  const times = [];
  for (let i = 0; i < count; ++i) {
    document.querySelector(`#heads input[value="${layer}.${1 - i % 2}"]`).click();
    while (!isShown()) await new Promise(later => setTimeout(later, 1));
    times.push(Number(element('took').textContent.match(/([0-9]+) ms/)[1]));
  }
  finish(times);
})()
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class PageTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.driver = open_browser(("browser", "performance"))
        cls.addClassCleanup(cls.driver.quit)
        cls.driver.set_script_timeout(180)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=PAGE))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.places = {"disk": f"{PAGE.as_uri()}/index.html", "server": f"http://127.0.0.1:{server.server_port}/"}

    def tearDown(self):
        self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")], [])
        asked = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        addresses = [entry["params"]["request"]["url"] for entry in asked if entry["method"] == "Network.requestWillBeSent"]
        allowed = ("file://", "http://127.0.0.1:", "data:", "blob:", "about:")
        self.assertEqual([address for address in addresses if not address.startswith(allowed)], [])

    def find(self, name):
        return self.driver.find_element(By.ID, name)

    def wait_for(self, what, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = what()
            if value:
                return value
            time.sleep(0.02)
        self.fail(f"nothing came; the page says: {self.find('error').text!r} {self.find('says').text!r}")

    def open(self, place, state=""):
        self.driver.get("about:blank")
        self.driver.get(self.places[place] + state)
        return self.settled()

    def settled(self):
        """The fingerprint, once nothing is being computed."""
        idle = "return typeof program !== 'undefined' && program?.ready && !program.running && !program.waiting.size && !pending()"
        self.wait_for(lambda: self.driver.execute_script(idle))
        return self.find("fingerprint").text

    def type(self, text):
        box = self.find("text")
        box.clear()
        if max(map(ord, text)) < 0x10000 and "\t" not in text:
            box.send_keys(text)
        else:  # a tab would leave the box, and chromedriver types no emoji
            self.paste(text)
        return self.settled()

    def paste(self, text):
        script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"
        self.driver.execute_script(script, self.find("text"), text)

    def choose(self, name, value):
        Select(self.find(name)).select_by_value(value)
        return self.settled()

    def choose_head(self, layer, head):
        radio = self.driver.find_element(By.CSS_SELECTOR, f"#heads input[value='{layer}.{head}']")
        radio.find_element(By.XPATH, "..").click()
        return self.settled()

    def trace_json(self, *arguments, model=MINI):
        out = self.folder / "trace"
        result = onehead("trace", "--model", model, "--out", out, "--quiet", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads((out / "trace.json").read_text())

    def frame_text(self):
        self.driver.switch_to.frame(self.driver.find_element(By.CSS_SELECTOR, "#page iframe:not(.coming)"))
        try:
            return self.driver.find_element(By.TAG_NAME, "main").text
        finally:
            self.driver.switch_to.default_content()

    def test_the_fingerprint_is_the_commands(self):
        runs = list(itertools.product(TEXTS, HEADS, EXPERIMENTS))
        wanted = {}
        for text, (layer, head), experiment in runs:
            options = ["--text=" + text, "--layer", layer, "--head", head, *(["--experiment", experiment] if experiment else [])]
            wanted[text, (layer, head), experiment] = self.trace_json(*options)["fingerprint"]
        self.assertGreater(len(set(wanted.values())), 80)  # a text of one token has few numbers to change
        for place in self.places:
            self.open(place, "#show=worked")  # the same trace, with a short page to wait for; other tests wait for whole ones
            found = {}
            for text in TEXTS:
                self.type(text)
                for head in HEADS:
                    self.choose_head(*head)
                    for experiment in EXPERIMENTS:
                        found[text, head, experiment] = self.choose("experiment", experiment)
            self.assertEqual(found, wanted, place)

    def test_the_archive_has_the_commands_bytes(self):
        downloads = self.folder / "downloads"
        downloads.mkdir()
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
        for place in self.places:
            self.open(place, "#text=Dogs%20bark.&layer=3&head=2&row=1&experiment=unscaled")
            self.find("download").click()
            archive = downloads / "trace.zip"
            self.wait_for(lambda: archive.exists() and not list(downloads.glob("*.crdownload")))
            with zipfile.ZipFile(archive) as files:
                self.assertIsNone(files.testzip())
                found = {name: files.read(name) for name in files.namelist()}
            archive.unlink()
            out = self.folder / "trace"
            onehead("trace", "--model", MINI, "--text", "Dogs bark.", "--layer", 3, "--head", 2, "--row", 1, "--experiment", "unscaled",
                    "--out", out, "--quiet", "--format", "text,csv,html")
            self.assertEqual(sorted(found), sorted(f"trace/{file.name}" for file in out.iterdir()))
            for file in out.iterdir():
                self.assertEqual(found[f"trace/{file.name}"], file.read_bytes(), file.name)

    def test_the_state_is_in_the_address(self):
        for place in self.places:
            first = self.open(place)
            second = self.choose_head(3, 2)
            self.assertNotEqual(first, second)
            third = self.choose("experiment", "unscaled")
            self.choose("row", "2")
            self.assertIn("#layer=3&head=2&row=2&experiment=unscaled", self.driver.current_url)
            self.driver.refresh()
            self.assertEqual(self.settled(), third)
            self.assertEqual(Select(self.find("row")).first_selected_option.text, "2 ' sat'")
            for _ in range(2):
                self.driver.back()
                self.settled()
            self.assertEqual(self.find("fingerprint").text, second)
            self.driver.back()
            self.assertEqual(self.settled(), first)
            self.assertNotEqual(self.type("Dogs bark."), first)
            self.driver.back()
            self.assertEqual(self.settled(), first)
            self.assertEqual(self.find("text").get_property("value"), "The cat sat on the mat")

    def test_each_kind_of_page(self):
        for place in self.places:
            self.open(place)
            for view, words in {"compare": "unscaled", "causality": "dog", "next": "What comes after row", "worked": "In the trace", "trace": "How row 4"}.items():
                self.choose("view", view)
                self.assertIn(words, self.frame_text())
            self.find("ask-worth").click()
            self.settled()
            self.assertIn("After row 5 ' mat' the model expects", self.find("worth").text)

    def test_the_panels_of_the_trace_work(self):
        for place in self.places:
            self.open(place)
            self.driver.switch_to.frame(self.driver.find_element(By.CSS_SELECTOR, "#page iframe:not(.coming)"))
            try:
                self.wait_for(lambda: "the same bits" in self.driver.execute_script("return document.getElementById('recomputed').textContent"))
                self.driver.find_element(By.CSS_SELECTOR, ".sentence [role=radio]:nth-of-type(2)").click()
                self.assertEqual(self.driver.find_element(By.CSS_SELECTOR, ".sentence [aria-checked=true]").text.strip(), "cat")
            finally:
                self.driver.switch_to.default_content()

    def test_hostile_text_stays_text(self):
        self.open("disk")
        self.type(TEXTS[7])
        self.assertIn("onerror=alert(1)", self.frame_text())
        self.assertEqual(self.driver.execute_script("return document.querySelectorAll('img').length"), 0)

    def test_what_is_wrong_is_a_sentence(self):
        self.open("disk")
        self.find("text").send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.DELETE)
        self.wait_for(lambda: "at least one token" in self.find("error").text)
        for count in (600, 300_000):  # in words; the longer one is more than the program's stack
            self.paste("word " * count)
            self.wait_for(lambda: "shorten it" in self.find("error").text, seconds=10)
            self.settled()
            self.assertIn("shorten it", self.find("error").text)
        self.assertNotEqual(self.type("It goes on"), "")

    def test_long_work_can_be_stopped(self):
        self.open("disk")
        self.paste("one two three " * 160)
        self.driver.execute_script("document.getElementById('ask-worth').click()")
        self.wait_for(lambda: self.find("stop").is_displayed())
        self.find("stop").click()
        self.wait_for(lambda: "Stopped" in self.find("error").text)
        self.assertEqual(self.type("The cat sat on the mat"), self.trace_json()["fingerprint"])

    def test_times_and_memory(self):
        """Prints the tables of docs/live.md. The limits are wide: they find what has become ten times slower."""
        with open("/proc/cpuinfo") as file:
            processor = re.search(r"model name\s*: (.*)", file.read())[1]
        print(f"\nMeasured on {processor}, {os.cpu_count()} processors, Chromium {self.driver.capabilities['browserVersion']}\n")
        for place in self.places:
            began = time.monotonic()
            self.open(place)
            seconds = time.monotonic() - began
            megabytes, processor_seconds = self.page_process()
            print(f"From opening to the first trace, from a {place}: {seconds:.1f} s, {processor_seconds:.1f} s of processor time, {megabytes} MB")
            self.assertLess(processor_seconds, 30)
        print("| tokens | layer | computed in | processor time until it is shown | the command's processor time |\n| --- | --- | --- | --- | --- |")
        for text in (TEXTS[0], " ".join("one two three four five".split() * 4), TEXTS[4]):
            for layer in (0, 3):
                self.type(text)
                count = 4
                _, before = self.page_process()
                computed = min(self.driver.execute_async_script(SHOW_IN_TURN, layer, count))
                shown = (self.page_process()[1] - before) / count
                out = self.folder / "timed"
                _, command, _ = measured("trace", "--model", MINI, "--text", text, "--layer", layer, "--out", out, "--format", "html", "--quiet")
                n = self.driver.execute_script("return tokens.length")
                print(f"| {n} | {layer} | {computed} ms | {shown * 1000:.0f} ms | {command * 1000:.0f} ms |")
                self.assertLess(shown, 5)
        print(f"Memory of the page at last: {self.page_process()[0]} MB")

    def page_process(self):
        """The MB and the seconds of processor time of the page with its worker: the largest of this browser's pages."""
        self.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        parents, pages = {}, {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                parents[process.name] = fields[1]
                if b"--type=renderer" in (process / "cmdline").read_bytes():
                    kilobytes = re.search(r"Rss: +(\d+)", (process / "smaps_rollup").read_text())[1]
                    pages[process.name] = int(kilobytes) // 1000, sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

        def is_ours(name):
            return name in parents and (name == str(self.driver.service.process.pid) or is_ours(parents[name]))

        return max(found for name, found in pages.items() if is_ours(name))

    def test_an_own_model_from_the_disk(self):
        for layer, head in ((4, 11), (5, 5)):
            excerpt = SHARED / "gpt2-small" / f"block{layer}.safetensors"
            if not excerpt.exists():
                self.skipTest("SKIPPED: the excerpts are not here")
            self.open("disk")
            self.driver.execute_script("document.getElementById('models').open = true")
            self.find("excerpt").send_keys(str(excerpt))
            self.wait_for(lambda: self.driver.execute_script("return about.layers").__eq__([layer]))
            self.settled()
            self.assertEqual(self.choose_head(layer, head), self.trace_json("--layer", layer, "--head", head, model=excerpt)["fingerprint"])
            self.assertIn(f"--model {excerpt.name}", self.find("command").text)

    def test_an_own_folder_from_the_disk(self):
        """With 3 GB that nobody reads: more than the module's memory, which takes the parts that a run needs alone."""
        own = self.folder / "mine"
        shutil.copytree(MINI, own)
        with open(own / "model.safetensors", "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            data = file.read()
        header["unread"] = {"dtype": "U8", "shape": [3_000_000_000], "data_offsets": [len(data), len(data) + 3_000_000_000]}
        encoded = json.dumps(header).encode()
        with open(own / "model.safetensors", "wb") as file:
            file.write(len(encoded).to_bytes(8, "little") + encoded + data)
            file.truncate(file.tell() + 3_000_000_000)
        first = self.open("disk", "#layer=3&head=2&text=Dogs%20bark.")
        self.driver.execute_script("document.getElementById('models').open = true")
        self.find("folder").send_keys(str(own))
        self.wait_for(lambda: self.find("model").text == "mine")
        self.assertEqual(self.settled(), first)
        self.find("bundled").click()
        self.wait_for(lambda: self.find("model").text == "gpt2-mini")
        self.assertEqual(self.settled(), first)

    def test_nothing_is_wider_than_a_telephone(self):
        self.addCleanup(set_look, self.driver, "light", 1200)
        for theme in ("light", "dark"):
            set_look(self.driver, theme, 400)
            self.open("disk", f"#text={'abc' * 40}%20cat&experiment=masked-after-softmax")
            self.driver.execute_script("document.getElementById('models').open = true")
            for view in ("trace", "compare", "causality", "next", "worked"):
                self.choose("view", view)
                wide = "const box = window.frames[0].document.documentElement; return [document.documentElement.scrollWidth - innerWidth, box.scrollWidth - box.clientWidth]"
                self.assertLessEqual(max(self.driver.execute_script(wide)), 0, (theme, view))

    def test_the_keyboard_reaches_everything(self):
        before = self.open("disk")
        self.find("text").send_keys(Keys.TAB)
        focused = self.driver.switch_to.active_element
        self.assertEqual(focused.get_attribute("aria-label"), "Layer 0, head 0")
        focused.send_keys(Keys.ARROW_RIGHT)
        self.assertNotEqual(self.settled(), before)
        self.assertIn("head=1", self.driver.current_url)
        unnamed = "return [...document.querySelectorAll('input, select, textarea, button')].filter(e => !e.labels?.length && !e.ariaLabel && !e.textContent).length"
        self.assertEqual(self.driver.execute_script(unnamed), 0)


if __name__ == "__main__":
    unittest.main()
