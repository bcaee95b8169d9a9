"""Hostile text through the programs: whatever a text, a token, a name or an option holds, no byte that a terminal or a
spreadsheet would obey comes out, and nothing is hidden, turned around or out of its column."""
import csv
import functools
import html.parser
import json
import os
import re
import shutil
import subprocess
import unicodedata
import unittest

from programs import BIN, MINI, ProgramTest, bytes_of, onehead

HIDDEN = {
    "every control character": "a" + "".join(chr(code) for code in range(1, 32)) + "\x7f",
    "NUL": "a\0b",
    "C1 controls": "a\u0085\u009b31m\u009d",
    "ANSI escapes": "\x1b[31mred\x1b[0m\x1b[2J\x1b]0;title\x07\x1b]8;;http://a\x1b\\",
    "a bidirectional override": "abc\u202edef\u202c",
    "bidirectional isolates and marks": "\u2066a\u2067b\u2068c\u2069\u200e\u200f\u061c",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufefff",
    "tags": "a\U000e0041\U000e007f",
    "line and paragraph separators": "a\u2028b\u2029c",
    "soft hyphens and fillers": "a\u00adb\u3164\u115f\u2800",
    "private and unassigned": "\ue000\U0010fffd\u0378\U0010ffff",
    "variation selectors": "a\ufe0fb\U000e0100",
}
SEEN = {
    "formulas": "=1+1 +1 -1 @SUM(A1) \t=cmd|' /C calc'!A0",
    "CSV's own signs": 'a,b "c" ;d\r\n"e""f"',
    "HTML": "<script>alert(1)</script> <img src=x onerror=alert(1)> &lt; --> ]]> ' onload='x \" `",
    "quotes and backslashes": "'\\''\\n\\x41\\u{202E}",
    "combining marks": "e\u0301\u0302 \u0301 Z" + "\u0334" * 40,
    "wide characters": "\u4e2d\u6587 \uac00 \U0001f600\U0001f468",
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "what pandas takes for missing": "NA nan NULL None #N/A",
    "percent and braces": "%s%n%x {} {0} ${HOME} $(id) `id`",
}


def obeyed(text):
    """The characters of a text that are obeyed or hidden instead of shown."""
    return sorted({f"U+{ord(c):04X}" for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")})


def parts_of(page):
    """The kinds of elements, their attributes, and the addresses that a page names."""
    parts = set()

    class Page(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            parts.add((tag,))
            for name, value in attributes:
                parts.add((tag, name))
                if re.match(r"\s*[a-zA-Z]+:", value or "") and name in ("href", "src", "xmlns", "action", "data"):
                    parts.add((tag, name, value))

    Page().feed(page)
    return parts


class HostileText(ProgramTest):
    def assert_plain(self, data, where):
        text = data.decode() if isinstance(data, bytes) else data  # fails for what is not UTF-8
        self.assertEqual(obeyed(text), [], where)
        return text

    def text_file(self, text):
        path = self.folder / "text.txt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def formats(self):
        """Every format that the program has, as it says itself when it is asked for one that it has not."""
        refusal = onehead("trace", "--model", MINI, "--out", self.folder / "x", "--format", "?").stderr
        return refusal.split("--format: expected ")[1].split(", or several")[0].split(", ")

    def trace_of(self, *arguments):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        result = onehead("trace", "--model", MINI, "--out", out, "--format", ",".join(self.formats()), *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assert_plain(result.stdout.replace(str(out), ""), "stdout")
        return out

    def check_folder(self, out, where):
        checked = 0
        for path in sorted(out.iterdir()):
            if path.suffix == ".npy":
                continue
            text = self.assert_plain(path.read_bytes(), f"{where}: {path.name}")
            checked += 1
            if path.suffix == ".csv":
                self.check_table(text, f"{where}: {path.name}")
            if path.suffix in (".html", ".svg"):
                self.check_page(text, f"{where}: {path.name}")
        self.assertGreater(checked, 16)

    def check_table(self, text, where):
        rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
        self.assertEqual({len(row) for row in rows}, {len(rows[0])}, where)
        for row in rows:
            for field in row:
                is_number = field == "-inf" or field.lstrip("-").replace(".", "").replace("e-", "").replace("e+", "").isdigit()
                self.assertFalse(field.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number, f"{where}: {field}")

    def check_page(self, text, where):
        """No element, no attribute and no address of a page, or of a picture, comes from a text."""
        strange = parts_of(text) - self.usual_parts()
        self.assertEqual(strange, set(), where)

    @functools.cache
    def usual_parts(self):
        """What the pages of harmless texts are made of: a sentence, and one that is too long to be shown whole."""
        parts = set()
        for n, text in enumerate(["The cat sat on the mat", "The dog sat. " * 60]):
            with self.folder.joinpath("usual.txt").open("w") as file:
                file.write(text)
            out, one = self.folder / f"usual{n}", self.folder / "usual.html"
            run = ["--model", MINI, "--text-file", file.name]
            onehead("trace", *run, "--out", out, "--format", ",".join(self.formats()), "--quiet")
            pages = [path for path in out.iterdir() if path.suffix in (".html", ".svg")]
            onehead("causality", *run, "--append", "and slept", "--html", one)
            parts |= parts_of(one.read_text())
            onehead("compare", out, out, "--html", one)
            parts |= parts_of(one.read_text()).union(*(parts_of(page.read_text()) for page in pages))
            shutil.rmtree(out)
        self.assertIn(("td",), parts)
        return parts

    def test_texts(self):
        for what, text in (HIDDEN | SEEN).items():
            with self.subTest(what):
                out = self.trace_of("--text-file", self.text_file(text))
                self.check_folder(out, what)
                with (out / "tokens.csv").open(newline="") as file:
                    tokens = list(csv.DictReader(file))
                self.assertEqual(b"".join(bytes_of(token["bytes"]) for token in tokens).decode(), text)
                self.assertEqual(json.loads((out / "trace.json").read_text())["text"], text)
                self.assertEqual(len({token["token"] for token in tokens}), len({token["token_id"] for token in tokens}))

    def test_the_other_commands(self):
        for what, text in (HIDDEN | SEEN).items():
            with self.subTest(what):
                file = self.text_file(text)
                commands = [["heads", "--out", self.folder / "heads.csv"], ["worked", "softmax", "1", "0"],
                            ["causality", "--append", text.replace("\0", ""), "--html", self.folder / "causality.html"], ["excerpt", "--out", self.folder / "e.safetensors"]]
                for command in commands:
                    result = onehead(*command, "--model", MINI, "--text-file", file)
                    self.assertEqual((result.returncode, result.stderr), (0, ""), command[0])
                    self.assert_plain(result.stdout, command[0])
                self.check_page(self.assert_plain((self.folder / "causality.html").read_bytes(), "causality.html"), "causality.html")
                self.check_table((self.folder / "heads.csv").read_text(), "heads.csv")
                self.assertEqual(obeyed((self.folder / "heads.csv").read_text()), [])
                if "\0" not in text:
                    self.assert_plain(onehead("tokens", "--model", MINI, "--", text).stdout, "tokens")

    def test_tokens_that_are_no_text(self):
        """Tokens of single bytes: 188 to 255 are the hidden ones, 47249 and 222 are parts of an emoji."""
        ids = [*range(0, 256), 47249, 222, 50256]
        out = self.trace_of("--tokens", ",".join(map(str, ids)))
        self.check_folder(out, "single bytes")
        table = (out / "tokens.csv").read_text()
        self.assertEqual(len(list(csv.DictReader(table.splitlines()))), len(ids))
        result = onehead("excerpt", "--model", MINI, "--tokens", "47249", "--out", self.folder / "half.safetensors")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(onehead("trace", "--model", self.folder / "half.safetensors").returncode, 0)

    def test_text_that_is_not_utf8_is_refused_with_its_place(self):
        for data, place in ((b"ab\xff", 2), (b"\xc3", 0), (b"a\xed\xa0\x80", 1), (b"\xc0\xaf", 0), (b"abc\xf4\x90\x80\x80", 3)):
            self.assert_refused(onehead("trace", "--model", MINI, "--text-file", self.text_file(data)), 2, f"byte {place}")

    def test_columns_of_the_page_are_aligned(self):
        """Each table's cells end in the same column of a terminal, whatever the labels hold; ASCII labels show it."""
        for text in ("a\x1b[31mb\x07\x7f", "abc\u202edef\u202c", "a\u200bb\ufeff"):
            page = onehead("trace", "--model", MINI, "--text-file", self.text_file(text)).stdout.splitlines()
            key = next(n for n, line in enumerate(page) if line.split()[:1] == ["key"])
            lines = page[key:key + 6]
            self.assertEqual([len(line) for line in lines if line.strip()], [len(lines[0])] * len([line for line in lines if line.strip()]), text)

    def test_names_and_options_in_messages(self):
        bad = "a\x1b[31m\nonehead: fine\u202e\x9b\x07"
        raw = b"a\xff\x1b[2J"
        for arguments in (["--model", bad], ["--model", raw], ["--text-file", bad], ["--layer", bad], ["--head", bad], ["--row", bad], ["--tokens", bad],
                          ["--experiment", bad], ["--" + bad, "1"], ["--threads", bad], ["--out", self.folder / "x", "--format", bad],
                          ["--out", "/dev/null/" + bad], [bad]):
            for model in ([], ["--model", MINI]) if arguments[0] != "--model" else ([],):
                self.check_message("trace", *model, *arguments)
        for command in ([bad], ["compare", bad, bad], ["check", bad, bad], ["worked", bad, bad, bad], ["heads", "--sort", bad], ["causality", "--change", bad],
                        ["causality", "--change", f"1={bad}", "--append", bad], ["excerpt", "--out", "/dev/null/" + bad]):
            self.check_message(*command)

    def check_message(self, *command):
        result = subprocess.run([BIN / "onehead", *command], capture_output=True, timeout=60, check=False)
        with self.subTest(command):
            self.assertIn(result.returncode, (1, 2))
            message = self.assert_plain(result.stderr, command)
            self.assertEqual(message.count("\n"), 1)
            self.assertLess(len(message), 1500)

    def test_names_of_folders_on_the_pages(self):
        """A model's folder and the folder of a trace may be called anything."""
        model = self.folder / "m\x1b[31m\u202e=1"
        model.mkdir()
        for file in MINI.iterdir():
            os.symlink(file, model / file.name)
        out = self.folder / "o\x1b[31m\nout"
        result = onehead("trace", "--model", model, "--out", out, "--format", ",".join(self.formats()))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assert_plain(result.stdout, "stdout")
        self.check_folder(out, "names")
        result = onehead("compare", out, out, "--html", self.folder / "compare.html")
        self.assertEqual(result.returncode, 0)
        self.assert_plain(result.stdout, "compare")
        self.check_page(self.assert_plain((self.folder / "compare.html").read_bytes(), "compare.html"), "compare.html")


if __name__ == "__main__":
    unittest.main()
