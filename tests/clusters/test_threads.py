"""One thread for linear algebra, also in libraries that are imported later."""

import json
import subprocess
import sys

PROGRAM = """
import json
from basanite.clusters.threads import one_thread
one_thread()
early = "sklearn" in __import__("sys").modules
import scipy.linalg, sklearn.cluster
from threadpoolctl import threadpool_info
print(json.dumps([early, [found["num_threads"] for found in threadpool_info()]]))
"""


def test_libraries_that_come_later_have_one_thread_and_are_not_imported_for_it():
    """A process that works for a run starts in a fraction of a second, and gives the same last digits as any other."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True, timeout=240)
    early, threads = json.loads(ended.stdout)
    assert not early
    assert threads
    assert set(threads) == {1}
