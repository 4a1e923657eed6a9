"""Games as vector environments of stable-baselines3, whose one policy plays all agents."""
import numpy as np

from .batch import Batch
from .node import CoplayError
from .spaces import View, action_space

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "coplay.sb3_env needs stable-baselines3; install it: pip install stable-baselines3"
    ) from error


class CoplayVecEnv(VecEnv):
    """E environments with A agents as E A rows, each an agent. An agent that has left sees and earns 0 to the end."""

    def __init__(self, game, envs, **options):
        batch = self._batch = Batch(game, envs, **options)
        spaces = [action_space(space) for space in batch.actions.values()]
        if any(space != spaces[0] for space in spaces):
            batch.close()
            raise CoplayError("sb3_env: expected the same actions for all agents, got others for some of %s" % game)
        self._view = View(batch.observation, True)
        self.render_mode = None
        super().__init__(envs * len(batch.agents), self._view.space, spaces[0])

    def reset(self):
        (seed, *_), self._seeds = self._seeds, [None] * self.num_envs
        self._batch.reset(seed)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self._look(self._batch.observations, self._batch.active)

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        batch = self._batch
        was_active = np.array(batch.active)
        batch.step(self._actions)
        seen = self._look(batch.observations, batch.active)
        dones = np.repeat(batch.ended.astype(bool), len(batch.agents))
        infos = [{} for _ in range(self.num_envs)]
        if dones.any():
            last = self._look(batch.final_observations, was_active)
            cut = batch.truncated.ravel()
            for row in np.flatnonzero(dones):
                infos[row] = {"terminal_observation": last[row], "TimeLimit.truncated": bool(cut[row])}
        return seen, np.array(batch.rewards).ravel(), dones, infos

    def close(self):
        self._batch.close()

    def _look(self, fields, active):
        rows = [np.reshape(fields[name], (self.num_envs, -1)) for name in self._view.names]
        return np.concatenate(rows, axis=1).astype(np.float32) * active.reshape(-1, 1)

    def get_attr(self, attr_name, indices=None):
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name, value, indices=None):
        setattr(self, attr_name, value)

    def env_method(self, method_name, *args, indices=None, **kwargs):
        raise CoplayError("sb3_env: its environments have no methods, such as %s" % method_name)

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * len(list(self._get_indices(indices)))


def sb3_env(game, envs=16, **options):
    """A game for stable-baselines3: ``PPO("MlpPolicy", coplay.sb3_env("stag-hunt", size=4))``.

    :param envs: E; the vector environment has E A rows
    :param options: ``seed``, and options of the game
    """
    return CoplayVecEnv(game, envs, **options)
