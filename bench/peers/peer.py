"""What peers that stay share: how many threads they have, and a loop that takes one request a line."""

import json
import os
import sys

THREADS = 2


def use_two_cores():
    """Libraries that count cores for themselves find two. Before they are imported."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def serve(answer):
    """Answers each request, a line of JSON, by a line of answer(request) until standard input ends; one that fails by {"error": ...}."""
    replies, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # whatever a compiler may throw
            reply = {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
