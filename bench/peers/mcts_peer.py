"""What the peers of `npm run bench -- mcts` share: sizes, and a loop that takes one request a line."""

import json
import os
import sys
import time

THREADS = 2
AGENTS = 4
FILTERS, HIDDEN = [16, 32, 32], 512
# Added to values, as in networks.ts.
VALUE = 3.0


def use_two_cores():
    """Libraries that count cores for themselves find two. Before they are imported."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def serve(run):
    """Answers {"trees", "simulations"} by {"seconds"} of run(trees, simulations) until standard input ends."""
    replies, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            start = time.perf_counter()
            run(**json.loads(line))
            reply = {"seconds": time.perf_counter() - start}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
