"""docs/performance.md, from what measure.py found."""
import os
import platform
import subprocess

from timing import Spread, ratio, seconds

PAGE = """# How fast it is

<!-- measured by: tests/bench/run -->

Written by `tests/bench/run`, which makes a checkpoint of GPT-2 small's shape with random weights, runs this program and the
others in turn, and takes every ratio within one round: median (least to most). {machine}

numpy and PyTorch are Debian's; both and xtensor compute the same steps in float32 and are checked against this program's values
before they are timed. numpy writes with `np.savetxt("%.9g")`, xtensor with `xt::dump_csv` (6 digits). OpenBLAS 0.3.21 does not
know newer processors: left alone it takes its core "{core}" here, and with `OPENBLAS_CORETYPE=SkylakeX` "{newer_core}". This
program sums in double and gives the same bits on every machine; the others sum in float32 and do not.

Whole processes, from start to exit, files in the page cache, the output folder not there yet:

{whole}

Inside, against what bounds each part: the processor's multiply-adds where numbers are used again, the memory where they are not,
measured with Google Benchmark:

{inside}

Each further token is compared with all before it, so the work grows from n to n squared; from 64 tokens to 1024, without files:

{growth}

## Where the time goes

<!-- measured by: tests/bench/run -->

Stage by stage in one process, the best of several runs. Six tokens, gpt2-mini, block 0:

{stages_6}

The floor is a process that does nothing but start ({hello} ms here), and making 19 files. Of the vocabulary, vocab.json is read
and the 50,000 merges are indexed; no more than the tokens of the text are looked up.

Few tokens, but many weights: what it takes at least to start, to read the weights once, in pieces that stay in the cache, and to
multiply them at the peak of all threads:

{floor}

1024 tokens, GPT-2 small's shape, block 0, with all CSVs:

{stages_1024}

The floor is the text: 10 million numbers, of which each takes the time to find its shortest digits, and 108 MB that the system
copies into the page cache. How near the products come to what the processor can do is in the table of the parts.

{earlier}
"""
EARLIER = "## On another kind of processor\n"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def milliseconds(spread):
    return Spread(1000 * spread.median, 1000 * spread.least, 1000 * spread.most).text()


def verdict(measured, goal):
    return f"{goal:g}" if measured <= goal else f"{goal:g}, missed"


def at_least(measured, goal):
    return f"at least {goal:g} %" if measured >= goal else f"at least {goal:g} %, missed"


def whole_rows(m):
    def row(what, block, other, named, goal, limit):
        found = ratio(m[block]["onehead"], m[block][other])
        return [what, milliseconds(seconds(m[block]["onehead"])), f"{found.text()} x {named}", verdict(found.median, goal), limit]

    def of_torch(block):
        return Spread.of(ours.seconds / float(theirs.output) for ours, theirs in zip(m[block]["onehead"], m[block]["torch"]))

    torch = of_torch("layer 11, 1024")
    next_token = "onehead next, GPT-2 small's shape, 8 tokens"
    long, deep = "block 0, 1024 tokens, text and CSVs", "layer 11, 1024 tokens, text and CSVs"
    return [
        row("block 0 of gpt2-mini, 6 tokens, text and CSVs", "six", "hello", "a C++ hello world", 3, "starting, the vocabulary, 19 files"),
        row(long, "block 0", "numpy", "numpy", 0.16, "the numbers' shortest digits"),
        row(long, "block 0", "numpy, SkylakeX", "numpy, SkylakeX", 0.16, ""),
        row(long, "block 0", "xtensor", "xtensor", 0.10, ""),
        [long, "", f"peak {m['peak']:.0f} MB", verdict(m["peak"], 220), "the tensors themselves"],
        row("layer 11, 8 tokens, text and CSVs", "layer 11, 8", "numpy", "numpy", 0.5, "reading 320 MB"),
        row("layer 11, 8 tokens, text and CSVs", "layer 11, 8", "numpy, SkylakeX", "numpy, SkylakeX", 0.5, ""),
        row("layer 11, 8 tokens, text and CSVs", "layer 11, 8", "read", "reading those weights", 2.2, ""),
        row(deep, "layer 11, 1024", "numpy", "numpy", 0.38, "the products, in double"),
        row(deep, "layer 11, 1024", "numpy, SkylakeX", "numpy, SkylakeX", 0.38, ""),
        [deep, "", f"{torch.text()} x PyTorch's forward pass alone", verdict(torch.median, 1.1), ""],
        row(next_token, "next", "numpy", "numpy", 0.5, "reading 494 MB"),
        row(next_token, "next", "numpy, SkylakeX", "numpy, SkylakeX", 0.5, ""),
        row(next_token, "next", "read", "reading those weights", 2.5, ""),
        [next_token, "", f"{of_torch('next').text()} x PyTorch's forward pass alone, weights in memory", "", ""],
        [next_token, "", f"peak {m['next peak']:.0f} MB", verdict(m["next peak"], 150), "a layer's weights"],
        row("heads --worth, gpt2-mini, 20 tokens", "worth", "next", "`onehead next` on the same", 4, "every layer once for each head below it"),
    ]


def inside_rows(m):
    found = m["inside"]

    def nanoseconds(name):
        return 1e9 * found[name]["value"]

    def of(name, n, counter, limit):
        """Per cent of what bounds it."""
        return 100 * found[f"{name}/{n}"][counter] / found[limit][counter]

    csv = nanoseconds("csv_ours") / nanoseconds("csv_fprintf")
    weights = found["weights_of_block_0"]["real_time"] / found["whole_file"]["real_time"]
    return [
        ["the text of a number, one thread", f"{nanoseconds('csv_ours'):.0f} ns, {csv:.2f} x fprintf(\"%.9g\")", f"at most {verdict(csv, 0.25)}"],
        ["the attention weights of block 0, 9.4 of 548 MB",
         f"{found['weights_of_block_0']['real_time']:.2g} ms, {weights:.4f} x reading the file into memory", f"at most {verdict(weights, 0.01)}"],
        *[[f"product [{n}, 768] x [768, 2304], one thread", f"{found[f'product/{n}']['flop'] / 1e9:.0f} Gflop/s, "
           f"{of('product', n, 'flop', 'fma_peak'):.0f} % of the processor's peak in double",
           at_least(of("product", n, "flop", "fma_peak"), 65) if n == 1024 else ""] for n in (6, 64, 1024)],
        *[[f"product [{n}, 768] x [768, 2304], all threads, weights from memory",
           f"{found[f'product_from_memory/{n}']['bytes'] / 1e9:.0f} GB/s of weights, "
           f"{of('product_from_memory', n, 'bytes', 'read_memory'):.0f} % of only reading them",
           at_least(of("product_from_memory", n, "bytes", "read_memory"), 70) if n == 6 else ""] for n in (6, 8)],
        ["multiply-adds, all threads", f"{found['fma_peak_of_all']['flop'] / 1e9:.0f} Gflop/s, "
         f"{found['fma_peak_of_all']['flop'] / found['fma_peak']['flop']:.2f} x one thread", ""],
        ["the exponential", f"{nanoseconds('exponentials_ours'):.1f} ns", ""],
        ["the vocabulary, read and used on six tokens", f"{found['vocabulary']['real_time']:.2g} ms", ""],
    ]


def floor_rows(m):
    """The parts that nothing can do without, one after the other."""
    d_model, layers, vocab_size, tokens = 768, 12, 50257, 8
    attention, mlp = 4 * d_model * d_model, 8 * d_model * d_model
    products = {
        "layer 11, 8": ("layer 11, 8 tokens", 2 * tokens * (layers * attention + (layers - 1) * mlp)),
        "next": ("onehead next, 8 tokens", 2 * (tokens * (layers * attention + (layers - 1) * mlp) + mlp + vocab_size * d_model)),
    }
    start = seconds(m["six"]["hello"]).median
    rows = []
    for block, (what, count) in products.items():
        reading, ours = seconds(m[block]["read"]).median - start, seconds(m[block]["onehead"]).median
        multiplying = count / m["inside"]["fma_peak_of_all"]["flop"]
        least = start + reading + multiplying
        rows.append([what, *[f"{1000 * part:.1f}" for part in (start, reading, multiplying, least, ours)], f"{ours / least:.2f}"])
    return rows


def operations(n, d_model=768):
    """Products and sums of block 0's attention on n tokens."""
    return n * d_model * 4 * d_model + 2 * n * n * d_model


def growth_rows(m):
    base = min(m["growth"])
    return [[n, milliseconds(spread), f"{spread.median / m['growth'][base].median:.2f}", f"{operations(n) / operations(base):.1f}"]
            for n, spread in m["growth"].items()]


def core_name(environment):
    code = ("import ctypes; name = ctypes.CDLL('libopenblas.so.0').openblas_get_corename; "
            "name.restype = ctypes.c_char_p; print(name().decode())")
    return subprocess.run(["/usr/bin/python3", "-c", code], check=True, capture_output=True, text=True,
                          env={**os.environ, **environment}).stdout.strip()


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def machine():
    compiler = subprocess.run(["c++", "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    return f"Measured on {os.cpu_count()} processors ({processor()}), Linux {platform.release()}, {compiler}."


def earlier(before):
    """What the page said before of another kind of processor; if all of it is of another, its tables now are that."""
    here = f"({processor()})"
    measured = next((line for line in before.splitlines() if "Measured on" in line), here)
    if here in measured:
        return EARLIER + before.partition(EARLIER)[2].rstrip() if EARLIER in before else ""
    tables = [part for part in before.split("\n\n") if part.startswith(("| run |", "| part |"))]
    return "\n\n".join([EARLIER + "\n<!-- measured by: tests/bench/run -->", measured[measured.index("Measured on"):], *tables])


def page(m, before):
    stages_header = ["stage", "ms"]
    return PAGE.format(
        machine=machine(), core=core_name({}), newer_core=core_name({"OPENBLAS_CORETYPE": "SkylakeX"}),
        whole=table(["run", "ms", "measured", "goal, at most", "limited by"], whole_rows(m)),
        inside=table(["part", "measured", "goal"], inside_rows(m)),
        floor=table(["run", "starting, ms", "reading", "multiplying", "at least", "measured", "times the least"], floor_rows(m)),
        growth=table(["tokens", "ms", "times the first", "times its operations"], growth_rows(m)),
        stages_6=table(stages_header, m["stages of 6"]), stages_1024=table(stages_header, m["stages of 1024"]),
        earlier=earlier(before), hello=f"{1000 * seconds(m['six']['hello']).median:.1f}")
