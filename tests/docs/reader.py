"""A reader in the checkout: a temporary folder with links to what stands there, in which a page's commands run in order."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["ONEHEAD_BIN"])
SOURCE = pathlib.Path(os.environ["ONEHEAD_SOURCE"])
EXCERPTS = SOURCE.parent / "shared" / "gpt2-small"  # of OpenAI's weights, as `gpt2/` in pages; not everywhere
SKIPPED = None


class Reader:
    """Use with `with`; `run` gives what a step printed, or SKIPPED."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="reader.")
        self.folder = pathlib.Path(self.temporary.name)
        self.python_so_far = ""
        self.link("build/release/bin", BIN)
        for name in ("CMakeLists.txt", "docs", "lessons", "src", "tests"):
            self.link(name, SOURCE / name)
        for entry in (SOURCE / "data").iterdir():
            if entry.name != "gpt2":  # a whole model that was downloaded would be the default
                self.link(f"data/{entry.name}", entry)
        if EXCERPTS.exists():
            self.link("gpt2", EXCERPTS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def link(self, name, target):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).symlink_to(target)

    def run(self, step):
        if "gpt2/" in step.text and not EXCERPTS.exists() or step.kind == "r" and shutil.which("Rscript") is None:
            return SKIPPED
        return {"python": self.python, "r": self.r}.get(step.kind, self.command)(step.text)

    def command(self, text):
        """Output and errors as a terminal shows them. Another exit code than 0 is named in the command's own comment."""
        wanted = int(text.split("# exit code ")[1]) if "# exit code " in text else 0
        return self.process(["bash", "-c", text], wanted, text)

    def python(self, code):
        """A page's Python is one session."""
        before = f"import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    exec({self.python_so_far!r})\n"
        self.python_so_far += code + "\n"
        return self.process([sys.executable, "-c", before + code], 0, code)

    def r(self, code):
        return self.process(["Rscript", "--vanilla", "-e", code], 0, code)

    def process(self, command, wanted, text):
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "ONEHEAD_MODEL": str(SOURCE / "data" / "gpt2-mini"),
                       "PATH": f"{BIN}:{os.environ['PATH']}"}
        done = subprocess.run(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=300, text=True, check=False)
        if done.returncode != wanted:
            raise RuntimeError(f"{text}\nexit code {done.returncode} instead of {wanted}\n{done.stdout}")
        return done.stdout
