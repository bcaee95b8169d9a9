"""Files that pretend to be what they are not, given to the command as a user would. Each kind ends in one line that names
the file and says what was expected and what was found; no kind costs more than 64 MB and a second of the processor, whatever
its header claims. Run by hand, it prints how many kinds there are."""
import json
import math
import os
import struct
import unittest

import tiny_model
from programs import ProgramTest, measured, onehead

MODEL, CONFIG, MERGES, VOCABULARY = "model.safetensors", "config.json", "merges.txt", "vocab.json"
SIZE = 4 << 20  # the longest header that is read


class Sparse(bytes):
    """The beginning of a file that goes on with zeros, which take no room on the disk."""

    def __new__(cls, start, size):
        made = super().__new__(cls, start)
        made.size = size
        return made


def write(path, content):
    path.write_bytes(content)
    if isinstance(content, Sparse):
        os.truncate(path, content.size)


def entry(dtype="U8", shape="[4]", offsets="[0, 4]"):
    return f'{{"dtype": "{dtype}", "shape": {shape}, "data_offsets": {offsets}}}'


def one(data=b"1234", **parts):
    return tiny_model.with_length(f'{{"w": {entry(**parts)}}}'.encode(), data)


def header(text, data=b""):
    return tiny_model.with_length(text.encode(), data)


def numbered(start, before, after):
    """A header of nearly 4 MB with numbered entries."""
    parts, size = [start], len(start)
    while size < SIZE - 200:
        parts.append(f"{before}{len(parts)}{after}")
        size += len(parts[-1])
    return header("".join(parts))


def changed(**tensors):
    """The model with some tensors exchanged, or left out where None is given; __ in a name stands for a dot."""
    all_tensors = tiny_model.tensors()
    for name, tensor in tensors.items():
        name = name.replace("__", ".")
        if tensor is None:
            del all_tensors[name]
        else:
            all_tensors[name] = tensor
    return tiny_model.safetensors(all_tensors)


def zeros(name, *shape, more=""):
    """One tensor that takes no room on the disk, however large it is."""
    size = 4 * math.prod(shape)
    start = header(f'{{{more}"{name}": {entry("F32", list(shape), f"[0, {size}]")}}}')
    return Sparse(start, len(start) + size)


def good():
    return tiny_model.checkpoint()[MODEL]


WEB_PAGE = b"<!DOCTYPE html>\n<html><body>404</body></html>\n"
GIT_LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 548105171\n"
EMPTY = '":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'

# What is wrong with the weights, the file, and words of the message.
WEIGHTS = [
    ("an empty file", b"", "0 bytes"),
    ("seven bytes", b"1234567", "7 bytes"),
    ("header length 0", struct.pack("<Q", 0) + b"{}", "length 0"),
    ("header length beyond the file", struct.pack("<Q", 100) + b"{}", "expected at least 108 bytes, found 10"),
    ("header length near 2^64", struct.pack("<Q", 2**64 - 1) + b"{}", "length 18446744073709551615"),
    ("header length that wraps around", struct.pack("<Q", 2**64 - 8) + b"{}", "length 18446744073709551608"),
    ("header length over the limit", struct.pack("<Q", SIZE + 1) + b" " * 100, "length 4194305"),
    ("a header of zeros, in a file of 1 TB", Sparse(struct.pack("<Q", SIZE), 1 << 40), "a JSON object, from its first byte"),
    ("not JSON", header("{nonsense}"), "expected JSON"),
    ("JSON that is cut", header('{"w": {"dtype"'), "expected JSON"),
    ("two JSON texts", header("{} {}"), "expected JSON"),
    ("a zero byte after the JSON", header("{}\0\0"), "expected JSON", "byte 2"),
    ("a zero byte and more after the JSON", header('{}\0{"w": 1}'), "expected JSON", "byte 2"),
    ("a space before the JSON", header(" {}"), "a JSON object, from its first byte"),
    ("bytes that are not UTF-8", tiny_model.with_length(b'{"\xff": 1}'), "expected JSON"),
    ("a list", header("[]"), "a JSON object"),
    ("a tensor twice", header(f'{{"w": {entry()}, "w": {entry()}}}', b"1234"), '"w"', "twice"),
    ("a field twice", header('{"w": {"dtype": "U8", "dtype": "U8"}}'), '"dtype"', "twice"),
    ("metadata twice", header('{"__metadata__": {}, "__metadata__": {}}'), "twice"),
    ("a metadata key twice", header('{"__metadata__": {"a": "1", "a": "1"}}'), '"a"', "twice"),
    ("metadata that is a number", header('{"__metadata__": {"a": 1}}'), "a: expected a text", "found 1"),
    ("deep nesting of lists", header('{"w": ' + "[" * 100_000), "16 levels"),
    ("deep nesting of objects", header('{"w": ' + '{"w": ' * 100_000), "16 levels"),
    ("4 MB of lists in lists", header("[" * SIZE), "a JSON object"),
    ("a million keys", numbered("{", '"', '":1,'), "at most 200000 values"),
    ("a hundred thousand tensors", numbered("{", '"', EMPTY), "fewer objects side by side"),
    ("a hundred thousand texts", numbered('{"__metadata__":{', '"', '":"",'), "at most 200000 values"),
    ("a shape of a million sizes", header('{"w":{"shape":[' + "1," * 1_000_000), "at most 200000 values"),
    ("a name of 4 MB", header('{"' + "x" * (SIZE - 10) + '":1}'), "a JSON object", "found 1"),
    ("a number of 4 MB", header('{"w":{"shape":[' + "1" * (SIZE - 20)), "expected JSON"),
    ("4 MB of spaces", header(" " * SIZE), "a JSON object"),
    ("a field that is missing", header('{"w": {"dtype": "U8", "shape": [4]}}', b"1234"), '"w"', "data_offsets"),
    ("a field that is unknown", header('{"w": {"colour": "red"}}'), '"w"', '"dtype"'),
    ("three offsets", one(offsets="[0, 4, 4]"), '"w"', "[begin, end]"),
    ("an offset that is a text", one(offsets='[0, "4"]'), '"w"', "data_offsets", '"4"'),
    ("a negative size", one(shape="[-4]"), '"w"', "shape", "-4"),
    ("a fractional size", one(shape="[4.0]"), '"w"', "shape", "4.0"),
    ("a size of 2^64", one(shape="[18446744073709551616]"), '"w"', "shape"),
    ("an unknown dtype", one(dtype="F128"), '"w"', "expected a dtype", '"F128"'),
    ("an end before its beginning", one(offsets="[4, 0]"), '"w"', "[4, 0]"),
    ("a range beyond the file", one(dtype="F32", shape="[4]", offsets="[0, 16]"), "expected 16", "found 4"),
    ("a range near 2^63", one(shape=f"[{2**63 - 1}]", offsets=f"[0, {2**63 - 1}]"), "too large"),
    ("a shape beyond 64 bits", one(dtype="F32", shape="[4294967296, 4294967296]"), '"w"', "too large"),
    ("a shape that wraps to the right size", one(dtype="F32", shape=f"[{2**62 + 1}]"), '"w"', "too large"),
    ("a shape that needs less", one(shape="[3]"), '"w"', "need 3 bytes", "hold 4"),
    ("a shape that needs more", one(dtype="F16"), '"w"', "need 8 bytes", "hold 4"),
    ("a gap before the first tensor", one(b"12345", offsets="[1, 5]"), '"w"', "gap"),
    ("bytes after the last tensor", one(b"12345"), "expected 4", "found 5"),
    ("tensors that overlap", header(f'{{"a": {entry()}, "b": {entry(offsets="[2, 6]")}}}', b"123456"), '"b"', "overlap"),
    ("a gap between tensors", header(f'{{"a": {entry()}, "b": {entry(offsets="[5, 9]")}}}', b"123456789"), '"b"', "gap"),
    ("a Git LFS pointer", GIT_LFS, "git lfs pull"),
    ("a web page", WEB_PAGE, "a web page", "download the file itself"),
    ("PyTorch's own format", b"PK\x03\x04" + b"x" * 100, "zip archive"),
    ("a download that broke off", good()[:-100], "cut short"),
    ("a download that broke off in the header", good()[:500], "cut short in its header"),
    ("a tensor that is missing", changed(wpe__weight=None), '"wpe.weight"', "missing"),
    ("a bias that is missing", changed(h__0__attn__c_attn__bias=None), '"h.0.attn.c_attn.bias"', "missing"),
    ("weights that lie the other way round", changed(h__0__attn__c_attn__weight=tiny_model.floats(12, 4)), "c_attn.weight", "[4, 12]", "[12, 4]"),
    ("weights as whole numbers", changed(h__0__ln_1__weight=("I32", [4], bytes(16))), "ln_1.weight", "I32"),
    ("a weight that is not a number", changed(h__0__ln_1__bias=("F32", [4], struct.pack("<4f", 0, 1, math.nan, 3))), "ln_1.bias", "nan at [2]"),
    ("a weight that is infinite", changed(h__0__attn__c_attn__weight=("F32", [4, 12], struct.pack("<48f", *[1] * 47, -math.inf))), "c_attn.weight", "-inf at [3, 11]"),
    ("weights of 1 TB", zeros("wte.weight", 259, 2**30), '"wte.weight"', "[259, 4]", "[259, 1073741824]"),
    ("one layer more than the config has", changed(**{"h__2__ln_1__weight": tiny_model.floats(4)}), "config.json", "h.2.ln_1.weight"),
    ("a name that moves the cursor", header('{"a\\nonehead: fine\\u001b[2J\\u202e": 1}'), "a\\nonehead", "\\x1B"),
]


def config(**values):
    """config.json with other values; the word that says what was found is the value itself."""
    return json.dumps(tiny_model.config() | values).encode()


CONFIGS = [
    ("an empty file", b"", "an empty file"),
    ("not JSON", b"{n_embd: 4}", "line 1"),
    ("a web page", WEB_PAGE, "a web page"),
    ("a list", b"[]", "a JSON object"),
    ("a zero byte after it", json.dumps(tiny_model.config()).encode() + b"\0{}", "expected JSON"),
    ("a key twice", b'{"n_head": 2, "n_head": 1}', '"n_head"', "twice"),
    ("deep nesting", b'{"a": ' + b"[" * 100_000, "16 levels"),
    ("a million values", b"[" + b"1," * 500_000 + b"1]", "expected at most 200000 values"),
    ("a file of 1 TB", Sparse(b"{", 1 << 40), "expected at most 1048576 bytes"),
    ("a number that is too large", b'{"n_embd": 1e999}', "too large"),
    ("a missing width", b'{"n_head": 2, "n_layer": 2}', '"n_embd"', "none"),
    ("a width that is a text", config(n_embd="4"), "n_embd", '"4"'),
    ("a fractional width", config(n_embd=4.5), "n_embd", "4.5"),
    ("a negative width", config(n_embd=-4), "n_embd", "-4"),
    ("a width of 2^63", config(n_embd=2**63), "n_embd", "9223372036854775808"),
    ("heads that do not divide the width", config(n_head=3), "n_head 3"),
    ("no head", config(n_head=0), "n_head", "0"),
    ("another width than the weights", config(n_embd=6), MODEL, "[259, 6]", "[259, 4]"),
    ("another vocabulary than the weights", config(vocab_size=50257), MODEL, "[50257, 4]"),
    ("another length than the weights", config(n_positions=1024), "wpe.weight", "[1024, 4]"),
    ("another MLP than the weights", config(n_inner=17), "mlp.c_fc.weight", "[4, 17]"),
    ("fewer layers than the weights", config(n_layer=1), MODEL, "below 1", "h.1.ln_1.weight"),
    ("more layers than the weights", config(n_layer=3), MODEL, "h.2.ln_1.weight", "missing"),
    ("a million million layers", config(n_layer=10**12), "n_layer", "1000000000000"),
    ("an epsilon of 0", config(layer_norm_epsilon=0), "layer_norm_epsilon", "0"),
    ("an epsilon that is a text", config(layer_norm_epsilon="small"), "layer_norm_epsilon", '"small"'),
    ("another model", config(model_type="llama"), "model_type", '"llama"'),
    ("scores that are not scaled", config(scale_attn_weights=False), "scale_attn_weights", "false"),
    ("scores scaled by the layer", config(scale_attn_by_inverse_layer_idx=True), "scale_attn_by_inverse_layer_idx", "true"),
    ("another activation of the MLP", config(activation_function="relu"), "activation_function", '"relu"'),
]

MERGE_FILES = [
    ("an empty file", b"", "an empty file"),
    ("no merges", b"#version: 0.2\n", "expected merges, found none"),
    ("a web page", WEB_PAGE, "a web page"),
    ("a Git LFS pointer", GIT_LFS, "Git LFS pointer"),
    ("one symbol in a line", b"t h\nthe\n", "line 2", "two symbols", "'the'"),
    ("three symbols in a line", b"t h e\n", "line 1", "two symbols"),
    ("an empty line", b"t h\n\nth e\n", "line 2"),
    ("two spaces", b"t  h\n", "line 1"),
    ("a character outside the alphabet", "t \u4e2d\n".encode(), "line 1", "alphabet"),
    ("bytes that are not UTF-8", b"t \xff\n", "line 1", "\\xFF"),
    ("an escape sequence", b"t \x1b[31m\n", "line 1", "\\x1B[31m"),
    ("a part that no line has made", b"th e\n", "line 1", "earlier lines"),
    ("a merge twice", b"t h\nt h\n", "line 2", "each merge once"),
    ("the same merge 300000 times", b"t h\n" * 300_000, "each merge once", "'t h'"),
    ("a million empty lines", b"\n" * 1_000_000, "at most 500000 merges"),
    ("one line of 16 MB", b"t" * (16 << 20), "two symbols"),
    ("a file of 1 TB", Sparse(b"t h\n", 1 << 40), "at most 16777216 bytes"),
]


def vocabulary(**ids):
    return json.dumps(tiny_model.vocabulary() | ids).encode()


VOCABULARIES = [
    ("an empty file", b"", "an empty file"),
    ("not JSON", b'{"a" 1}', "expected JSON"),
    ("JSON that is cut", vocabulary()[:-20], "expected JSON"),
    ("a web page", WEB_PAGE, "a web page"),
    ("a Git LFS pointer", GIT_LFS, "Git LFS pointer"),
    ("a zero byte after it", vocabulary() + b"\0{}", "expected JSON"),
    ("a list", b"[1]", "one JSON object"),
    ("a number", b"1", "one JSON object"),
    ("an object inside", b'{"a": {"b": 1}}', "one JSON object"),
    ("deep nesting", b'{"a": ' + b"[" * 1_000_000, "one JSON object"),
    ("a token twice", b'{"a": 0, "a": 1}', "each token once", "'a'"),
    ("an id twice", vocabulary(the=3), "each once"),
    ("a gap", vocabulary(the=1000), "without a gap"),
    ("a negative id", vocabulary(the=-1), "'the'", "-1"),
    ("a fractional id", vocabulary(the=1.5), "'the'", "1.5"),
    ("an id that is a text", vocabulary(the="257"), "'the'", '"257"'),
    ("an id of 2^63", vocabulary(the=2**63), "'the'", "9223372036854775808"),
    ("a symbol of the merges that is missing", json.dumps({word: n for n, word in enumerate(tiny_model.byte_alphabet())}).encode(), "none for 'th'"),
    ("600000 tokens", b"{" + b",".join(b'"%x":%d' % (n, n) for n in range(600_000)) + b"}", "300000"),
    ("a file of 1 TB", Sparse(b"{", 1 << 40), "at most 16777216 bytes"),
]


def excerpt(tensors=None, leave_out=(), **metadata):
    every = tiny_model.excerpt_tensors() | (tensors or {})
    about = tiny_model.excerpt_metadata() | metadata
    return tiny_model.safetensors({name: every[name] for name in every if name not in leave_out}, {key: about[key] for key in about if about[key] is not None})


def excerpt_of_many_ids():
    """wte.row_ids as if there were a thousand million of them: 8 GB of zeros."""
    count = 1 << 30
    every = {name: [len(values), dtype, shape] for name, (dtype, shape, values) in tiny_model.excerpt_tensors().items()}
    every["wte.row_ids"] = [8 * count, "I64", [count]]
    about, end = {"__metadata__": tiny_model.excerpt_metadata()}, 0
    for name, (size, dtype, shape) in every.items():
        about[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    start = tiny_model.with_length(about)
    return Sparse(start, len(start) + end)


EXCERPTS = [
    ("no metadata", tiny_model.safetensors(tiny_model.excerpt_tensors()), "metadata", '"model"'),
    ("no text", excerpt(text=None), '"text"'),
    ("bytes that do not give the text", excerpt(token_bytes='["24", "28", "25"]'), "token_bytes", '"$($"'),
    ("too few bytes", excerpt(token_bytes='["24", "28"]'), "token_bytes", "3"),
    ("bytes that are no digits", excerpt(token_bytes='["24", "28", "2x"]'), "token_bytes", "2x"),
    ("half a byte", excerpt(token_bytes='["24", "28", "2"]'), "token_bytes", "two for each"),
    ("ids of another vocabulary", excerpt(text="the"), "GPT-2's vocabulary", '"the"'),
    ("a model name that moves the cursor", excerpt(model="a\x1b[2J"), "model", "visible"),
    ("a model name that turns around", excerpt(model="a\u202eb"), "model", "visible"),
    ("token ids that are no list", excerpt(token_ids="3, 7"), "token_ids"),
    ("token ids below 0", excerpt(token_ids="[-3]"), "token_ids", "[-3]"),
    ("no token ids", excerpt(token_ids="[]"), "token_ids", "[]"),
    ("a million token ids", excerpt(token_ids=f"[{'3, ' * 1_000_000}3]"), "expected at most 200000 values"),
    ("more token ids than positions", excerpt(token_ids="[3, 3, 3, 3, 3, 3]"), "6 tokens", "at most 5"),
    ("a token without an embedding", excerpt(token_ids="[4]"), "no embedding of token 4"),
    ("heads that are no number", excerpt(n_head="two"), "n_head", '"two"'),
    ("heads that do not divide the width", excerpt(n_head="3"), "n_head 3"),
    ("an epsilon that is not a number", excerpt(layer_norm_epsilon="nan"), "layer_norm_epsilon"),
    ("rows that are neither right nor wrong", excerpt(residual="roughly"), "residual", '"roughly"'),
    ("a million million layers", excerpt(n_layer=str(10**12)), "n_layer", "1000000000000"),
    ("no block", excerpt(leave_out=["h.0.attn.c_attn.weight"]), "h.0.attn.c_attn.weight"),
    ("no LayerNorm", excerpt(leave_out=["h.0.ln_1.weight"]), "h.0.ln_1.weight", "missing"),
    ("no positions", excerpt(leave_out=["wpe.weight"]), "wpe.weight", "missing"),
    ("ids without rows", excerpt(leave_out=["wte.rows"]), "wte.rows", "missing"),
    ("a row id twice", excerpt({"wte.row_ids": ("I64", [2], struct.pack("<2q", 3, 3))}), "wte.row_ids", "3 twice"),
    ("row ids as a matrix", excerpt({"wte.row_ids": ("I64", [2, 1], struct.pack("<2q", 3, 7))}), "wte.row_ids", "[2, 1]"),
    ("row ids as floats", excerpt({"wte.row_ids": tiny_model.floats(2)}), "wte.row_ids", "F32"),
    ("a thousand million row ids", excerpt_of_many_ids(), "wte.row_ids", "1073741824"),
    ("a width of 2^38", zeros("h.0.ln_1.weight", 2**38, more=f'"__metadata__": {json.dumps(tiny_model.excerpt_metadata())}, '
                              f'"h.0.attn.c_attn.weight": {entry(shape="[0]", offsets="[0, 0]")}, "wpe.weight": {entry(shape="[0]", offsets="[0, 0]")}, '),
     "at most 16384", "274877906944"),
]


class BadFiles(ProgramTest):
    kinds = {}
    most = 0  # MB

    def refused(self, family, what, name, code, words, *arguments):
        """One line with these words, that exit code, and little memory and time."""
        BadFiles.kinds[family] = BadFiles.kinds.get(family, 0) + 1
        with self.subTest(family=family, what=what):
            megabytes = self.assert_refused_cheaply(code, (str(name), *words), *arguments)
            BadFiles.most = max(BadFiles.most, megabytes)

    def write_checkpoint(self):
        for name, content in tiny_model.checkpoint().items():
            write(self.folder / name, content)

    def in_a_checkpoint(self, family, name, kinds):
        self.write_checkpoint()
        for what, content, *words in kinds:
            write(self.folder / name, content)
            self.refused(family, what, self.folder / (MODEL if MODEL in words else name), 1, words,
                         "trace", "--model", self.folder, "--text", "the $", "--layer", "1" if "MLP" in what else "0")

    def test_the_files_that_are_damaged_were_good(self):
        self.write_checkpoint()
        write(self.folder / "part.safetensors", excerpt())
        for arguments in (["--model", self.folder, "--text", "the $", "--layer", "1"], ["--model", self.folder / "part.safetensors"]):
            result, seconds, megabytes = measured("trace", *arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_weights(self):
        self.in_a_checkpoint("weights", MODEL, WEIGHTS)

    def test_configs(self):
        self.in_a_checkpoint("config", CONFIG, CONFIGS)

    def test_merges(self):
        self.in_a_checkpoint("merges", MERGES, MERGE_FILES)

    def test_vocabularies(self):
        self.in_a_checkpoint("vocabulary", VOCABULARY, VOCABULARIES)

    def test_excerpts(self):
        file = self.folder / "part.safetensors"
        for what, content, *words in EXCERPTS:
            write(file, content)
            self.refused("excerpt", what, file, 1, words, "trace", "--model", file)

    def test_what_is_no_file(self):
        self.write_checkpoint()
        for name in tiny_model.checkpoint():
            path = self.folder / name
            content = path.read_bytes()
            for what, make in {"nothing": lambda p: None, "a folder": lambda p: p.mkdir(), "a pipe": os.mkfifo, "a device": lambda p: p.symlink_to("/dev/zero"),
                               "a link to itself": lambda p: p.symlink_to(p), "a link to nothing": lambda p: p.symlink_to("nothing")}.items():
                path.unlink()
                make(path)
                self.refused("no file", f"{what} as {name}", name, 1, [], "trace", "--model", self.folder, "--text", "the $")
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink(missing_ok=True)
                path.write_bytes(content)

    def test_files_that_may_not_be_read(self):
        self.write_checkpoint()
        self.folder.chmod(0o755)
        somebody = {"user": 65534} if os.geteuid() == 0 else {}  # root may read everything
        for name in tiny_model.checkpoint():
            (self.folder / name).chmod(0)
            try:
                result = onehead("trace", "--model", self.folder, "--text", "the $", **somebody)
            except PermissionError:
                self.skipTest("SKIPPED: another user cannot reach the program")
            self.assert_refused(result, 1, str(self.folder / name), "Permission denied")
            (self.folder / name).chmod(0o644)

    @classmethod
    def tearDownClass(cls):
        print(f"bad files: {sum(cls.kinds.values())} kinds tried:", ", ".join(f"{count} of {family}" for family, count in cls.kinds.items()), f"(at most {cls.most:.0f} MB)")


if __name__ == "__main__":
    unittest.main()
