"""A full or read-only disk, a limit, a name that is taken, a folder of somebody else: one line, and all is as it was.
Prints how many faults it made. Some need root, for a disk of their own in a mount namespace that nobody else sees."""
import ctypes
import os
import resource
import shutil
import subprocess
import unittest

from faults import LONG, Faults, content
from programs import MINI

CLONE_NEWNS = 0x20000
NOBODY = 65534
needs_root = unittest.skipUnless(os.geteuid() == 0, "SKIPPED: needs root")


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


class Places(Faults):
    def test_file_size_limit(self):
        place = self.folder / "place"
        for over_old in (False, True):
            for limit in range(0, 9000, 300):
                self.prepare(place, over_old)
                lower = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                self.expect_refused(self.run_in(place, preexec_fn=lower), place, over_old, "File too large")
        self.report("limits of a file's size")

    def test_a_name_that_is_taken(self):
        place = self.folder / "place"
        for make in (lambda cat: cat.write_text("mine"), lambda cat: cat.symlink_to("elsewhere"),
                     lambda cat: cat.symlink_to(self.folder / "old"), os.mkfifo, lambda cat: shutil.copytree(MINI, cat), lambda cat: (cat / "tokens.csv").mkdir(parents=True)):
            self.prepare(place, False)
            make(place / "cat")
            before = content(place)
            self.assert_refused(self.run_in(place), 1, "cat")
            self.assertEqual(content(place), before)
            self.assertEqual(content(self.folder / "old"), self.old)
            self.count += 1
        self.report("names that were taken")

    @needs_root
    def test_a_folder_of_somebody_else(self):
        as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.folder.chmod(0o755)
        place = self.folder / "place"
        for over_old, mode, inner in ((False, 0o755, 0o755), (True, 0o755, 0o755), (True, 0o1777, 0o755), (True, 0o1777, 0o777), (True, 0o755, 0o777)):
            self.prepare(place, over_old)
            place.chmod(mode)
            if over_old:
                (place / "cat").chmod(inner)
            self.expect_refused(self.run_in(place, **as_nobody), place, over_old, "cat")
        self.report("folders of somebody else")


@needs_root
class Disks(Faults):
    """Disks of our own, which only this process and its children see."""

    @classmethod
    def setUpClass(cls):
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
            raise unittest.SkipTest("SKIPPED: no mount namespace can be made here")
        mount("--make-rprivate", "/")

    def disk(self, size):
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        mount("-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk)
        self.addCleanup(subprocess.run, ["umount", "--quiet", "--lazy", disk], check=False)
        return disk

    def test_full_disk(self):
        for over_old in (False, True):
            for room in range(4, 300, 12):
                place = self.disk(600) / "place"
                self.prepare(place, over_old)
                used = shutil.disk_usage(place).used // 1024
                mount("-o", f"remount,size={used + room}k", place.parent)
                self.expect_refused(self.run_in(place, LONG), place, over_old, "No space left on device")
                subprocess.run(["umount", place.parent], check=True)
        self.report("full disks")

    def test_read_only_disk(self):
        for over_old in (False, True):
            place = self.disk(600) / "place"
            self.prepare(place, over_old)
            mount("-o", "remount,ro", place.parent)
            self.expect_refused(self.run_in(place), place, over_old, "Read-only file system")
            subprocess.run(["umount", place.parent], check=True)
        self.report("read-only disks")


if __name__ == "__main__":
    unittest.main()
