"""Environment steps per second of gym-stag-hunt (2 agents, 5x5, coordinates), random actions.

pip install numpy gym pygame opencv-python pettingzoo git+https://github.com/NullDefault/gym-stag-hunt
Argument: seconds to measure. Prints one line of JSON.
"""

import importlib.metadata
import json
import random
import sys
import time

import numpy

numpy.Inf = numpy.inf  # numpy 2 dropped the name that this package imports

from gym_stag_hunt.envs.gym.hunt import HuntEnv  # noqa: E402

seconds = float(sys.argv[1])
env = HuntEnv(obs_type="coords", enable_multiagent=True)
env.reset()


def play(limit):
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < limit:
        for _ in range(35):
            env.step([random.randrange(5), random.randrange(5)])
        env.reset()
        steps += 35
    return steps / (time.perf_counter() - start)


play(seconds / 4)
print(
    json.dumps(
        {
            "name": "gym-stag-hunt (5x5)",
            "agents": 2,
            "envStepsPerSecond": play(seconds),
            "version": importlib.metadata.version("gym_stag_hunt"),
        }
    )
)
