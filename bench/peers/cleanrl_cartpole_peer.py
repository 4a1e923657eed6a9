"""PPO on CartPole-v1 in one file of PyTorch, with the settings of CleanRL's ppo.py: 4 environments x 128 steps, 4 epochs of 4
minibatches, clipped values, two networks of 2 x 64 tanh units, all schedules over 500,000 steps.

pip install torch gymnasium
Arguments: seed, environment steps, threads. Prints one line of JSON.
"""

import sys

import gymnasium as gym
import numpy as np
import torch
from cartpole_peer import Watch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.distributions import Categorical

seed, total, threads = (int(argument) for argument in sys.argv[1:4])
torch.set_num_threads(threads)
torch.manual_seed(seed)
generator = np.random.default_rng(seed)
E, T, EPOCHS, MINIBATCHES = 4, 128, 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, MAX_NORM, RATE = 0.99, 0.95, 0.2, 0.01, 0.5, 0.5, 2.5e-4


def layer(inputs, outputs, gain=2**0.5):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def network(outputs, gain):
    return nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, outputs, gain))


actor, critic = network(2, 0.01), network(1, 1.0)
parameters = [*actor.parameters(), *critic.parameters()]
optimiser = torch.optim.Adam(parameters, RATE, eps=1e-5)
envs = SyncVectorEnv([lambda: gym.make("CartPole-v1")] * E, autoreset_mode=AutoresetMode.SAME_STEP)
watch = Watch()


@torch.no_grad()
def collect(observation, done, running):
    """T steps of all environments; every record is [T, E]."""
    records = {name: [] for name in ("observations", "actions", "log_probs", "values", "rewards", "dones")}
    for _ in range(T):
        policy = Categorical(logits=actor(observation))
        action = policy.sample()
        values = critic(observation)[:, 0]
        seen = (observation, action, policy.log_prob(action), values)
        next_observation, reward, terminated, truncated, _ = envs.step(action.numpy())
        for name, value in zip(records, (*seen, torch.as_tensor(reward, dtype=torch.float32), done)):
            records[name].append(value)
        running += reward
        ended = terminated | truncated
        watch.returns.extend(running[ended])
        running[ended] = 0
        observation, done = torch.as_tensor(next_observation), torch.as_tensor(ended, dtype=torch.float32)
    return {name: torch.stack(values) for name, values in records.items()}, observation, done


@torch.no_grad()
def estimate(data, last, done):
    """Generalised advantages (Schulman et al. 2016), and returns."""
    advantages = torch.zeros_like(data["rewards"])
    next_value, next_done, running = critic(last)[:, 0], done, torch.zeros(E)
    for t in reversed(range(T)):
        delta = data["rewards"][t] + GAMMA * next_value * (1 - next_done) - data["values"][t]
        running = delta + GAMMA * LAMBDA * (1 - next_done) * running
        advantages[t] = running
        next_value, next_done = data["values"][t], data["dones"][t]
    return advantages, advantages + data["values"]


def learn(rows):
    for _ in range(EPOCHS):
        for chosen in np.split(generator.permutation(E * T), MINIBATCHES):
            part = {name: values[chosen] for name, values in rows.items()}
            policy = Categorical(logits=actor(part["observations"]))
            ratio = (policy.log_prob(part["actions"]) - part["log_probs"]).exp()
            advantages = part["advantages"]
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            policy_loss = torch.max(-advantages * ratio, -advantages * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value = critic(part["observations"])[:, 0]
            clipped = part["values"] + (value - part["values"]).clamp(-CLIP, CLIP)
            value_loss = 0.5 * torch.max((value - part["returns"]) ** 2, (clipped - part["returns"]) ** 2).mean()
            loss = policy_loss + VALUE * value_loss - ENTROPY * policy.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, MAX_NORM)
            optimiser.step()


observation = torch.as_tensor(envs.reset(seed=seed)[0])
done, running = torch.zeros(E), np.zeros(E)
updates = total // (E * T)
for update in range(updates):
    optimiser.param_groups[0]["lr"] = RATE * (1 - update / updates)
    data, observation, done = collect(observation, done, running)
    data["advantages"], data["returns"] = estimate(data, observation, done)
    learn({name: values.flatten(0, 1) for name, values in data.items()})
    watch.look((update + 1) * E * T)
watch.report(f"PyTorch {torch.__version__}, settings of CleanRL's ppo.py", updates * E * T)
