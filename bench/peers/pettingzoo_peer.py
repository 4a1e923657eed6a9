"""Environment steps per second of PettingZoo's pursuit, the grid game there that is nearest to the stag hunt: 8x8, 4 pursuers,
5 evaders, parallel API, random actions.

pip install 'pettingzoo[sisl]'
Argument: seconds to measure. Prints one line of JSON.
"""

import importlib
import json
import pkgutil
import random
import sys
import time

import pettingzoo
import pettingzoo.sisl

seconds = float(sys.argv[1])
# The module's name carries the game's version, which differs between releases.
name = max(m.name for m in pkgutil.iter_modules(pettingzoo.sisl.__path__) if m.name.startswith("pursuit_v"))
pursuit = importlib.import_module(f"pettingzoo.sisl.{name}")
env = pursuit.parallel_env(max_cycles=35, x_size=8, y_size=8, n_pursuers=4, n_evaders=5)


def play(limit):
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < limit:
        env.reset()
        while env.agents:
            env.step({agent: random.randrange(5) for agent in env.agents})
            steps += 1
    return steps / (time.perf_counter() - start)


play(seconds / 4)
print(
    json.dumps(
        {
            "name": f"PettingZoo {name} (8x8)",
            "agents": 4,
            "envStepsPerSecond": play(seconds),
            "version": pettingzoo.__version__,
        }
    )
)
