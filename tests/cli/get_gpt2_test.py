#!/usr/bin/python3
"""data/get-gpt2 against a web server on this machine that misbehaves in every way we could think of.

Whatever happens, the folder gpt2 is there only when it is whole, and a failure is one line that says what to do.
"""

import contextlib
import hashlib
import http.server
import json
import mmap
import os
import pathlib
import random
import shutil
import signal
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

from programs import BIN, MINI, onehead

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import make_weights  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
MODEL = random.Random(1).randbytes(2_000_000)
CONFIG = b'{"n_head": 12}'
VOCAB = b'{"a": 0}'
MERGES = b"#version: 0.2\n"
PAGE = b"<html><body>Please log in.</body></html>"


class Server(http.server.ThreadingHTTPServer):
    """Serves the model's files; a test sets what goes wrong with the model."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/model.safetensors": MODEL, "/config.json": CONFIG}
        self.ranges = True  # honours Range
        self.page = False  # sends a web page, with status 200
        self.sent_bytes = None  # ends the connection after so many bytes of the model
        self.hangs = False  # keeps the connection open there, silent
        self.redirects = False  # sends everybody elsewhere first
        self.asked = []  # (path, Range) of each request
        self.transferred = 0  # bytes of the model
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """A client that was killed is no news."""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append((self.path, wanted))
        if server.page:
            return self.reply(200, PAGE, "text/html; charset=utf-8")
        if server.redirects and not self.path.startswith("/elsewhere"):
            return self.reply(302, b"", extra={"Location": "/elsewhere" + self.path})
        self.path = self.path.removeprefix("/elsewhere")
        if self.path not in server.files:
            return self.reply(404, PAGE, "text/html")
        body = server.files[self.path]
        if not (wanted and server.ranges):
            return self.reply(200, body)
        start, end = wanted.removeprefix("bytes=").split("-")
        start, end = int(start), int(end) + 1 if end else len(body)
        return self.reply(206, body[start:end], extra={"Content-Range": f"bytes {start}-{end - 1}/{len(body)}"})

    def reply(self, status, body, kind="application/octet-stream", extra=None):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": len(body), **(extra or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.path == "/model.safetensors":
            body = body[: self.server.sent_bytes]
            self.server.transferred += len(body)
        self.wfile.write(body)
        while self.server.hangs:
            time.sleep(0.01)

    def log_message(self, *_):
        pass


def pin(folder, **changed):
    files = {"model.safetensors": MODEL, "config.json": CONFIG, "vocab.json": VOCAB, "merges.txt": MERGES, **changed}
    lines = [f"{name} {len(body)} {hashlib.sha256(body).hexdigest()}\n" for name, body in files.items()]
    (folder / "gpt2.sha256").write_text("".join(lines))


def fill(folder):
    shutil.copy(DATA / "get-gpt2", folder)
    (folder / "gpt2-mini").mkdir()
    (folder / "gpt2-mini/vocab.json").write_bytes(VOCAB)
    (folder / "gpt2-mini/merges.txt").write_bytes(MERGES)
    (folder / "gpt2-mini/config.json").write_bytes(b'{"n_head": 3}')
    pin(folder)


def size_of(file):
    """In bytes; 0 of one that is not there yet, or has just got another name."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


class ScriptTest(unittest.TestCase):
    """The script in a folder of its own, and a server."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="get gpt2 "))
        self.addCleanup(shutil.rmtree, self.root)
        self.data = self.root / "data"
        self.data.mkdir()
        self.fill()
        self.model_part = self.data / ".gpt2.partial/model.safetensors"
        self.layer_parts = self.data / ".gpt2-0.partial/gpt2/parts"
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def start(self, *arguments, base=None, script=None, path=os.environ["PATH"]):
        process = subprocess.Popen(
            [script or self.data / "get-gpt2", *arguments],
            cwd="/",
            env={"PATH": path, "HOME": str(self.root), "ONEHEAD_GPT2_BASE": base or self.server.base},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process):
        """Ends a run as Ctrl-C would: curl too."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate()

    def run_script(self, *arguments, **how):
        process = self.start(*arguments, **how)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def assert_fails(self, result, *said, code=1):
        found, _, err = result
        self.assertEqual(found, code, err)
        self.assertRegex(err, r"\Aget-gpt2: [^\n]+\n\Z", "not one line")
        for words in said:
            self.assertIn(words, err)


class GetGpt2(ScriptTest):
    def fill(self):
        fill(self.data)

    def assert_absent(self):
        self.assertFalse((self.data / "gpt2").exists(), "gpt2 is there, but not whole")

    def assert_whole(self, result):
        code, out, err = result
        self.assertEqual((code, err), (0, ""))
        found = {file.name: file.read_bytes() for file in (self.data / "gpt2").iterdir()}
        expected = {"model.safetensors": MODEL, "config.json": CONFIG, "vocab.json": VOCAB, "merges.txt": MERGES}
        self.assertEqual(found, expected)
        self.assertFalse((self.data / ".gpt2.partial").exists())
        return out

    def start_and_hang(self):
        self.server.sent_bytes, self.server.hangs = 700_000, True
        process = self.start()
        wait_for(lambda: size_of(self.model_part) > 600_000)
        return process

    def interrupt(self):
        """Kills a run amid the model; returns how many bytes it leaves."""
        self.kill(self.start_and_hang())
        self.server.sent_bytes, self.server.hangs = None, False
        self.server.asked.clear()
        return self.model_part.stat().st_size

    def test_complete(self):
        out = self.assert_whole(self.run_script())
        self.assertIn("MIT licence", out)
        self.assertEqual(self.server.asked, [("/model.safetensors", None), ("/config.json", None)])

    def test_through_a_link(self):
        link = self.root / "link"
        link.symlink_to(self.data / "get-gpt2")
        self.assert_whole(self.run_script(script=link))

    def test_a_damaged_bundled_vocabulary_is_not_copied(self):
        (self.data / "gpt2-mini/vocab.json").write_bytes(VOCAB.upper())
        self.assert_fails(self.run_script(), "404", "/vocab.json")
        self.assert_absent()
        self.server.files["/vocab.json"] = VOCAB
        self.assert_whole(self.run_script())

    def test_interrupted_then_resumed(self):
        left = self.interrupt()
        self.assert_absent()
        self.assert_whole(self.run_script())
        self.assertEqual(self.server.asked[0], ("/model.safetensors", f"bytes={left}-"))

    def test_a_whole_file_is_not_fetched_again(self):
        del self.server.files["/config.json"]
        self.assert_fails(self.run_script(), "404", "/config.json")
        self.assert_absent()
        self.server.files["/config.json"] = CONFIG
        self.server.asked.clear()
        self.assert_whole(self.run_script())
        self.assertEqual(self.server.asked, [("/config.json", None)])

    def test_server_without_ranges(self):
        self.interrupt()
        self.server.ranges = False
        out = self.assert_whole(self.run_script())
        self.assertIn("starts anew", out)

    def test_wrong_hash(self):
        self.server.files["/model.safetensors"] = MODEL[:-1] + b"x"
        self.assert_fails(self.run_script(), "model.safetensors", "sha256", "deleted", "run this again")
        self.assert_absent()
        self.assertFalse(self.model_part.exists())
        self.server.files["/model.safetensors"] = MODEL
        self.assert_whole(self.run_script())

    def test_wrong_size(self):
        for body in (MODEL[:-1], MODEL + b"x"):
            self.server.files["/model.safetensors"] = body
            self.assert_fails(self.run_script(), f"{len(body)} bytes instead of {len(MODEL)}", "deleted")
            self.assert_absent()
            self.assertFalse(self.model_part.exists())

    def test_not_found(self):
        del self.server.files["/model.safetensors"]
        self.assert_fails(self.run_script(), "404", f"{self.server.base}/model.safetensors")
        self.assert_absent()

    def test_truncated_then_resumed(self):
        self.server.sent_bytes = 500_000
        self.assert_fails(self.run_script(), "500000 of 2000000 bytes", "run this again")
        self.assert_absent()
        self.server.sent_bytes = None
        self.assert_whole(self.run_script())
        self.assertIn(("/model.safetensors", "bytes=500000-"), self.server.asked)

    def test_web_page_instead(self):
        self.server.page = True
        self.assert_fails(self.run_script(), "web page", "login")
        self.assert_absent()
        self.assertFalse(self.model_part.exists())

    def test_web_page_instead_of_the_rest(self):
        left = self.interrupt()
        self.server.page = True
        self.assert_fails(self.run_script(), "web page")
        self.assertEqual(self.model_part.read_bytes(), MODEL[:left])
        self.server.page = False
        self.assert_whole(self.run_script())

    def test_no_space(self):
        small = self.root / "small"
        small.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("needs the right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        fill(small)
        script = small / "get-gpt2"
        self.assert_fails(self.run_script(script=script), "no space", "make room")
        self.assertEqual(self.server.asked, [])
        pin(small, **{"model.safetensors": MODEL[:1000]})
        self.assert_fails(self.run_script(script=script), "cannot write", "disk full")
        self.assertFalse((small / "gpt2").exists())

    def test_twice_at_once(self):
        first = self.start_and_hang()
        self.assert_fails(self.run_script(), "another get-gpt2")
        self.assert_absent()
        self.assertEqual(len(self.server.asked), 1)
        self.server.hangs = False
        first.communicate(timeout=10)
        self.server.sent_bytes = None
        self.assert_whole(self.run_script())

    def test_no_server(self):
        with contextlib.closing(socket.socket()) as unused:
            unused.bind(("127.0.0.1", 0))  # bound, but not listening: refuses
            began = time.monotonic()
            result = self.run_script(base=f"http://127.0.0.1:{unused.getsockname()[1]}")
        self.assertLess(time.monotonic() - began, 5)
        self.assert_fails(result, "no connection to http://127.0.0.1")
        self.assert_absent()

    def test_already_there(self):
        self.assert_whole(self.run_script())
        self.server.asked.clear()
        out = self.assert_whole(self.run_script())
        self.assertIn("already there", out)
        self.assertEqual(self.server.asked, [])

    def test_there_but_damaged(self):
        self.assert_whole(self.run_script())
        config = self.data / "gpt2/config.json"
        for spoil in (lambda: config.write_bytes(CONFIG.upper()), config.unlink):
            spoil()
            self.assert_fails(self.run_script(), str(config), "move", "run this again")
        self.assertEqual((self.data / "gpt2/model.safetensors").read_bytes(), MODEL)

    def test_missing_curl(self):
        tools = self.root / "tools"
        tools.mkdir()
        for tool in ("bash", "readlink", "dirname", "flock", "sha256sum"):
            (tools / tool).symlink_to(shutil.which(tool))
        self.assert_fails(self.run_script(path=str(tools)), "curl is missing", "apt install curl")
        self.assert_absent()

    def test_usage(self):
        code, out, err = self.run_script("--help")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("Usage: data/get-gpt2", out)
        self.assert_fails(self.run_script("--force"), "'--force'", "--help", code=2)
        self.assert_fails(self.run_script(""), "--help", code=2)
        self.assertEqual(self.server.asked, [])

    def test_the_pinned_files(self):
        pinned = dict(line.split(maxsplit=1) for line in (DATA / "gpt2.sha256").read_text().splitlines())
        self.assertEqual(list(pinned), ["model.safetensors", "config.json", "vocab.json", "merges.txt"])
        self.assertTrue(pinned["model.safetensors"].startswith("548105171 248dfc39"))
        for name in ("vocab.json", "merges.txt"):
            body = (DATA / "gpt2-mini" / name).read_bytes()
            self.assertEqual(pinned[name], f"{len(body)} {hashlib.sha256(body).hexdigest()}", "not the bundled one")


class WholeModel:
    """A checkpoint in GPT-2 small's shape, random in the blocks 0 and 1 and in some rows of the embeddings; the rest is a hole."""

    IDS = [464, 3797, 3332, 319, 262, 2603]  # of TEXT
    TEXT = "The cat sat on the mat"

    def __init__(self, folder):
        self.folder = folder / "gpt2"
        self.folder.mkdir()
        for name in ("vocab.json", "merges.txt"):
            shutil.copy(MINI / name, self.folder)
        config = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257,
                  "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}
        (self.folder / "config.json").write_text(json.dumps(config))
        self.path = self.folder / "model.safetensors"
        self.write()
        with self.path.open("rb") as file:
            self.bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self.traces = {layer: self.trace(self.folder, layer, 3, folder / f"layer-{layer}") for layer in (0, 1)}
        hashes = [self.trace(self.folder, 0, head, folder / "head")["trace.json"]["weights_sha256"] for head in range(12)]
        self.layer_0_sha256 = hashlib.sha256("".join(f"{sha256}\n" for sha256 in hashes).encode()).hexdigest()

    def write(self):
        header, self.begins, end = {}, {}, 0
        for name, shape in make_weights.shapes():
            begin, end = end, end + 4 * int(np.prod(shape))
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
        text = json.dumps(header).encode()
        numbers = np.random.default_rng(1)
        with self.path.open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + end)
            for name, shape in make_weights.shapes():
                begin = self.begins[name] = 8 + len(text) + header[name]["data_offsets"][0]
                if re.match(r"h\.[01]\.(?!attn\.bias)", name):
                    file.seek(begin)
                    file.write(make_weights.values(numbers, name, shape).tobytes())
            for name, rows in (("wte.weight", self.IDS), ("wpe.weight", range(len(self.IDS)))):
                for row in rows:
                    file.seek(self.begins[name] + 4 * 768 * row)
                    file.write(make_weights.values(numbers, name, (1, 768)).tobytes())

    def trace(self, model, layer, head, out):
        """The files of a trace: their bytes; of trace.json what it says, but for the model's name."""
        result = onehead("trace", "--model", model, "--layer", layer, "--head", head, "--text", self.TEXT, "--out", out, "--quiet")
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        files = {file.name: file.read_bytes() for file in out.glob("*.csv")}
        files["trace.json"] = {key: value for key, value in json.loads((out / "trace.json").read_bytes()).items() if key != "model"}
        return files


class GetLayer(ScriptTest):
    """Part of the weights: what an excerpt of one layer needs, from a server that has all of them."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.whole = WholeModel(pathlib.Path(folder.name))

    def setUp(self):
        super().setUp()
        self.server.files = {"/model.safetensors": self.whole.bytes, "/config.json": (self.whole.folder / "config.json").read_bytes()}

    def fill(self):
        script = (DATA / "get-gpt2").read_text()
        pinned = re.search(r"^layer_0_sha256=(\w+)$", script, re.MULTILINE)[1]
        (self.data / "get-gpt2").write_text(script.replace(pinned, self.whole.layer_0_sha256))
        (self.data / "get-gpt2").chmod(0o755)
        (self.data / "gpt2-mini").symlink_to(MINI)
        lines = [f"model.safetensors {len(self.whole.bytes)} not-looked-at\n"]
        for name in ("config.json", "vocab.json", "merges.txt"):
            body = (self.whole.folder / name).read_bytes()
            lines.append(f"{name} {len(body)} {hashlib.sha256(body).hexdigest()}\n")
        (self.data / "gpt2.sha256").write_text("".join(lines))
        (self.root / "build/release/bin").mkdir(parents=True)
        (self.root / "build/release/bin/onehead").symlink_to(BIN / "onehead")

    def assert_excerpt(self, result, layer):
        """The excerpt's trace is the whole model's to the bit. Returns what was printed, in lines."""
        code, out, err = result
        self.assertEqual((code, err), (0, ""))
        excerpt = self.data / f"gpt2-{layer}.safetensors"
        self.assertEqual(self.whole.trace(excerpt, layer, 3, self.root / "trace"), self.whole.traces[layer])
        self.assertEqual(list(self.data.glob(".gpt2*")), [])
        return out.splitlines()

    def get(self, layer):
        return self.run_script("--layer", str(layer), "--text", self.whole.TEXT)

    def assert_no_excerpt(self):
        self.assertEqual(list(self.data.glob("gpt2-*.safetensors")), [])

    def test_layers(self):
        # Attention: 768 * (2304 + 768) + 2304 + 768 numbers and ln_1; a row for each token and position. Below it a whole block.
        attention = 4 * (768 * 3072 + 3072 + 2 * 768)
        rows = 4 * 768 * 2 * len(self.whole.IDS)
        block = attention + 4 * (2 * 768 * 3072 + 3072 + 768 + 2 * 768)
        header = 8 + int.from_bytes(self.whole.bytes[:8], "little")
        for layer, needed in ((0, attention + rows + header), (1, attention + rows + header + block)):
            self.server.transferred = 0
            lines = self.assert_excerpt(self.get(layer), layer)
            self.assertEqual(self.server.transferred, needed, f"layer {layer}")
            self.assertIn(f"Fetching {(needed - header) // 100_000 / 10} MB of 548.1 in ", "\n".join(lines))
            print(f"layer {layer}: {needed} bytes of {len(self.whole.bytes)} transferred, in {len(self.server.asked)} requests so far")

    def test_by_redirects(self):
        self.server.redirects = True
        self.assert_excerpt(self.get(0), 0)

    def test_cut_and_resumed(self):
        self.server.sent_bytes = 500_000
        self.assert_fails(self.get(0), "stopped at 500000 of ", "run this again")
        self.assert_no_excerpt()
        self.server.sent_bytes = None
        self.assert_excerpt(self.get(0), 0)
        transferred, self.server.transferred = self.server.transferred, 0
        self.get(0)
        self.assertEqual(transferred, self.server.transferred, "something was transferred twice")

    def test_killed_and_resumed(self):
        self.server.sent_bytes, self.server.hangs = 700_000, True
        process = self.start("--layer", "0")
        wait_for(lambda: any(size_of(part) > 600_000 for part in self.layer_parts.glob("*.new")))
        self.kill(process)
        self.assert_no_excerpt()
        self.server.sent_bytes, self.server.hangs, self.server.transferred = None, False, 0
        self.assert_excerpt(self.get(0), 0)
        self.assertLess(self.server.transferred, 9_000_000)

    def test_a_server_without_ranges(self):
        self.server.ranges = False
        self.assert_fails(self.get(0), "only as a whole", "data/get-gpt2")
        self.assert_no_excerpt()

    def test_a_web_page(self):
        self.server.page = True
        self.assert_fails(self.get(0), "web page", "login")
        self.assert_no_excerpt()

    def test_another_file(self):
        self.server.files["/model.safetensors"] = self.whole.bytes[:-1]
        self.assert_fails(self.get(0), "other bytes", "GPT-2 small")
        self.assert_no_excerpt()

    def test_other_weights(self):
        begin = self.whole.begins["h.0.attn.c_proj.bias"]
        for value, said in ((1.5, "not OpenAI's"), (np.nan, "h.0.attn.c_proj.bias")):
            with self.whole.path.open("rb") as file:
                changed = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            changed[begin : begin + 4] = np.float32(value).tobytes()
            self.server.files["/model.safetensors"] = changed
            code, _, err = self.get(0)
            self.assertEqual((code, err.count("\n")), (1, 1), err)
            self.assertIn(said, err)
            self.assert_no_excerpt()
            shutil.rmtree(self.data / ".gpt2-0.partial")

    def test_usage(self):
        for arguments in (("--layer",), ("--layer", "-1"), ("--layer", "one"), ("--layer", "0", "--text"), ("--text", "cat"), ("--layer", "0", "x")):
            self.assert_fails(self.run_script(*arguments), "--help", code=2)
        self.assertEqual(self.server.asked, [])


if __name__ == "__main__":
    unittest.main()
