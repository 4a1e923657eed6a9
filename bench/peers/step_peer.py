"""What the peers of `npm run bench -- compile` share: the arrays of the steps, and how they answer.

A request and its reply are a line of JSON each:
  {"do": "load", "steps": {NAME: {"params": ..., "inputs": ...}}}   the version
  {"do": "losses", "step": NAME, "mode": MODE, "runs": N}           the values of N runs from fresh parameters
  {"do": "time", "step": NAME, "mode": MODE, "runs": N}             milliseconds of each of N runs
  {"do": "forget", "step": NAME, "mode": MODE}                      frees what is kept for timing
A request that fails is answered by {"error": ...}.
"""

import time

import numpy as np

import peer

MASK = np.uint64(0xFFFFFFFF)


def uniform(seed, count):
    """The same numbers as numbers.ts makes."""
    x = (np.arange(count, dtype=np.uint64) + np.uint64(seed * 0x9E3779B9 & 0xFFFFFFFF)) & MASK
    x = (x ^ (x >> np.uint64(16))) * np.uint64(0x85EBCA6B) & MASK
    x = (x ^ (x >> np.uint64(13))) * np.uint64(0xC2B2AE35) & MASK
    return ((x ^ (x >> np.uint64(16))).astype(np.float64) + 0.5) / 2**32


def draw(spec, seed):
    u = uniform(seed, int(np.prod(spec["shape"], dtype=int)))
    if spec["kind"] == "uniform":
        data = (spec["offset"] + spec["scale"] * (2 * u - 1)).astype(np.float32)
    elif spec["kind"] == "gumbel":
        data = (-np.log(-np.log(u))).astype(np.float32)
    else:
        data = np.floor(u * spec["below"]).astype(np.int32)
    return data.reshape(spec["shape"])


def draw_all(step):
    names = list(step["params"])
    params = {name: draw(step["params"][name], 1 + i) for i, name in enumerate(names)}
    inputs = {name: draw(spec, 1 + len(names) + i) for i, (name, spec) in enumerate(step["inputs"].items())}
    return params, inputs


def timed(run, runs):
    milliseconds = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        milliseconds.append((time.perf_counter() - start) * 1e3)
    return milliseconds


def value_of(result):
    """A loss as it is, of an array the mean square."""
    return result if isinstance(result, float) else float(np.mean(np.square(result)))


def serve(version, make):
    """Answers requests until standard input ends.

    make(step name, mode, params, inputs) returns a function of no arguments that runs the step once and returns the loss, or an array.
    """
    steps, runners = {}, {}

    def fresh(request):
        return make(request["step"], request["mode"], *draw_all(steps[request["step"]]))

    def answer(request):
        if request["do"] == "load":
            steps.update(request["steps"])
            return {"version": version}
        if request["do"] == "losses":
            run = fresh(request)
            return {"losses": [value_of(run()) for _ in range(request["runs"])]}
        key = (request["step"], request["mode"])
        if request["do"] == "forget":
            runners.pop(key, None)
            return {}
        if key not in runners:
            runners[key] = fresh(request)
        return {"milliseconds": timed(runners[key], request["runs"])}

    peer.serve(answer)
