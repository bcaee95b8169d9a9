"""Runs a program and writes what it took to a file: measure.py REPORT ADDRESS_SPACE PROGRAM ARGUMENT...
A process of its own, since what its parent once had counts as a process's memory too; ADDRESS_SPACE is a limit in bytes, or -1."""
import os
import resource
import sys

report, limit, *command = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(limit), resource.RLIM_INFINITY))
child = os.posix_spawn(command[0], command, os.environ)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
_, status, usage = os.wait4(child, 0)
with open(report, "w") as file:
    file.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss / 1000}")
