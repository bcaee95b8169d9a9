"""Traces and arrays that were damaged, cut short or built to cost much, given to the commands that read them. Each kind ends in
one line that names the file and says what was expected and found, exit code 2 (trouble, as in diff), and costs no more than 64 MB
and a second of the processor. Prints how many kinds there are."""
import io
import json
import os
import shutil
import struct
import unittest

import numpy

from bad_files_test import GIT_LFS, WEB_PAGE, Sparse, write
from programs import ProgramTest, onehead


def replaced(old, new):
    """The content with the first `old` exchanged, which must be there."""
    def change(content):
        assert old in content, old
        return content.replace(old, new, 1)
    return change


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def set_key(*path, to):
    """trace.json with another value at a place."""
    def change(content):
        facts = json.loads(content)
        inner = facts
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = to
        return json.dumps(facts).encode()
    return change


def without_key(key):
    def change(content):
        facts = json.loads(content)
        del facts[key]
        return json.dumps(facts).encode()
    return change


EMPTY, HUGE = (lambda _: b""), (lambda content: Sparse(content, 1 << 40))
TRACE_JSON = [
    ("an empty file", EMPTY, "expected JSON"),
    ("a web page", lambda _: WEB_PAGE, "expected JSON"),
    ("a Git LFS pointer", lambda _: GIT_LFS, "expected JSON"),
    ("cut short", lambda content: content[:200], "expected JSON"),
    ("a list", lambda content: b"[" + content + b"]", "expected a JSON object"),
    ("a key twice", replaced(b'"layer": 0', b'"layer": 0, "layer": 1'), '"layer"', "twice"),
    ("deep nesting", replaced(b'"text":', b'"deep": ' + b"[" * 1000 + b"]" * 1000 + b', "text":'), "at most 16 levels of nesting, found more"),
    ("a million values", replaced(b'"text":', b'"many": [' + b"1," * 1_000_000 + b'1], "text":'), "at most 200000 values"),
    ("a file of 1 TB", HUGE, "at most 16777216 bytes"),
    ("another schema", set_key("schema", to="other"), "schema", '"onehead-trace"'),
    ("a later version", set_key("schema_version", to=2), "schema_version"),
    ("no head", without_key("head"), '"head"', "found none"),
    ("a head below 0", set_key("head", to=-1), "head"),
    ("a head that is not there", set_key("head", to=3), "from 0 to 2"),
    ("a row that is not there", set_key("row", to=6), "from 0 to 5"),
    ("a layer as a text", set_key("layer", to="0"), "layer"),
    ("a width of 2^63", set_key("d_model", to=2**63), "d_model"),
    ("no tokens", set_key("token_ids", to=[]), "token_ids"),
    ("a token below 0", set_key("token_ids", 0, to=-1), "token_ids"),
    ("a token beyond 32 bits", set_key("token_ids", 0, to=2**32), "token_ids"),
    ("100000 tokens", set_key("token_ids", to=[1] * 100_000), "token_ids", "65536"),
    ("other tokens", set_key("token_ids", 0, to=465), "tokens.csv", '"465"'),
    ("a step that is none", set_key("steps", 0, "name", to="guess"), "steps[0]", "name"),
    ("a step twice", set_key("steps", 1, "name", to="token_embedding"), "steps[1]"),
    ("a shape that does not fit", set_key("steps", 7, "shape", to=[6, 7]), "steps[7]", "[6, 6]"),
    ("a file outside the folder", set_key("steps", 0, "file", to="../../etc/passwd"), "01_token_embedding.csv"),
    ("a file that is a folder up", set_key("steps", 0, "file", to=".."), "01_token_embedding.csv"),
    ("a model that clears the screen", set_key("model", to="a\x1b[2J"), "model", "visible"),
    ("a model of two lines", set_key("model", to="a\nonehead: fine"), "model", "visible"),
    ("a formula that turns around", set_key("steps", 4, "formula", to="\u202eevil"), "formula", "visible"),
]
SCORES = "08_scores.csv"
TABLES = [
    (SCORES, "an empty file", EMPTY, "expected at least 72 bytes"),
    (SCORES, "a web page", lambda _: WEB_PAGE * 3, "line 1"),
    (SCORES, "a file of 1 TB", HUGE, "expected at most"),
    (SCORES, "cut short", lambda content: content[:-1], "a line break"),
    (SCORES, "cut in a number", lambda content: content[:-4], "line 7"),
    (SCORES, "a row more", lambda content: content + b"6,1,x,1,1,1,1,1,1\n", "the end of the file"),
    (SCORES, "a column less", replaced(b",key5 ' mat'", b""), "9 fields"),
    (SCORES, "another label", replaced(b"' cat'", b"' dog'"), "line 1", "dog"),
    (SCORES, "another position", replaced(b"\n3,", b"\n4,"), "line 5", '"3"'),
    (SCORES, "a comma for the decimal point", replaced(b".", b","), "fields"),
    (SCORES, "an infinite score", lambda content: content[:content.rindex(b",")] + b",-inf\n", "a finite float32", '"-inf"'),
    (SCORES, "a score that is no number", lambda content: content[:content.rindex(b",")] + b",nan\n", '"nan"'),
    (SCORES, "a number beyond float32", lambda content: content[:content.rindex(b",")] + b",1e39\n", '"1e39"'),
    (SCORES, "a formula", lambda content: content[:content.rindex(b",")] + b",=1+1\n", '"=1+1"'),
    (SCORES, "a quote within a field", replaced(b"' cat'", b"' c\"at'"), "a quote"),
    (SCORES, "a quote that does not close", replaced(b"key0", b'"key0'), "closing quote"),
    (SCORES, "an escape sequence", replaced(b"' cat'", b"\x1b[31m"), "\\x1B[31m"),
    (SCORES, "NULs", lambda content: bytes(len(content)), "line 1", "a line break"),
    ("tokens.csv", "a file of 1 TB", HUGE, "at most 16777216 bytes"),
    ("tokens.csv", "bytes that are not hex", replaced(b"\\x68", b"\\x6x"), "\\x6x"),
    ("tokens.csv", "other bytes than the label", replaced(b"\\x65", b"\\x66"), "line 2, column 4", r"\\x54\\x68\\x65"),
    ("tokens.csv", "a token less", lambda content: content[:content.rindex(b"5,")], "token 5"),
]
ARRAYS = [
    ("an empty file", EMPTY, "numpy.save"),
    ("a web page", lambda _: WEB_PAGE, "<!DOCTYP"),
    ("a Git LFS pointer", lambda _: GIT_LFS, "numpy.save"),
    ("cut short in its header", lambda content: content[:60], "header"),
    ("cut short", lambda content: content[:-1], "143 bytes of numbers", "(6, 6)"),
    ("a byte more", lambda content: content + b"x", "found 145"),
    ("a file of 1 TB", HUGE, "expected 144 bytes"),
    ("as many numbers as 1 GB holds", lambda _: Sparse(npy(numpy.zeros((1, 1), "<f4")).replace(b"(1, 1), }" + b" " * 8, b"(16384, 16384), }"), 128 + (1 << 30)), "at most"),
    ("a header of 4 GB", lambda _: b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "4294967295"),
    ("version 4", lambda content: content[:6] + b"\x04" + content[7:], "4.0"),
    ("whole numbers", lambda _: npy(numpy.zeros((6, 6), "<i4")), "<i4"),
    ("the other byte order", lambda _: npy(numpy.zeros((6, 6), ">f4")), ">f4"),
    ("objects, which numpy would run", lambda _: npy(numpy.array([{}], dtype=object)), "|O"),
    ("no dimension", lambda _: npy(numpy.float32(1)), "1 to 4 dimensions"),
    ("five dimensions", lambda _: npy(numpy.zeros((1, 1, 1, 1, 1), "<f4")), "1 to 4 dimensions"),
    ("a shape beyond 64 bits", replaced(b"(6, 6), }" + b" " * 14, b"(4294967296,4294967296)}"[:-1] + b"}"), "shape"),
    ("a negative shape", replaced(b"(6, 6)", b"(-6,6)"), "header"),
    ("another shape", lambda _: npy(numpy.zeros((4, 9), "<f4")), "[6, 6]"),
    ("float64 in a trace", lambda _: npy(numpy.zeros((6, 6), "<f8")), "float32"),
    ("a NaN in a trace", lambda content: content[:-4] + struct.pack("<f", float("nan")), "nan"),
]


class BadTraces(ProgramTest):
    kinds = 0
    most = 0  # MB

    def setUp(self):
        super().setUp()
        self.good = self.trace("good")
        self.bad = self.trace("bad", "--format", "text,csv")

    def refused(self, what, name, words, *arguments):
        BadTraces.kinds += 1
        with self.subTest(what=what, file=name):
            megabytes = self.assert_refused_cheaply(2, (str(name), *words), *arguments)
            BadTraces.most = max(BadTraces.most, megabytes)

    def damaged(self, folder, name, what, change, words):
        file = folder / name
        content = file.read_bytes()
        write(file, change(content))
        where = "tokens.csv" if "tokens.csv" in words else name
        self.refused(what, folder / where, words, "compare", self.good, folder)
        file.unlink()
        file.write_bytes(content)

    def test_trace_json(self):
        for what, change, *words in TRACE_JSON:
            self.damaged(self.bad, "trace.json", what, change, words)

    def test_tables(self):
        for name, what, change, *words in TABLES:
            self.damaged(self.bad, name, what, change, words)

    def test_arrays_of_a_trace(self):
        folder = self.trace("arrays", "--format", "npy")
        for what, change, *words in ARRAYS:
            self.damaged(folder, "11_softmax.npy", what, change, words)

    def test_an_array_column_by_column_is_the_same_array(self):
        folder = self.trace("arrays", "--format", "npy")
        file = folder / "11_softmax.npy"
        numpy.save(file, numpy.asfortranarray(numpy.load(file)))
        self.assertIn(b"'fortran_order': True", file.read_bytes())
        for command in (["compare", self.good, folder], ["check", self.good, file, "--atol", "0", "--rtol", "0"]):
            result = onehead(*command)
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_arrays_to_check_against(self):
        array = self.folder / "reference.npy"
        for what, change, *words in ARRAYS:
            if "trace" in what:
                continue
            write(array, change(npy(numpy.zeros((6, 6), "<f4"))))
            self.refused(what, "the reference is [4, 9]" if what == "another shape" else array, words, "check", self.good, array)
            array.unlink()

    def test_what_is_no_trace(self):
        for what, make in {"nothing": lambda p: None, "an empty folder": lambda p: p.mkdir(), "a file": lambda p: p.write_text("x"),
                           "a pipe": os.mkfifo, "a link to itself": lambda p: p.symlink_to(p)}.items():
            path = self.folder / "other"
            make(path)
            self.refused(what, path, [], "compare", self.good, path)
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    @classmethod
    def tearDownClass(cls):
        print(f"bad traces and arrays: {cls.kinds} kinds tried (at most {cls.most:.0f} MB)")


if __name__ == "__main__":
    unittest.main()
