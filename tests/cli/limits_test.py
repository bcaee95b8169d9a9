"""Long texts, large models and files that change: what would not fit into memory is refused before it begins, with an estimate
that holds, and a model that somebody writes to meanwhile is refused too."""
import os
import re
import struct
import threading
import unittest

import tiny_model
from programs import MINI, ProgramTest, is_sanitized, measured, onehead

N_CTX, WIDTH = 40_000, 64


def at_most(megabytes):
    """ulimit -v for a run."""
    return {"address_space": megabytes * 1_000_000}


def write_long_model(folder):
    """A model of zeros with 40000 positions: a file of 25 MB that takes no room on the disk."""
    sizes = {"wte.weight": [50257, WIDTH], "wpe.weight": [N_CTX, WIDTH]}
    for h in ("h.0.", "h.1."):
        sizes |= {h + "ln_1.weight": [WIDTH], h + "ln_1.bias": [WIDTH], h + "attn.c_attn.weight": [WIDTH, 3 * WIDTH], h + "attn.c_attn.bias": [3 * WIDTH],
                  h + "attn.c_proj.weight": [WIDTH, WIDTH], h + "attn.c_proj.bias": [WIDTH], h + "ln_2.weight": [WIDTH], h + "ln_2.bias": [WIDTH],
                  h + "mlp.c_fc.weight": [WIDTH, 4 * WIDTH], h + "mlp.c_fc.bias": [4 * WIDTH], h + "mlp.c_proj.weight": [4 * WIDTH, WIDTH], h + "mlp.c_proj.bias": [WIDTH]}
    header, end = {}, 0
    for name, shape in sizes.items():
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    start = tiny_model.with_length(header)
    (folder / "model.safetensors").write_bytes(start)
    os.truncate(folder / "model.safetensors", len(start) + end)
    (folder / "config.json").write_text(f'{{"n_embd": {WIDTH}, "n_head": 2, "n_layer": 2, "n_positions": {N_CTX}}}')
    for name in ("merges.txt", "vocab.json"):
        (folder / name).symlink_to(MINI / name)


@unittest.skipIf(is_sanitized(), "SKIPPED: AddressSanitizer takes what memory it likes")
class Memory(ProgramTest):
    def setUp(self):
        super().setUp()
        write_long_model(self.folder)

    def run_on(self, n_tokens, *arguments, command="trace", **options):
        file = self.folder / "text.txt"
        file.write_text(" a" * n_tokens)
        return measured(command, "--model", self.folder, "--text-file", file, *arguments, **options)

    def test_a_text_that_does_not_fit_is_refused_with_both_numbers(self):
        out = self.folder / "out"
        for command, arguments in (("trace", ["--out", out]), ("heads", []), ("worked", ["softmax", "1", "0"]), ("excerpt", ["--layer", "1", "--out", out])):
            words = ["worked", *arguments] if command == "worked" else [command]
            file = self.folder / "text.txt"
            file.write_text(" a" * 20_000)
            rest = [] if command == "worked" else arguments
            result, seconds, megabytes = measured(*words, "--model", self.folder, "--text-file", file, *rest, **at_most(1000))
            self.assert_refused(result, 1, "20000 tokens", "MB of memory", "MB available", "shorter text")
            needed, available = map(int, re.search(r"need (\d+) MB of memory, found (\d+) MB", result.stderr).groups())
            self.assertGreater(needed, 4 * 4 * 20_000**2 / 1e6)  # four steps of float32 for each pair of tokens
            self.assertLess(available, 1000)
            self.assertLess(seconds, 2)
            self.assertLess(megabytes, 100)
            self.assertFalse(out.exists())

    def test_the_estimate_holds(self):
        for n_tokens, arguments in ((1000, []), (2500, ["--layer", "1"])):
            result, _, _ = self.run_on(n_tokens, *arguments, **at_most(40))
            self.assert_refused(result, 1, "MB of memory")
            needed = int(re.search(r"need (\d+) MB", result.stderr)[1])
            _, _, before = self.run_on(1)
            result, _, megabytes = self.run_on(n_tokens, *arguments, "--out", self.folder / "out", "--quiet")
            self.assertEqual(result.returncode, 0, result.stderr)
            print(f"{n_tokens} tokens {arguments}: {needed} MB expected, {megabytes - before:.0f} MB taken")
            self.assertLess(megabytes - before, needed)
            self.assertLess(needed, 3 * (megabytes - before))

    def test_whatever_the_limit_it_ends_in_a_result_or_a_line(self):
        ends = set()
        for megabytes in (20, 30, 40, 60, 80, 100, 130, 160, 200, 300, 600):
            result, _, _ = self.run_on(1000, "--quiet", **at_most(megabytes))
            with self.subTest(megabytes):
                # With less than the program itself needs, the system does not start it.
                if result.returncode != 127:
                    self.assertIn(result.returncode, (0, 1), result.stderr)
                    self.assertEqual(result.stderr.count("\n"), result.returncode, result.stderr)
                    self.assertNotIn("bad_alloc", result.stderr)
                    ends.add(result.returncode)
        self.assertEqual(ends, {0, 1})

    def test_a_text_that_no_tokens_could_hold_is_not_encoded(self):
        file = self.folder / "long.txt"
        file.write_bytes(b"a" * (16 << 20))
        result, seconds, megabytes = measured("trace", "--model", MINI, "--text-file", file)
        self.assert_refused(result, 2, "16777216 bytes", "512 tokens", "shorten it")
        self.assertLess(seconds, 1)
        self.assertLess(megabytes, 64)
        file.write_bytes(b"a" * ((16 << 20) + 1))
        self.assert_refused(onehead("trace", "--model", MINI, "--text-file", file), 1, "16777216 bytes")


class ChangingModel(ProgramTest):
    def setUp(self):
        super().setUp()
        for file in MINI.iterdir():
            os.symlink(file, self.folder / file.name)
        self.model = self.folder / "model.safetensors"
        self.model.unlink()
        self.model.write_bytes((MINI / "model.safetensors").read_bytes())
        self.stop = threading.Event()

    def while_somebody(self, writes):
        """The deepest head of the model, while a thread does something to the file again and again."""
        thread = threading.Thread(target=lambda: [writes() for _ in iter(lambda: self.stop.wait(0.0005), True)])
        thread.start()
        try:
            return onehead("trace", "--model", self.folder, "--layer", "3", "--head", "2")
        finally:
            self.stop.set()
            thread.join()

    def test_a_model_that_is_written_to_is_refused(self):
        def write():
            with self.model.open("r+b") as file:
                file.seek(20_000_000)
                file.write(struct.pack("<e", 0.5))
        self.assert_refused(self.while_somebody(write), 1, "model.safetensors", "written to while it was read")

    def test_a_model_that_is_only_looked_at_or_linked_to_is_not(self):
        other = self.folder / "other.safetensors"

        def link():
            os.link(self.model, other)
            self.model.read_bytes()[:10]
            other.unlink()
        self.assertEqual(self.while_somebody(link).returncode, 0)

    def test_a_model_that_shrinks_is_refused(self):
        size = self.model.stat().st_size

        def shrink_and_grow():
            os.truncate(self.model, size // 2)
            os.truncate(self.model, size)
        result = self.while_somebody(shrink_and_grow)
        self.assert_refused(result, 1, "model.safetensors")


if __name__ == "__main__":
    unittest.main()
