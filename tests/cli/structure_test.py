"""Which module may include which: the includes of src/ run one way, and nothing in src/ knows a lesson."""
import re
import unittest

from programs import SOURCE

LIBRARY = SOURCE / "src" / "onehead"

MAY_INCLUDE = {
    "math": {"math"},
    "io": {"math", "io"},
    "trace": {"math", "io", "trace"},
    "attention": {"math", "trace", "attention"},
    "model": {"math", "io", "trace", "attention", "model"},
    "study": {"math", "io", "trace", "attention", "model", "study"},
    "pages": {"math", "io", "trace", "attention", "study", "pages"},
}


def included(path):
    return re.findall(r'#include "onehead/((?:(\w+)/)?[^"]+)"', path.read_text())


class Structure(unittest.TestCase):
    def test_every_module_is_known(self):
        self.assertEqual({entry.name for entry in LIBRARY.iterdir() if entry.is_dir()}, set(MAY_INCLUDE))

    def test_includes_run_one_way(self):
        for path in LIBRARY.glob("*/*.[ch]pp"):
            for header, module in included(path):
                self.assertIn(module, MAY_INCLUDE[path.parent.name] | {""}, f"{path.relative_to(LIBRARY)} includes {header}")

    def test_the_library_knows_no_program(self):
        for path in LIBRARY.glob("**/*.[ch]pp"):
            for include in re.findall(r'#include "([^"]+)"', path.read_text()):
                self.assertTrue(include.startswith("onehead/"), f"{path.relative_to(LIBRARY)} includes {include}")

    def test_the_head_knows_no_files(self):
        for path in (LIBRARY / "attention").glob("*"):
            for header in ("<fstream>", "<filesystem>", "<iostream>", "onehead/io/", "onehead/pages/"):
                self.assertNotIn(header, path.read_text(), path.name)

    def test_each_header_begins_with_its_idea(self):
        for path in LIBRARY.glob("**/*.hpp"):
            self.assertTrue(path.read_text().startswith("// "), path.name)


if __name__ == "__main__":
    unittest.main()
