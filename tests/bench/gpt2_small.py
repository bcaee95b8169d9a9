"""What the Python peers share: the tensors of a checkpoint, mapped, and the run that a trace of onehead's describes."""
import json
import os

import numpy as np


class Checkpoint:
    """Tensors by name, as numpy arrays over the mapped file: what is not touched is not read."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        path = os.path.join(folder, "model.safetensors")
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self.header = json.loads(file.read(length))
        self.data = np.memmap(path, "uint8", "r", offset=8 + length)

    def __getitem__(self, name):
        tensor = self.header[name]
        begin, end = tensor["data_offsets"]
        stored = self.data[begin:end].view({"F32": "float32", "F16": "float16"}[tensor["dtype"]])
        return stored.reshape(tensor["shape"]).astype("float32", copy=False)


def read_run(trace):
    """Token ids, layer and head of a trace."""
    with open(os.path.join(trace, "trace.json"), encoding="utf-8") as file:
        run = json.load(file)
    return run["token_ids"], run["layer"], run["head"]
