"""Games as environments of PettingZoo."""
import numpy as np

from .batch import Batch
from .node import CoplayError
from .spaces import View, action_space

try:
    from pettingzoo import ParallelEnv
    from pettingzoo.utils.conversions import parallel_to_aec
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "coplay.parallel_env needs pettingzoo; install it: pip install 'coplay[pettingzoo]'"
    ) from error


class CoplayParallelEnv(ParallelEnv):
    """A game with PettingZoo's parallel API. Legal actions stand in ``infos[agent]["action_mask"]``."""

    def __init__(self, game, flat=False, render_mode=None, **options):
        self._options = (game, options)
        self._batch = Batch(game, **options)
        self.metadata = {"name": self._batch.name, "render_modes": ["ansi"], "is_parallelizable": True}
        self.render_mode = render_mode
        self.possible_agents = list(self._batch.agents)
        self.agents = []
        self._seats = {agent: i for i, agent in enumerate(self.possible_agents)}
        view = self._view = View(self._batch.observation, flat)
        self.observation_spaces = {agent: view.space for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(space) for agent, space in self._batch.actions.items()}

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        batch = self._batch.reset(seed)
        self.agents = [agent for agent, i in self._seats.items() if batch.active[0, i]]
        return self._look(self.agents, batch.observations), self._infos(self.agents, batch.masks, {})

    def step(self, actions):
        if set(actions) != set(self.agents):
            raise CoplayError("step: expected an action for each of %s, got %s" % (self.agents, sorted(actions)))
        batch, before = self._batch, self.agents
        chosen = np.zeros((1, len(self.possible_agents), batch.width), np.float64)
        for agent, action in actions.items():
            own = np.ravel(action)
            chosen[0, self._seats[agent], : own.size] = own
        if not before:
            return {}, {}, {}, {}, {}
        batch.step(chosen)
        is_over = bool(batch.ended[0])
        seen, masks = (batch.final_observations, batch.final_masks) if is_over else (batch.observations, batch.masks)
        each = lambda values, kind: {agent: kind(values[0, self._seats[agent]]) for agent in before}
        ends, cuts = each(batch.terminated, bool), each(batch.truncated, bool)
        self.agents = [agent for agent in before if not (ends[agent] or cuts[agent])]
        return (
            self._look(before, seen),
            each(batch.rewards, float),
            ends,
            cuts,
            self._infos(before, masks, batch.infos),
        )

    def render(self):
        """A picture as text. After an episode's end it is of the next one."""
        return self._batch.text()

    def state(self):
        """The state of the game [S]. After an episode's end it is of the next one."""
        return np.array(self._batch.states[0])

    def close(self):
        self._batch.close()

    def _look(self, agents, fields):
        return {agent: self._view.of(fields, 0, self._seats[agent]) for agent in agents}

    def _infos(self, agents, masks, infos):
        found = {}
        for agent in agents:
            i = self._seats[agent]
            found[agent] = {name: float(values[0, i]) for name, values in infos.items()}
            size = mask_size(self._batch.actions[agent])
            if size > 0:
                found[agent]["action_mask"] = np.array(masks[0, i, :size], np.int8)
        return found


def mask_size(space):
    return {"discrete": lambda: space["count"], "multi-discrete": lambda: sum(space["counts"]), "box": lambda: 0}[
        space["kind"]
    ]()


def parallel_env(game, flat=False, render_mode=None, **options):
    """A game with PettingZoo's parallel API: ``parallel_env("stag-hunt", size=8)``.

    :param flat: whether an observation is one float32 vector instead of the game's fields
    :param options: ``seed``, and options of the game: ``max_steps=100``
    """
    return CoplayParallelEnv(game, flat, render_mode, **options)


def aec_env(game, flat=False, render_mode=None, **options):
    """The same with PettingZoo's AEC API."""
    return parallel_to_aec(parallel_env(game, flat, render_mode, **options))
