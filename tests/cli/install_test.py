"""What comes out of the build tree: an installed tree, a project outside that uses its library, and a Debian package that
runs in a folder where there is nothing else."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from programs import BIN, SOURCE

BUILD = BIN.parent
CACHE = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
# The scores of the three rows, and what follows, are worked out in tests/unit/head_test.cpp.
EXPECTED = {"scores": [1, 0, 1, 0, 2, 1, 1, 2, 2], "softmax": [1, 0, 0, .1955703, .8044297, 0, .1977758, .4011121, .4011121],
            "blend": [1, 0, .1955703, .8044297, 1, 1.2033362]}


def call(*command, **options):
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.returncode}\n{result.stdout}")
    return result.stdout


def without(*variables):
    return {name: value for name, value in os.environ.items() if name not in variables}


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        call("cmake", "--install", BUILD, "--prefix", cls.prefix)

    def test_the_tree(self):
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*")}
        for name in ("bin/onehead", "libexec/onehead/6_one_head", "include/onehead/attention/head.hpp", "include/onehead/error.hpp",
                     "share/onehead/LICENSE-gpt2", "share/onehead/gpt2-mini/model.safetensors", "share/onehead/texts/fox.txt",
                     "share/doc/onehead/README.md", "share/man/man1/onehead.1.gz"):
            self.assertIn(name, files)
        self.assertFalse([name for name in files if "/cli" in name or name.endswith(".py")])

    def test_the_headers_need_xtensor_and_nothing_else_of_ours(self):
        headers = sorted(path.relative_to(self.prefix / "include") for path in (self.prefix / "include").rglob("*.hpp"))
        self.assertGreater(len(headers), 12)
        for header in headers:
            self.assertNotRegex((self.prefix / "include" / header).read_text(), "#include <(fmt|nlohmann)/", header)
        unit = self.folder / "all_headers.cpp"
        unit.write_text("".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n")
        call(CACHE["CMAKE_CXX_COMPILER"], "-std=c++20", "-fsyntax-only", "-I", self.prefix / "include", unit)

    def test_programs_find_their_data_wherever_they_lie(self):
        moved = self.folder / "moved"
        shutil.copytree(self.prefix, moved)
        for program in ("bin/onehead", "libexec/onehead/1_query_key_value"):
            command = [moved / program] + (["trace"] if program == "bin/onehead" else [])
            self.assertIn("gpt2-mini", call(*command, cwd=self.folder, env=without("ONEHEAD_MODEL")))
        (moved / "share/onehead/gpt2-mini/config.json").unlink()
        result = subprocess.run([moved / "bin/onehead", "trace"], capture_output=True, text=True, env=without("ONEHEAD_MODEL"), check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(str(moved / "share/onehead/gpt2-mini/config.json"), result.stderr)  # and not the source tree's

    def test_a_project_outside(self):
        build = self.folder / "outside"
        flags = {"CMAKE_PREFIX_PATH": self.prefix, "CMAKE_CXX_COMPILER": CACHE["CMAKE_CXX_COMPILER"]}
        if CACHE["ONEHEAD_SANITIZE"] not in ("", "OFF"):
            flags["CMAKE_CXX_FLAGS"] = "-fsanitize=address,undefined"
        call("cmake", "-S", SOURCE / "tests/outside", "-B", build, *(f"-D{name}={value}" for name, value in flags.items()))
        call("cmake", "--build", build)
        steps = {name: list(map(float, values)) for name, *values in map(str.split, call(build / "outside").splitlines())}
        for name, values in EXPECTED.items():
            self.assertEqual(len(steps[name]), len(values))
            for found, expected in zip(steps[name], values):
                self.assertAlmostEqual(found, expected, delta=1e-7)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("dpkg-shlibdeps"), "SKIPPED: needs root and dpkg-dev")
    def test_the_debian_package_runs_where_there_is_nothing_else(self):
        call("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "package")
        package, = (self.folder / "package").glob("onehead_*.deb")
        root = self.folder / "root"
        call("dpkg-deb", "--extract", package, root)
        ldd = subprocess.run(["ldd", root / "usr/bin/onehead"], capture_output=True, text=True, check=False)  # fails for a static one
        for library in re.findall(r"(/\S+) \(0x", ldd.stdout):
            (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, root / library[1:])
        (root / "proc").mkdir()
        inside = 'mount --bind /proc "$0/proc" && exec chroot "$0" /usr/bin/onehead trace --out /cat'
        self.assertIn("gpt2-mini", call("unshare", "--mount", "sh", "-c", inside, root, env=without("ONEHEAD_MODEL")))
        self.assertTrue((root / "cat/11_softmax.csv").exists())


if __name__ == "__main__":
    unittest.main()
