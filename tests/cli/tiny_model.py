"""A checkpoint, an excerpt and arrays of a few kilobytes, as bytes that a test may damage: width 4, two heads, two layers,
at most 8 positions, a vocabulary of the 256 bytes, two merges and one more token."""
import json
import math
import struct

WORDS = ["th", "the", "<|end|>"]


def byte_alphabet():
    """GPT-2's character for each byte, in the order of its vocabulary."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte) for byte in visible] + [chr(256 + n) for n in range(len(hidden))]


def floats(*shape, first=0):
    values = [first + place / 8 for place in range(math.prod(shape))]
    return "F32", list(shape), struct.pack(f"<{len(values)}f", *values)


def varied(*shape, seed=0, middle=0):
    """Numbers about `middle` without a pattern, exact in float16. Rows that only count up are all the same after LayerNorm, and a
    test on them sees no mistake in q, k or the scaling."""
    values = [middle + ((place * place * 7 + place * 13 + seed * 29) % 61 - 30) / 16 for place in range(math.prod(shape))]
    return "F32", list(shape), struct.pack(f"<{len(values)}f", *values)


def with_length(header, data=b""):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def safetensors(tensors, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    return with_length(header, data)


def block(layer):
    sizes = {"ln_1.weight": [4], "ln_1.bias": [4], "attn.c_attn.weight": [4, 12], "attn.c_attn.bias": [12], "attn.c_proj.weight": [4, 4],
             "attn.c_proj.bias": [4], "ln_2.weight": [4], "ln_2.bias": [4], "mlp.c_fc.weight": [4, 16], "mlp.c_fc.bias": [16],
             "mlp.c_proj.weight": [16, 4], "mlp.c_proj.bias": [4]}
    return {f"h.{layer}.{name}": varied(*shape, seed=20 * layer + n + 3, middle=1 if name.startswith("ln") and name.endswith("weight") else 0)
            for n, (name, shape) in enumerate(sizes.items())}


def tensors():
    return {"wte.weight": varied(256 + len(WORDS), 4, seed=1), "wpe.weight": varied(8, 4, seed=2), **block(0), **block(1)}


def config():
    return {"model_type": "gpt2", "n_embd": 4, "n_head": 2, "n_layer": 2, "n_positions": 8, "vocab_size": 256 + len(WORDS)}


def vocabulary():
    return {word: number for number, word in enumerate(byte_alphabet() + WORDS)}


def checkpoint():
    """The files of a checkpoint by name."""
    return {"config.json": json.dumps(config()).encode(), "model.safetensors": safetensors(tensors()),
            "merges.txt": b"#version: 0.2\nt h\nth e\n", "vocab.json": json.dumps(vocabulary()).encode()}


def excerpt_tensors():
    return {"wte.rows": varied(2, 4, seed=1), "wte.row_ids": ("I64", [2], struct.pack("<2q", 3, 7)), "wpe.weight": varied(5, 4, seed=2), **block(0)}


def excerpt_metadata():
    return {"model": "tiny", "n_head": "2", "layer_norm_epsilon": "1e-5", "text": "$($", "token_ids": "[3, 7, 3]", "residual": "exact"}


def write_tiny(folder):
    """The checkpoint as a folder; returns it."""
    folder.mkdir()
    for name, content in checkpoint().items():
        (folder / name).write_bytes(content)
    return folder
