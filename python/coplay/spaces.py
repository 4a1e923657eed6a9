"""Spaces of Gymnasium for a game's actions and observations."""
import numpy as np

try:
    from gymnasium import spaces
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "environments of PettingZoo and Gymnasium need gymnasium; install it: pip install 'coplay[pettingzoo]'"
    ) from error


def action_space(space):
    if space["kind"] == "discrete":
        return spaces.Discrete(space["count"])
    if space["kind"] == "multi-discrete":
        return spaces.MultiDiscrete(space["counts"])
    bounds = [
        np.array([sign * np.inf if value is None else value for value in values], np.float32).reshape(space["shape"])
        for sign, values in ((-1, space["low"]), (1, space["high"]))
    ]
    return spaces.Box(bounds[0], bounds[1], tuple(space["shape"]), np.float32)


def field_space(field):
    dtype, kind = np.dtype(field["dtype"]), field["kind"]
    if kind in ("planes", "one-hot"):
        low, high = 0, 1
    elif kind == "indices":
        low, high = 0, field["classes"] - 1
    elif kind == "image":
        low, high = 0, field["high"]
    elif dtype.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return spaces.Box(low, high, tuple(field["shape"]), dtype)


class View:
    """What an agent sees: its only field, a dict of fields, or all numbers as one float32 vector."""

    def __init__(self, observation, flat):
        self.names, self.flat = list(observation), flat
        parts = {name: field_space(field) for name, field in observation.items()}
        if flat:
            low = np.concatenate([part.low.ravel().astype(np.float32) for part in parts.values()])
            high = np.concatenate([part.high.ravel().astype(np.float32) for part in parts.values()])
            self.space = spaces.Box(low, high, low.shape, np.float32)
        else:
            self.space = parts[self.names[0]] if len(parts) == 1 else spaces.Dict(parts)

    def of(self, fields, *index):
        """An observation of one's own, at an index of the arrays of fields."""
        if self.flat:
            return np.concatenate([np.ravel(fields[name][index]).astype(np.float32) for name in self.names])
        if len(self.names) == 1:
            return np.array(fields[self.names[0]][index])
        return {name: np.array(fields[name][index]) for name in self.names}
