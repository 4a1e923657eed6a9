"""What the peers of `npm run bench -- mcts` share: sizes, and how they answer."""

import time

import peer

AGENTS = 4
FILTERS, HIDDEN = [16, 32, 32], 512
# Added to values, as in networks.ts.
VALUE = 3.0


def serve(run):
    """Answers {"trees", "simulations"} by {"seconds"} of run(trees, simulations) until standard input ends."""

    def answer(request):
        start = time.perf_counter()
        run(**request)
        return {"seconds": time.perf_counter() - start}

    peer.serve(answer)
