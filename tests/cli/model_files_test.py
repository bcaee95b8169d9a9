"""Models as people have them: tied weights, added tokens, a tokenizer in one file, float64, names of wrappers; and what the
program says of a text that is not cut as its reader believes. Right values come from numpy's own arithmetic below."""
import csv
import json
import math
import os
import struct
import unittest

import numpy
import tiny_model
from programs import BIN, MINI, ProgramTest, onehead, run

IDS = [256, 3, 257, 3, 84]


def array(tensor):
    dtype, shape, data = tensor
    return numpy.frombuffer(data, {"F32": "<f4", "F64": "<f8"}[dtype]).reshape(shape).astype(numpy.float64)


class Tiny:
    """The tiny model in float64, written down once more from GPT-2's definition."""

    def __init__(self, tensors=None):
        self.weights = {name: array(tensor) for name, tensor in (tensors or tiny_model.tensors()).items()}

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        return centred / numpy.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def pattern(self, x, layer, head):
        qkv = self.norm(x, f"h.{layer}.ln_1") @ self.weights[f"h.{layer}.attn.c_attn.weight"] + self.weights[f"h.{layer}.attn.c_attn.bias"]
        q, k, v = (qkv[:, part + 2 * head: part + 2 * head + 2] for part in (0, 4, 8))
        scores = numpy.where(numpy.tri(len(x)) > 0, q @ k.T / math.sqrt(2), -numpy.inf)
        powers = numpy.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True), v

    def after(self, x, layer):
        blends = [numpy.matmul(*self.pattern(x, layer, head)) for head in (0, 1)]
        x = x + numpy.hstack(blends) @ self.weights[f"h.{layer}.attn.c_proj.weight"] + self.weights[f"h.{layer}.attn.c_proj.bias"]
        u = self.norm(x, f"h.{layer}.ln_2") @ self.weights[f"h.{layer}.mlp.c_fc.weight"] + self.weights[f"h.{layer}.mlp.c_fc.bias"]
        gelu = 0.5 * u * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)))
        return x + gelu @ self.weights[f"h.{layer}.mlp.c_proj.weight"] + self.weights[f"h.{layer}.mlp.c_proj.bias"]

    def softmax(self, ids, layer, head):
        x = self.weights["wte.weight"][ids] + self.weights["wpe.weight"][:len(ids)]
        for below in range(layer):
            x = self.after(x, below)
        return self.pattern(x, layer, head)[0]


class ModelTest(ProgramTest):
    def write_model(self, **files):
        """The tiny checkpoint with other files: json for .json, or left out for None; _ stands for the dot."""
        model = self.folder / "model"
        model.mkdir(exist_ok=True)
        for name, content in (tiny_model.checkpoint() | {name.replace("__", "."): content for name, content in files.items()}).items():
            (model / name).unlink(missing_ok=True)
            if content is not None:
                (model / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return model

    def trace_of(self, model, *arguments, note=""):
        out = self.folder / "out"
        result = onehead("trace", "--model", model, "--out", out, "--quiet", *arguments)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertIn(note, result.stderr)
        if not note:
            self.assertEqual(result.stderr, "")
        return out

    def rows(self, out, step):
        with (out / f"{step}.csv").open(newline="") as file:
            return numpy.array([[float(cell) for cell in row[3:]] for row in list(csv.reader(file))[1:]])

    def labels(self, out):
        with (out / "tokens.csv").open(newline="") as file:
            return [row["token"] for row in csv.DictReader(file)]

    def ids(self, out):
        return json.loads((out / "trace.json").read_text())["token_ids"]

    def assert_close(self, found, expected):
        self.assertLess(numpy.abs(found - expected).max(), 5e-6)

    def assert_right(self, out, tensors=None, ids=IDS, layer=0, head=0):
        self.assert_close(self.rows(out, "11_softmax"), Tiny(tensors).softmax(ids, layer, head))


class Weights(ModelTest):
    tokens = ["--tokens", ",".join(map(str, IDS))]

    def with_tensors(self, tensors, **files):
        return self.write_model(model__safetensors=tiny_model.safetensors(tensors), **files)

    def test_every_head_against_numpy(self):
        model = self.write_model()
        for layer in (0, 1):
            for head in (0, 1):
                out = self.trace_of(model, *self.tokens, "--layer", layer, "--head", head)
                self.assert_right(out, layer=layer, head=head)
                rows = self.rows(out, "11_softmax")
                self.assertGreater(numpy.abs(rows - numpy.tri(5) / numpy.arange(1, 6)[:, None]).max(), 0.05)  # no row reads all alike

    def test_tied_weights_under_the_other_name(self):
        tensors = tiny_model.tensors()
        tensors["lm_head.weight"] = tensors.pop("wte.weight")
        file = tiny_model.safetensors({"transformer." + name if name != "lm_head.weight" else name: tensor for name, tensor in tensors.items()},
                                      {"format": "pt", "transformer.wte.weight": "lm_head.weight"})
        self.assert_right(self.trace_of(self.write_model(model__safetensors=file), *self.tokens))

    def test_float64_is_rounded_once(self):
        tensors = {name: ("F64", shape, struct.pack(f"<{len(data) // 4}d", *(value * (1 + 2**-40) for value in struct.unpack(f"<{len(data) // 4}f", data))))
                   for name, (_, shape, data) in tiny_model.tensors().items()}
        out = self.trace_of(self.with_tensors(tensors), *self.tokens)
        wide = (out / "11_softmax.csv").read_bytes()
        self.assertEqual(wide, (self.trace_of(self.write_model(), *self.tokens) / "11_softmax.csv").read_bytes())  # 2^-40 is lost in float32

    def test_a_tensor_that_nobody_reads(self):
        for dtype, data in (("F8_E5M2FNUZ", b"x" * 8), ("F4", b"x" * 4), ("F6_E2M3", b"x" * 6)):
            model = self.with_tensors(tiny_model.tensors() | {"h.0.attn.scale": (dtype, [8], data)})
            self.assert_right(self.trace_of(model, *self.tokens))
        model = self.with_tensors(tiny_model.tensors() | {"h.0.ln_1.bias": ("F8_E5M2FNUZ", [4], b"xxxx")})
        self.assert_refused(onehead("trace", "--model", model, *self.tokens), 1, "h.0.ln_1.bias", "F8_E5M2FNUZ", "convert it")

    def test_names_of_wrappers(self):
        for prefix, advice in (("_orig_mod.transformer.", "model._orig_mod"), ("module.transformer.", "model.module"), ("gpt2.", '"gpt2."'),
                               ("module.", "model.module"), ("_orig_mod.", "model._orig_mod")):
            model = self.with_tensors({prefix + name: tensor for name, tensor in tiny_model.tensors().items()})
            self.assert_refused(onehead("trace", "--model", model, *self.tokens), 1, prefix + "wte.weight", advice)
        tensors = {"module." + name: tensor for name, tensor in tiny_model.tensors().items()}
        tensors["module.lm_head.weight"] = tensors.pop("module.wte.weight")
        self.assert_refused(onehead("trace", "--model", self.with_tensors(tensors), *self.tokens), 1, "module.lm_head.weight", "model.module")

    def test_no_biases(self):
        for name in ("ln_1.bias", "attn.c_attn.bias", "attn.c_proj.bias"):
            tensors = tiny_model.tensors()
            del tensors["h.0." + name]
            self.assert_refused(onehead("trace", "--model", self.with_tensors(tensors), *self.tokens), 1,
                                f"h.0.{name}", "missing", "h.0." + name.replace("bias", "weight"), "zeros")

    def test_activations(self):
        same = ("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate")
        for name in (*same, "gelu", "relu"):
            model = self.write_model(config__json=tiny_model.config() | {"activation_function": name})
            self.assert_right(self.trace_of(model, *self.tokens))
            if name in same:
                self.assert_right(self.trace_of(model, *self.tokens, "--layer", 1), layer=1)
            else:
                for command in (["trace", "--layer", "1"], ["heads"], ["excerpt", "--layer", "1", "--out", self.folder / "e.safetensors"]):
                    self.assert_refused(onehead(*command, "--model", model, *self.tokens), 1, "config.json", "activation_function", f'"{name}"', "layer 0")

    def test_an_excerpt_of_rows_that_are_not_finite(self):
        tensors = tiny_model.tensors()
        tensors["h.0.attn.c_proj.weight"] = "F32", [4, 4], struct.pack("<16f", *[3e38] * 16)
        out = self.folder / "e.safetensors"
        result = onehead("excerpt", "--model", self.with_tensors(tensors), *self.tokens, "--layer", "1", "--out", out)
        self.assert_refused(result, 1, "03_residual", "row 0, column 0")
        self.assertFalse(out.exists())



class OneHead(ModelTest):
    """A layer of one head, and a row of one number: what is "the others" to other models is nobody here."""
    steps = ["token_embedding", "position_embedding", "residual", "normalized", "q", "k", "v", "scores", "scaled_scores", "masked_scores", "softmax",
             "blend", "output_projection", "other_heads", "projection_bias", "residual_after"]

    def one_head(self):
        return self.write_model(config__json=tiny_model.config() | {"n_head": 1})

    def test_every_step_is_worked_out(self):
        model = self.one_head()
        for layer in (0, 1):
            for step in self.steps[2 * layer:]:
                row = 0 if step == "projection_bias" else 2
                result = onehead("worked", step, row, 1, "--model", model, "--layer", layer, *Weights.tokens)
                self.assertEqual((result.returncode, result.stderr), (0, ""), step)
                self.assertIn("the same, to the last bit", result.stdout, step)
        self.assertIn("In the trace: 0, the same", onehead("worked", "other_heads", 1, 2, "--model", model, *Weights.tokens).stdout)

    def test_no_word_of_other_heads(self):
        model = self.one_head()
        pages = [(self.trace_of(model, *Weights.tokens, "--format", "text") / "trace.txt").read_text(encoding="utf-8")]
        for lesson in sorted(path.name for path in BIN.iterdir() if path.name[0].isdigit()):
            result = run(lesson, "--model", model, *Weights.tokens, "--out", self.folder / "traces")
            self.assertEqual((result.returncode, result.stderr), (0, ""), lesson)
            pages.append(result.stdout)
        self.assertEqual(len(pages), 1 + 7)
        for page in pages:
            words = " ".join(page.split())
            for wrong in ("other 0 heads", "1 heads", "The other head ", "others one of", "together with the output"):
                self.assertNotIn(wrong, words)

    def test_a_row_of_one_number(self):
        sizes = {"wte.weight": [259, 1], "wpe.weight": [8, 1], **{f"h.{layer}.{name}": shape for layer in (0, 1) for name, shape in
                 {"ln_1.weight": [1], "ln_1.bias": [1], "attn.c_attn.weight": [1, 3], "attn.c_attn.bias": [3], "attn.c_proj.weight": [1, 1],
                  "attn.c_proj.bias": [1], "ln_2.weight": [1], "ln_2.bias": [1], "mlp.c_fc.weight": [1, 4], "mlp.c_fc.bias": [4],
                  "mlp.c_proj.weight": [4, 1], "mlp.c_proj.bias": [1]}.items()}}
        tensors = {name: tiny_model.varied(*shape, seed=n) for n, (name, shape) in enumerate(sizes.items())}
        model = self.write_model(model__safetensors=tiny_model.safetensors(tensors), config__json=tiny_model.config() | {"n_embd": 1, "n_head": 1})
        self.assertEqual(self.rows(self.trace_of(model, *Weights.tokens), "05_q").shape, (5, 1))
        result = onehead("trace", "--model", model, *Weights.tokens, "--experiment", "unbiased-variance")
        self.assert_refused(result, 2, "--experiment: unbiased-variance", "divided by 0")
        self.assertNotIn("damaged", result.stderr)


class Vocabularies(ModelTest):
    def test_an_added_token(self):
        """The config and wte have a row more than vocab.json."""
        tensors = tiny_model.tensors() | {"wte.weight": tiny_model.varied(260, 4, seed=1)}
        files = {"config__json": tiny_model.config() | {"vocab_size": 260}, "model__safetensors": tiny_model.safetensors(tensors)}
        out = self.trace_of(self.write_model(**files), "--tokens", "259,84")
        row_259 = struct.unpack("<4f", tensors["wte.weight"][2][259 * 16:])
        self.assertEqual(list(self.rows(out, "01_token_embedding")[0]), list(row_259))
        self.assertEqual(self.labels(out), [r"'\#259'", "'u'"])
        self.assert_right(out, tensors, [259, 84])
        out = self.trace_of(self.write_model(**files, added_tokens__json={"<pad>": 259}), "--tokens", "259,84")
        self.assertEqual(self.labels(out), ["'<pad>'", "'u'"])
        self.assert_refused(onehead("trace", "--model", self.folder / "model", "--tokens", "260"), 2, "from 0 to 259", "260")

    def test_tokenizer_json(self):
        whole = {"model": {"type": "BPE", "vocab": tiny_model.vocabulary(), "merges": None}, "normalizer": None, "added_tokens": [],
                 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}}
        for merges in (["t h", "th e"], [["t", "h"], ["th", "e"]]):
            whole["model"]["merges"] = merges
            model = self.write_model(merges__txt=None, vocab__json=None, tokenizer__json=whole)
            out = self.trace_of(model, "--text", "the$th")
            self.assertEqual((self.ids(out), self.labels(out)), ([257, 3, 256], ["'the'", "'$'", "'th'"]))
            self.assert_right(out, ids=[257, 3, 256])
        whole["model"]["type"] = "Unigram"
        model = self.write_model(merges__txt=None, vocab__json=None, tokenizer__json=whole)
        self.assert_refused(onehead("trace", "--model", model, "--text", "the"), 1, "tokenizer.json", "byte-level BPE", "token ids")
        out = self.trace_of(model, "--tokens", "257,3", note="tokenizer.json")
        self.assertEqual(self.labels(out), [r"'\#257'", r"'\#3'"])
        self.assert_right(out, ids=[257, 3])

    def test_no_vocabulary(self):
        model = self.write_model(merges__txt=None, vocab__json=None)
        out = self.trace_of(model, "--tokens", "257,3", note="vocab.json and merges.txt, or tokenizer.json")
        self.assertEqual(self.labels(out), [r"'\#257'", r"'\#3'"])
        self.assert_right(out, ids=[257, 3])
        self.assertEqual(onehead("compare", out, out).returncode, 0)
        self.assert_refused(onehead("trace", "--model", model, "--text", "the"), 1, "vocab.json and merges.txt, or tokenizer.json")
        model = self.write_model(vocab__json=b"{damaged")
        self.assert_right(self.trace_of(model, "--tokens", "257,3", note="vocab.json"), ids=[257, 3])

    def test_a_vocabulary_learned_from_little_text(self):
        few = {token: id for id, token in enumerate(["<|end|>", "a", "e", "h", "t", "\u0120", "th", "the"])}
        model = self.write_model(vocab__json=few)
        out = self.trace_of(model, "--text", "the hat")
        self.assertEqual((self.ids(out), self.labels(out)), ([7, 5, 3, 1, 4], ["'the'", "' '", "'h'", "'a'", "'t'"]))
        self.assert_right(out, ids=[7, 5, 3, 1, 4])
        self.assert_refused(onehead("trace", "--model", model, "--text", "the cat"), 2, "'c'")

    def test_two_tokens_with_the_same_bytes(self):
        model = self.write_model(added_tokens__json={"the": 258}, vocab__json={k: v for k, v in tiny_model.vocabulary().items() if v < 258})
        out = self.trace_of(model, "--tokens", "257,258,3")
        self.assertEqual(self.labels(out), [r"'the\#257'", r"'the\#258'", "'$'"])
        self.assertEqual(onehead("compare", out, out).returncode, 0)

    def test_an_excerpt_carries_its_tokens(self):
        """One of a model with a vocabulary of its own: its trace is that of the model, and so is that of its own excerpt."""
        model = self.write_model()
        for layer in (0, 1):
            part, again = self.folder / f"{layer}.safetensors", self.folder / f"{layer}-again.safetensors"
            self.assertEqual(onehead("excerpt", "--model", model, "--text", "the th$", "--layer", layer, "--out", part).returncode, 0)
            whole = self.trace_of(model, "--text", "the th$", "--layer", layer)
            expected = {name: (whole / name).read_bytes() for name in ("tokens.csv", "11_softmax.csv", "16_residual_after.csv")}
            self.assertEqual(onehead("excerpt", "--model", part, "--layer", layer, "--out", again).returncode, 0)
            for file in (part, again):
                out = self.trace_of(file, "--layer", layer)
                self.assertEqual({name: (out / name).read_bytes() for name in expected}, expected)
                self.assertEqual(json.loads((out / "trace.json").read_text())["text"], "the th$")
            length, = struct.unpack("<Q", part.read_bytes()[:8])
            metadata = json.loads(part.read_bytes()[8:8 + length])["__metadata__"]
            self.assertEqual(json.loads(metadata["token_bytes"]), ["746865", "20", "7468", "24"])
            self.assert_refused(onehead("trace", "--model", part, "--text", "the$"), 2, '"the th$"', "token ids")

    def test_an_excerpt_with_an_added_token(self):
        tensors = tiny_model.tensors() | {"wte.weight": tiny_model.varied(60_000, 4, seed=1)}
        model = self.write_model(config__json=tiny_model.config() | {"vocab_size": 60_000}, model__safetensors=tiny_model.safetensors(tensors))
        for layer in (0, 1):
            part = self.folder / "e.safetensors"
            result = onehead("excerpt", "--model", model, "--tokens", "59999,3", "--layer", layer, "--out", part)
            self.assertEqual(result.returncode, 0, result.stderr)
            out = self.trace_of(part, "--layer", layer)
            self.assert_right(out, tensors, [59999, 3], layer)
            self.assertEqual(self.labels(out), [r"'\#59999'", "'$'"])

    def test_an_excerpt_whose_text_is_not_utf8(self):
        part = self.folder / "half.safetensors"
        self.assertEqual(onehead("excerpt", "--model", MINI, "--tokens", "47249", "--out", part).returncode, 0)
        self.assertEqual(self.labels(self.trace_of(part)), [r"'\xF0\x9F\x98'"])


class Texts(ModelTest):
    def tokens(self, text, note, *arguments):
        file = self.folder / "text.txt"
        file.write_bytes(text)
        out = self.trace_of(MINI, "--text-file", file, *arguments, note=note)
        return self.ids(out)

    def test_the_final_newline_is_the_files(self):
        cat = [464, 3797]
        for text, ids in ((b"The cat", cat), (b"The cat\n", cat), (b"The cat\r\n", cat), (b"The cat\n\n", cat + [198]), (b"\nThe cat", [198] + cat),
                          (b"The cat\r", cat + [201]), (b"The cat\n\r\n", cat + [198])):
            self.assertEqual(self.tokens(text, ""), ids)

    def test_a_byte_order_mark(self):
        ids = self.tokens(b"\xef\xbb\xbfThe cat", "--tokens 464,3797\n")
        self.assertEqual(ids[-2:], [464, 3797])
        self.assertGreater(len(ids), 2)

    def test_the_special_token(self):
        ids = self.tokens(b"<|endoftext|>The cat", "--tokens 50256,464,3797\n")
        self.assertEqual(ids, [27, 91, 437, 1659, 5239, 91, 29, 464, 3797])
        self.assertIn("--tokens 464,50256,3797,50256\n", onehead("trace", "--model", MINI, "--text", "The<|endoftext|> cat<|endoftext|>").stderr)
        self.assertIn("--tokens 50256\n", onehead("tokens", "--model", MINI, "<|endoftext|>").stderr)
        self.assertEqual(self.ids(self.trace_of(MINI, "--tokens", "50256,464,3797")), [50256, 464, 3797])

    def test_a_space_that_the_models_own_tokenizer_adds(self):
        for name in MINI.iterdir():
            os.symlink(name, self.folder / name.name)
        (self.folder / "tokenizer_config.json").write_text('{"add_prefix_space": true}')
        out = self.trace_of(self.folder, "--text", "cat sat", note="add_prefix_space")
        self.assertEqual(self.ids(out), [9246, 3332])
        self.assertIn("--tokens 3797,3332\n", onehead("trace", "--model", self.folder, "--text", "cat sat").stderr)
        self.assertEqual(self.ids(self.trace_of(self.folder, "--text", " cat sat")), [3797, 3332])

    def test_causality_keeps_the_ids_that_it_was_given(self):
        """A special token, and tokens that a text of the same bytes is not cut into."""
        for given, change in (("50256,464,3797,3332,319", ["--change", "2=dog"]), ("34,265,3797", ["--change", "2=dog"]),
                              ("50256,464,3797", ["--append", "sat"]), ("47249,222,3797", ["--change", "0=dog"])):
            result = onehead("causality", "--model", MINI, "--tokens", given, *change)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("BROKEN", result.stdout)
        before = self.rows(self.trace_of(MINI, "--tokens", "50256,464,3797,3332,319"), "11_softmax")
        after = self.rows(self.trace_of(MINI, "--tokens", "50256,464,3290,3332,319"), "11_softmax")
        numpy.testing.assert_array_equal(before[:2], after[:2])
        self.assert_refused(onehead("causality", "--model", MINI, "--tokens", "464,3797", "--change", "2=dog"), 2, "position", "0 to 1")


class WhichModel(ModelTest):
    def test_the_variable_is_named_in_its_own_error(self):
        result = onehead("trace", env=os.environ | {"ONEHEAD_MODEL": "/no/such/model"})
        self.assert_refused(result, 1, "$ONEHEAD_MODEL", "/no/such/model", "No such file")
        result = onehead("trace", env=os.environ | {"ONEHEAD_MODEL": ""})
        self.assertIn("gpt2-mini", result.stdout)

    def test_a_folder_of_data_by_its_name(self):
        result = onehead("trace", "--model", "gpt2-mini", cwd=self.folder, env=os.environ | {"ONEHEAD_MODEL": "/no/such/model"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.write_model().rename(self.folder / "gpt2-mini")
        result = onehead("trace", "--model", "gpt2-mini", "--tokens", "3,4", cwd=self.folder)
        self.assertIn("'%'", result.stdout)  # a folder that is here comes first


if __name__ == "__main__":
    unittest.main()
