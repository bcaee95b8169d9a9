"""A checkpoint in GPT-2 small's shape and of its size, with random weights: make_weights.py FOLDER VOCABULARY.

The vocabulary is linked from another checkpoint. Seeded, so that every run computes with the same numbers.
"""
import json
import os
import sys

import numpy as np

D_MODEL, N_HEAD, N_LAYER, N_CTX, VOCABULARY = 768, 12, 12, 1024, 50257


def shapes():
    """Names and shapes as in Hugging Face's file, with the causal masks that it holds beside the weights."""
    yield "wte.weight", (VOCABULARY, D_MODEL)
    yield "wpe.weight", (N_CTX, D_MODEL)
    for layer in range(N_LAYER):
        for name, shape in {
            "ln_1.weight": (D_MODEL,),
            "ln_1.bias": (D_MODEL,),
            "attn.bias": (1, 1, N_CTX, N_CTX),
            "attn.c_attn.weight": (D_MODEL, 3 * D_MODEL),
            "attn.c_attn.bias": (3 * D_MODEL,),
            "attn.c_proj.weight": (D_MODEL, D_MODEL),
            "attn.c_proj.bias": (D_MODEL,),
            "ln_2.weight": (D_MODEL,),
            "ln_2.bias": (D_MODEL,),
            "mlp.c_fc.weight": (D_MODEL, 4 * D_MODEL),
            "mlp.c_fc.bias": (4 * D_MODEL,),
            "mlp.c_proj.weight": (4 * D_MODEL, D_MODEL),
            "mlp.c_proj.bias": (D_MODEL,),
        }.items():
            yield f"h.{layer}.{name}", shape
    yield "ln_f.weight", (D_MODEL,)
    yield "ln_f.bias", (D_MODEL,)


def values(random, name, shape):
    """Spread as in a fresh GPT-2, the queries and keys wider, so that the attention is not flat."""
    if name.endswith(".attn.bias"):
        return np.tril(np.ones(shape, "float32"))
    drawn = random.standard_normal(shape, dtype="float32") * np.float32(0.02)
    if name.endswith(".c_attn.weight"):
        drawn[:, : 2 * D_MODEL] *= 4
    return 1 + drawn if "ln_" in name and name.endswith("weight") else drawn


def write_weights(path):
    header, end = {}, 0
    for name, shape in shapes():
        begin, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(1)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes():
            file.write(values(random, name, shape).tobytes())


def main(folder, vocabulary):
    os.makedirs(folder, exist_ok=True)
    config = {"model_type": "gpt2", "n_embd": D_MODEL, "n_head": N_HEAD, "n_layer": N_LAYER, "n_positions": N_CTX,
              "vocab_size": VOCABULARY, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    for name in ("vocab.json", "merges.txt"):
        link = os.path.join(folder, name)
        if not os.path.lexists(link):
            os.symlink(os.path.abspath(os.path.join(vocabulary, name)), link)
    write_weights(os.path.join(folder, "model.safetensors.part"))
    os.replace(os.path.join(folder, "model.safetensors.part"), os.path.join(folder, "model.safetensors"))


if __name__ == "__main__":
    main(*sys.argv[1:])
