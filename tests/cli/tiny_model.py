"""A checkpoint, an excerpt and arrays of a few kilobytes, as bytes that a test may damage: width 4, two heads, two layers,
at most 8 positions, a vocabulary of the 256 bytes, two merges and one more token."""
import json
import struct

WORDS = ["th", "the", "<|end|>"]


def byte_alphabet():
    """GPT-2's character for each byte, in the order of its vocabulary."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte) for byte in visible] + [chr(256 + n) for n in range(len(hidden))]


def floats(*shape, first=0):
    count = 1
    for size in shape:
        count *= size
    values = [first + place / 8 for place in range(count)]
    return "F32", list(shape), struct.pack(f"<{count}f", *values)


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
    h = f"h.{layer}."
    return {h + "ln_1.weight": floats(4, first=1), h + "ln_1.bias": floats(4), h + "attn.c_attn.weight": floats(4, 12, first=-3),
            h + "attn.c_attn.bias": floats(12), h + "attn.c_proj.weight": floats(4, 4), h + "attn.c_proj.bias": floats(4),
            h + "ln_2.weight": floats(4), h + "ln_2.bias": floats(4), h + "mlp.c_fc.weight": floats(4, 16, first=-2),
            h + "mlp.c_fc.bias": floats(16), h + "mlp.c_proj.weight": floats(16, 4), h + "mlp.c_proj.bias": floats(4)}


def tensors():
    return {"wte.weight": floats(256 + len(WORDS), 4), "wpe.weight": floats(8, 4), **block(0), **block(1)}


def config():
    return {"model_type": "gpt2", "n_embd": 4, "n_head": 2, "n_layer": 2, "n_positions": 8, "vocab_size": 256 + len(WORDS)}


def vocabulary():
    return {word: number for number, word in enumerate(byte_alphabet() + WORDS)}


def checkpoint():
    """The files of a checkpoint by name."""
    return {"config.json": json.dumps(config()).encode(), "model.safetensors": safetensors(tensors()),
            "merges.txt": b"#version: 0.2\nt h\nth e\n", "vocab.json": json.dumps(vocabulary()).encode()}


def excerpt_tensors():
    return {"wte.rows": floats(2, 4), "wte.row_ids": ("I64", [2], struct.pack("<2q", 3, 7)), "wpe.weight": floats(5, 4), **block(0)}


def excerpt_metadata():
    return {"model": "tiny", "n_head": "2", "layer_norm_epsilon": "1e-5", "text": "$($", "token_ids": "[3, 7, 3]", "residual": "exact"}
