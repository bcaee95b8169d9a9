"""Who may know whom: the includes of src/ run one way, and nothing in src/ knows a lesson."""
import re
import unittest

from programs import SOURCE

MAY_INCLUDE = {
    "math": {"math"},
    "trace": {"math", "trace"},
    "head": {"math", "trace", "head"},
    "study": {"math", "trace", "head", "study"},
    "load": {"math", "trace", "head", "load"},
    "write": {"math", "trace", "study", "write"},
    "cli": {"math", "trace", "head", "study", "load", "write", "cli"},
}


def included(path):
    return re.findall(r'#include "((\w+)/[^"]+)"', path.read_text())


class Structure(unittest.TestCase):
    def test_every_room_is_known(self):
        self.assertEqual({entry.name for entry in (SOURCE / "src").iterdir() if entry.is_dir()}, set(MAY_INCLUDE))

    def test_includes_run_one_way(self):
        for path in (SOURCE / "src").glob("*/*.[ch]pp"):
            for header, room in included(path):
                place = str(path.relative_to(SOURCE / "src"))
                self.assertIn(room, MAY_INCLUDE[path.parent.name], f"{place} includes {header}")

    def test_the_head_knows_no_files(self):
        for path in (SOURCE / "src" / "head").glob("*"):
            for header in ("<fstream>", "<filesystem>", "<iostream>", "load/", "write/"):
                self.assertNotIn(header, path.read_text(), path.name)

    def test_each_file_begins_with_its_idea_and_stays_short(self):
        for path in (SOURCE / "src").glob("*/*.[ch]pp"):
            lines = path.read_text().splitlines()
            # The kernel stays in one file, to be read beside the loops that it is tested against.
            self.assertLessEqual(len(lines), 180 if path.name == "kernel.cpp" else 150, path.name)
            if path.suffix == ".hpp":
                self.assertTrue(lines[0].startswith("// "), path.name)


if __name__ == "__main__":
    unittest.main()
