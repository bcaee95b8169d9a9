"""The most memory that a command held, in MB: peak.py COMMAND... A process of its own, and small, since a process counts
what the one that started it held."""
import os
import sys

process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(usage.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
