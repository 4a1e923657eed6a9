"""PPO of stable-baselines3 with shared weights on simple_spread or simple_tag of mpe2, with the settings of studies/particle.ts: 32
environments x 100 steps, 10 epochs of minibatches of 480 rows, two networks of 2 x 64 tanh units. In simple_tag the three
adversaries learn and the fourth agent moves at random.

pip install stable-baselines3 mpe2==1.1.1
Arguments: game, seed, environment steps, episodes of the evaluation. Prints one line of JSON: the mean return of a learner over
the episodes, seconds of training, versions.
"""

import importlib
import importlib.metadata
import json
import sys
import time

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

ENVS, STEPS, LENGTH = 32, 100, 25
GAMES = {
    "simple_spread": ("simple_spread_v3", {"N": 3, "local_ratio": 0.5}, 3),
    "simple_tag": ("simple_tag_v3", {"num_good": 1, "num_adversaries": 3, "num_obstacles": 2}, 3),
}


class Learners(VecEnv):
    """One row for each learner of each environment: they share the policy. The other agents act at random."""

    def __init__(self, name, envs, seed):
        module, options, learners = GAMES[name]
        make = importlib.import_module(f"mpe2.{module}").parallel_env
        self.envs = [make(max_cycles=LENGTH, continuous_actions=False, **options) for _ in range(envs)]
        self.seeds = np.random.default_rng(seed)
        self.random = np.random.default_rng(seed + 1)
        for env in self.envs:
            env.reset(seed=int(self.seeds.integers(2**31)))
        self.learners = self.envs[0].agents[:learners]
        self.others = self.envs[0].agents[learners:]
        first = self.learners[0]
        super().__init__(envs * learners, self.envs[0].observation_space(first), self.envs[0].action_space(first))

    def reset(self):
        return np.concatenate([self._rows(env.reset(seed=int(self.seeds.integers(2**31)))[0]) for env in self.envs])

    def step_async(self, actions):
        self.actions = actions.reshape(len(self.envs), len(self.learners))

    def step_wait(self):
        rows, rewards, dones, infos = [], [], [], []
        for env, actions in zip(self.envs, self.actions):
            chosen = {agent: int(action) for agent, action in zip(self.learners, actions)}
            chosen.update({agent: int(self.random.integers(5)) for agent in self.others})
            seen, reward, _, truncated, _ = env.step(chosen)
            over = any(truncated.values())
            last = self._rows(seen)
            rows.append(self._rows(env.reset(seed=int(self.seeds.integers(2**31)))[0]) if over else last)
            rewards += [reward[agent] for agent in self.learners]
            dones += [over] * len(self.learners)
            infos += [{"TimeLimit.truncated": True, "terminal_observation": row} if over else {} for row in last]
        return np.concatenate(rows), np.array(rewards, np.float32), np.array(dones), infos

    def _rows(self, observations):
        return np.stack([observations[agent] for agent in self.learners]).astype(np.float32)

    def close(self):
        for env in self.envs:
            env.close()

    def get_attr(self, name, indices=None):
        return [getattr(self, name, None)] * self.num_envs

    def set_attr(self, name, value, indices=None):
        raise NotImplementedError

    def env_method(self, name, *args, indices=None, **options):
        raise NotImplementedError

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * self.num_envs


def evaluate(model, name, seed, episodes):
    """Mean return of a learner, actions drawn."""
    env = Learners(name, min(episodes, 50), seed)
    returns = []
    for _ in range(max(1, episodes // 50)):
        rows, total = env.reset(), 0
        for _ in range(LENGTH):
            env.step_async(model.predict(rows, deterministic=False)[0])
            rows, rewards, _, _ = env.step_wait()
            total += rewards
        returns.append(total.mean())
    env.close()
    return float(np.mean(returns))


if __name__ == "__main__":
    game, seed, steps, episodes = sys.argv[1], *(int(argument) for argument in sys.argv[2:5])
    torch.set_num_threads(1)
    env = Learners(game, ENVS, seed)
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=STEPS,
        batch_size=480,
        n_epochs=10,
        gamma=0.95,
        gae_lambda=0.95,
        ent_coef=0.01,
        learning_rate=lambda left: 1e-3 * left,
        policy_kwargs={"net_arch": {"pi": [64, 64], "vf": [64, 64]}},
        seed=seed,
        device="cpu",
    )
    start = time.time()
    model.learn(steps * len(env.learners))
    seconds = time.time() - start
    versions = {name: importlib.metadata.version(name) for name in ("stable-baselines3", "mpe2", "torch")}
    print(json.dumps({"evaluated": evaluate(model, game, seed + 10**6, episodes), "seconds": seconds, "versions": versions}))
