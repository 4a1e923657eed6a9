"""Writes cartpole-golden.json: trajectories of Gymnasium's CartPole-v1, in float64, to compare ours with.

    pip install gymnasium==1.4.0
    python make_cartpole_golden.py > cartpole-golden.json
"""

import json
import random

import gymnasium
import numpy as np

# name, first state, and the action as a function of (state, step).
CASES = [
    ("push right until it falls", [0.0, 0.0, 0.0, 0.0], lambda s, t: 1),
    ("push left until it falls", [0.01, -0.02, 0.03, 0.04], lambda s, t: 0),
    ("leaves the track", [2.3, 1.5, 0.0, 0.0], lambda s, t: int(s[2] + 0.2 * s[3] > 0)),
    ("random", [0.02, 0.03, -0.04, 0.01], lambda s, t: random.Random(t).getrandbits(1)),
    ("balanced to the limit", [0.03, -0.01, 0.02, -0.04], lambda s, t: int(s[2] + 0.3 * s[3] + 0.02 * s[0] + 0.05 * s[1] > 0)),
]


def play(start, policy):
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=0)
    inner = env.unwrapped
    inner.state = np.array(start, dtype=np.float64)
    actions, states, rewards = [], [], []
    terminated = truncated = False
    while not (terminated or truncated):
        action = policy(inner.state, len(actions))
        observation, reward, terminated, truncated, _ = env.step(action)
        actions.append(action)
        rewards.append(reward)
        states.append([float(value) for value in inner.state])
    # Every state of a short trajectory, some of a long one.
    kept = [t for t in range(len(states)) if len(states) <= 20 or t % 25 == 24 or t >= len(states) - 2]
    return {
        "start": start,
        "actions": "".join(map(str, actions)),
        "states": {t + 1: states[t] for t in kept},
        "observation": [float(value) for value in observation],
        "return": float(sum(rewards)),
        "terminated": bool(terminated),
        "truncated": bool(truncated),
    }


golden = {"gymnasium": gymnasium.__version__, "cases": {name: play(start, policy) for name, start, policy in CASES}}
print(json.dumps(golden, indent=1))
