"""PPO of stable-baselines3 on CartPole-v1 with RL Zoo's settings, which are those of ppoPresets.cartPole: 8 environments x 32
steps, 20 epochs over one batch of 256, two networks of 2 x 64 tanh units.

pip install stable-baselines3
Arguments: seed, environment steps, threads. Prints one line of JSON.
"""

import sys

import stable_baselines3
import torch
from cartpole_peer import Watch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

seed, steps, threads = (int(argument) for argument in sys.argv[1:4])
torch.set_num_threads(threads)


class Look(BaseCallback):
    def _on_step(self):
        watch.returns.extend(info["episode"]["r"] for info in self.locals["infos"] if "episode" in info)
        return True

    def _on_rollout_start(self):
        watch.look(self.num_timesteps)


model = PPO(
    "MlpPolicy",
    make_vec_env("CartPole-v1", n_envs=8, seed=seed),
    n_steps=32,
    batch_size=256,
    n_epochs=20,
    gamma=0.98,
    gae_lambda=0.8,
    ent_coef=0.0,
    learning_rate=lambda left: 1e-3 * left,
    clip_range=lambda left: 0.2 * left,
    policy_kwargs={"net_arch": {"pi": [64, 64], "vf": [64, 64]}},
    seed=seed,
    device="cpu",
)
watch = Watch()
model.learn(steps, callback=Look())
watch.look(model.num_timesteps)
watch.report(f"stable-baselines3 {stable_baselines3.__version__}, zoo's settings", model.num_timesteps)
