"""A batch of environments as numpy arrays."""
import json
import os

import numpy as np

from .node import MAKE, RESET, STEP, TEXT, CoplayError, Node, camel


class Batch:
    """E environments of a game with A agents that step together: ``coplay.vector_env("stag-hunt", envs=64, size=4)``.

    Where an episode ends, the next one begins in the same step: ``observations``, ``masks`` and ``active`` are those of
    the new episode, ``final_observations`` and ``final_masks`` hold the end of the old one, and ``ended`` is 1. The
    arrays are overwritten by the next step: copy what you keep.

    :param game: a name of ``coplay.games()``
    :param envs: E
    :param seed: of the episodes; environment i draws from a stream of its own. Default: a random one
    :param options: of the game, with the words of their names joined by ``_``: ``max_steps=100``

    ``agents`` [A] ids; ``actions`` of each agent: ``{"kind": "discrete", "count": 7}``, ``box`` or ``multi-discrete``;
    ``observation`` shape, dtype and kind of each field; ``observations`` [E, A, ...] by field; ``masks`` [E, A, K];
    ``active``, ``rewards``, ``terminated``, ``truncated`` [E, A]; ``infos`` [E, A] by name; ``ended`` [E];
    ``states`` [E, S].
    """

    def __init__(self, game, envs=1, seed=None, **options):
        self._node = Node()
        request = {
            "game": game,
            "envs": envs,
            "seed": _seed(seed),
            "options": {camel(name): value for name, value in options.items()},
        }
        try:
            about = self._node.ask_json(MAKE, request)
        except BaseException:
            self._node.close()
            raise
        self.name, self.envs, self.options = about["name"], envs, options
        self.agents, self.observation, self.actions = about["agents"], about["observation"], about["actions"]
        self.action_names, self.max_steps, self.width = about["actionNames"], about["maxSteps"], about["width"]
        self._dtype = np.dtype(about["actionType"])
        self._bytes = bytearray(about["bytes"])
        n, a, k = envs, len(self.agents), about["maskSize"]
        fields = [(name, field["dtype"], (n, a, *field["shape"])) for name, field in self.observation.items()]
        view = [("masks", "uint8", (n, a, k)), *fields]
        outcome = [("rewards", "float32", (n, a)), ("terminated", "uint8", (n, a)), ("truncated", "uint8", (n, a))]
        infos = [(name, "float32", (n, a)) for name in about["infos"]]
        state = [("active", "uint8", (n, a)), ("states", about["stateType"], (n, about["stateSize"]))]
        arrays = self._views([*outcome, ("ended", "uint8", (n,)), *infos, *state, *view, *view])
        self.rewards, self.terminated, self.truncated, self.ended = arrays[:4]
        self.infos = dict(zip(about["infos"], arrays[4:]))
        arrays = arrays[4 + len(infos) :]
        self.active, self.states = arrays[:2]
        self.masks, *seen = arrays[2 : 3 + len(fields)]
        self.final_masks, *final = arrays[3 + len(fields) :]
        self.observations = dict(zip(self.observation, seen))
        self.final_observations = dict(zip(self.observation, final))
        self._take(self._node.ask(RESET, b"{}"))

    def reset(self, seed=None, envs=None):
        """Begins new episodes, in all environments or in those with these indices.

        :param seed: starts the random streams anew; without it they run on
        """
        request = {}
        if seed is not None:
            request["seed"] = _seed(seed)
        if envs is not None:
            request["envs"] = [int(env) for env in envs]
        self._take(self._node.ask(RESET, json.dumps(request).encode()))
        return self

    def step(self, actions):
        """Plays one step in every environment.

        :param actions: [E, A] whole numbers, or [E, A, W] in other spaces; those of agents that have left are ignored
        :raises CoplayError: for an action that an active agent doesn't have; then nothing has changed
        """
        shape = (self.envs, len(self.agents), self.width)
        chosen = np.ascontiguousarray(actions, self._dtype)
        if chosen.size != shape[0] * shape[1] * shape[2]:
            raise CoplayError("step: expected actions of shape %s, got %s" % (shape, np.shape(actions)))
        self._take(self._node.ask(STEP, chosen.tobytes()))
        return self

    def text(self, env=0):
        """A picture of an environment as text.

        :raises CoplayError: for a game that isn't played on a grid
        """
        return self._node.ask(TEXT, json.dumps({"env": env}).encode()).decode()

    def close(self):
        """Ends the Node process. It also ends with this object, and with this process."""
        self._node.close()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def _take(self, answer):
        # The last masks and observations come only where an episode has ended.
        self._bytes[: len(answer)] = answer

    def _views(self, places):
        views, at = [], 0
        for _, dtype, shape in places:
            dtype = np.dtype(dtype)
            count = int(np.prod(shape, dtype=np.int64))
            views.append(np.frombuffer(self._bytes, dtype, count, at).reshape(shape))
            at += -(-count * dtype.itemsize // 8) * 8
        if at != len(self._bytes):
            raise CoplayError("expected %d bytes of arrays from Node, got %d" % (at, len(self._bytes)))
        for view in views:
            view.flags.writeable = False
        return views


def _seed(seed):
    return int.from_bytes(os.urandom(4), "little") if seed is None else int(seed)
