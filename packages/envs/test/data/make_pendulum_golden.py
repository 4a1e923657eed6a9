"""Writes pendulum-golden.json: trajectories of Gymnasium's Pendulum-v1, in float64, to compare ours with.

    pip install gymnasium==1.4.0
    python make_pendulum_golden.py > pendulum-golden.json
"""

import json
import math

import gymnasium
import numpy as np

# name, first angle and angular velocity, and the torque as a function of (state, step).
CASES = [
    ("falls without torque", [0.1, 0.0], lambda s, t: 0.0),
    ("hangs and is pushed both ways", [math.pi, 0.0], lambda s, t: 2.0 if t % 20 < 10 else -2.0),
    ("spins at full speed", [1.0, 7.5], lambda s, t: 2.0),
    ("spins backwards", [-2.0, -7.9], lambda s, t: -2.0),
    ("random torques", [-1.5, 0.5], lambda s, t: float(np.random.default_rng(t).uniform(-2, 2))),
    ("swings up by its energy", [math.pi - 0.1, 0.0], lambda s, t: 2.0 * math.copysign(1, s[1]) if math.cos(s[0]) < 0.9 else -1.9 * math.sin(s[0])),
]


def play(start, policy):
    env = gymnasium.make("Pendulum-v1")
    env.reset(seed=0)
    inner = env.unwrapped
    inner.state = np.array(start, dtype=np.float64)
    actions, states, rewards = [], [], []
    terminated = truncated = False
    while not (terminated or truncated):
        action = np.array([policy(inner.state, len(actions))], dtype=np.float32)
        observation, reward, terminated, truncated, _ = env.step(action)
        actions.append(float(action[0]))
        rewards.append(float(reward))
        states.append([float(value) for value in inner.state])
    return {
        "start": start,
        "actions": actions,
        # Every 10th step, and the last one.
        "states": {t + 1: states[t] for t in range(9, len(states), 10)},
        "rewards": {t + 1: rewards[t] for t in range(9, len(states), 10)},
        "observation": [float(value) for value in observation],
        "return": sum(rewards),
        "steps": len(states),
        "terminated": bool(terminated),
        "truncated": bool(truncated),
    }


golden = {"gymnasium": gymnasium.__version__, "cases": {name: play(start, policy) for name, start, policy in CASES}}
print(json.dumps(golden))
