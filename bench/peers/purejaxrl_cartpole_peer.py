"""PureJaxRL's ppo.py on CartPole-v1 with its own settings: environment and learning are one compiled program, which is timed
after it was compiled. Where in it the goal was reached is found afterwards, as all its updates take the same time.

A checkout of PureJaxRL, and pip install 'jax[cpu]' 'gymnax<1' flax distrax optax, and what else its wrappers import (brax, navix).
Arguments: seed, environment steps, folder of the checkout. Prints one line of JSON.
"""

import json
import os
import sys
import time
from collections import deque

import jax
import numpy as np

seed, steps, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
inner = os.path.join(folder, "purejaxrl")
sys.path.insert(0, inner if os.path.isdir(inner) else folder)

from ppo import make_train

E, T = 4, 128
config = {
    "LR": 2.5e-4,
    "NUM_ENVS": E,
    "NUM_STEPS": T,
    "TOTAL_TIMESTEPS": steps,
    "UPDATE_EPOCHS": 4,
    "NUM_MINIBATCHES": 4,
    "GAMMA": 0.99,
    "GAE_LAMBDA": 0.95,
    "CLIP_EPS": 0.2,
    "ENT_COEF": 0.01,
    "VF_COEF": 0.5,
    "MAX_GRAD_NORM": 0.5,
    "ACTIVATION": "tanh",
    "ENV_NAME": "CartPole-v1",
    "ANNEAL_LR": True,
}
key = jax.random.PRNGKey(seed)
start = time.perf_counter()
train = jax.jit(make_train(config)).lower(key).compile()
compiling = time.perf_counter() - start

start = time.perf_counter()
metrics = jax.block_until_ready(train(key))["metrics"]
seconds = time.perf_counter() - start

ended, returns = (np.asarray(metrics[name]) for name in ("returned_episode", "returned_episode_returns"))
updates, last, best, reached = len(ended), deque(maxlen=20), None, None
for update in range(updates):
    last.extend(returns[update][ended[update]])
    if len(last) == 20:
        mean = float(np.mean(last))
        best = mean if best is None else max(best, mean)
        reached = update + 1 if reached is None and mean >= 475 else reached
print(
    json.dumps(
        {
            "name": f"PureJaxRL, JAX {jax.__version__}",
            "envSteps": updates * E * T,
            "seconds": seconds,
            "stepsToGoal": reached and reached * E * T,
            "secondsToGoal": reached and reached / updates * seconds,
            "best20": best,
            "compileSeconds": compiling,
        }
    )
)
