"""Environment steps per second of 16 environments in Python alone, random actions.

`gymnasium`: Gymnasium's AsyncVectorEnv, a process for each environment. `pettingzoo N`: a plain loop over N processes,
each with its share of the environments; actions and results go through pipes as arrays.

Arguments: kind, seconds to measure. Prints one line of JSON.
"""

import json
import multiprocessing
import sys
import time

import numpy as np

ENVS = 16
kind, seconds = sys.argv[1], float(sys.argv[2])


def measured(step):
    """Environment steps per second, after a start that doesn't count."""
    for _ in range(20):
        step()
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        step()
        steps += ENVS
    return steps / (time.perf_counter() - start)


def play_gymnasium():
    import gymnasium

    envs = gymnasium.vector.AsyncVectorEnv([lambda: gymnasium.make("Pendulum-v1")] * ENVS)
    envs.reset(seed=1)
    generator = np.random.default_rng(1)
    found = measured(lambda: envs.step(generator.uniform(-2, 2, (ENVS, 1)).astype(np.float32)))
    envs.close()
    return {"name": "AsyncVectorEnv", "version": "gymnasium %s" % gymnasium.__version__, "perSecond": found}


def play_share(pipe, count):
    from mpe2 import simple_spread_v3

    envs = [simple_spread_v3.parallel_env() for _ in range(count)]
    for i, env in enumerate(envs):
        env.reset(seed=i)
    agents = list(envs[0].possible_agents)
    while True:
        actions = pipe.recv()
        if actions is None:
            return
        results = []
        for env, own in zip(envs, actions):
            observations, rewards, ends, cuts, _ = env.step({agent: own[i] for i, agent in enumerate(agents)})
            is_over = not env.agents
            if is_over:
                observations, _ = env.reset()
            results.append(
                (
                    np.stack([observations[agent] for agent in agents]),
                    np.array([rewards[agent] for agent in agents]),
                    np.array([ends[agent] for agent in agents]),
                    np.array([cuts[agent] for agent in agents]),
                    is_over,
                )
            )
        pipe.send([np.stack(part) for part in zip(*results)])


def play_pettingzoo(processes):
    from importlib.metadata import version

    pipes, workers = [], []
    for _ in range(processes):
        ours, theirs = multiprocessing.Pipe()
        worker = multiprocessing.Process(target=play_share, args=(theirs, ENVS // processes), daemon=True)
        worker.start()
        pipes.append(ours)
        workers.append(worker)
    generator = np.random.default_rng(1)

    def step():
        actions = generator.integers(0, 5, (processes, ENVS // processes, 3))
        for pipe, own in zip(pipes, actions):
            pipe.send(own)
        return [pipe.recv() for pipe in pipes]

    found = measured(step)
    for pipe in pipes:
        pipe.send(None)
    return {"name": "a loop over %d processes" % processes, "version": "mpe2 %s" % version("mpe2"), "perSecond": found}


if __name__ == "__main__":
    print(json.dumps(play_gymnasium() if kind == "gymnasium" else play_pettingzoo(int(sys.argv[3]))))
