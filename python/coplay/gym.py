"""Games of one agent as environments of Gymnasium."""
import numpy as np

from .batch import Batch
from .node import CoplayError
from .spaces import View, action_space  # says how to install gymnasium

import gymnasium  # noqa: E402


class CoplayGymEnv(gymnasium.Env):
    """A game of one agent with Gymnasium's API. Legal actions stand in ``info["action_mask"]``."""

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, game, flat=False, render_mode=None, **options):
        batch = self._batch = Batch(game, **options)
        if len(batch.agents) != 1:
            batch.close()
            raise CoplayError("gym_env: expected a game of one agent, got %s of %s. Use parallel_env." % (len(batch.agents), game))
        self.render_mode = render_mode
        self._view = View(batch.observation, flat)
        self.observation_space = self._view.space
        self.action_space = action_space(batch.actions[batch.agents[0]])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        batch = self._batch.reset(seed)
        return self._view.of(batch.observations, 0, 0), self._info(batch.masks, {})

    def step(self, action):
        batch = self._batch.step(np.ravel(action))
        is_over = bool(batch.ended[0])
        seen, masks = (batch.final_observations, batch.final_masks) if is_over else (batch.observations, batch.masks)
        return (
            self._view.of(seen, 0, 0),
            float(batch.rewards[0, 0]),
            bool(batch.terminated[0, 0]),
            bool(batch.truncated[0, 0]),
            self._info(masks, batch.infos),
        )

    def render(self):
        return self._batch.text()

    def close(self):
        self._batch.close()

    def _info(self, masks, infos):
        found = {name: float(values[0, 0]) for name, values in infos.items()}
        if masks.shape[-1] > 0:
            found["action_mask"] = np.array(masks[0, 0], np.int8)
        return found


def gym_env(game, flat=False, render_mode=None, **options):
    """A game of one agent with Gymnasium's API: ``gym_env("pendulum")``; arguments as of ``parallel_env``."""
    return CoplayGymEnv(game, flat, render_mode, **options)
