"""Policies that `exportOnnx` of Coplay wrote."""
import json

import numpy as np


def load_policy(file):
    """A policy of `exportOnnx(agent, file)`, played by onnxruntime."""
    return Policy(file)


class Policy:
    """A trained policy. ``game``, ``agent`` and ``actions`` say what it was trained for.

    A recurrent policy remembers the rows of the last call: begin an episode with ``reset()``, or give ``first``.
    """

    def __init__(self, file):
        try:
            import onnxruntime
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "coplay.load_policy needs onnxruntime; install it: pip install 'coplay[policies]'"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        about = self.session.get_modelmeta().custom_metadata_map
        if "coplay.actions" not in about:
            raise ValueError("load_policy: expected a file of exportOnnx(agent, file), got %s" % file)
        self.game, self.agent = about["coplay.game"], about["coplay.agent"]
        self.agents, self.actions = json.loads(about["coplay.agents"]), json.loads(about["coplay.actions"])
        space = json.loads(about["coplay.space"]) if "coplay.space" in about else len(self.actions)
        self._counts = [space] if isinstance(space, int) else space.get("counts")  # none for a box
        self._box = None if self._counts else space
        self._is_squashed = json.loads(about["coplay.config"]).get("continuous", {}).get("squash", False)
        self._inputs = {one.name: (one.type, one.shape) for one in self.session.get_inputs()}
        self._state = None

    def reset(self):
        """Forgets what was seen: the next call is the first of an episode in all rows."""
        self._state = None

    def outputs(self, observations, masks=None, previous_actions=None, first=None):
        """What the file computes, by name: ``logProbs`` [B, K], or ``means``, ``stds`` and ``likeliest`` of a box.

        :param observations: the game's fields by name, [B, ...]; or the array of its only field
        :param masks: [B, K] 1 where an action is legal. Default: all
        :param previous_actions: [B, A], of all agents, where the policy reads them; -1 for none
        :param first: [B] 1 where an episode begins, for recurrent policies
        """
        inputs = [name for name in self._inputs if name not in ("mask", "previousActions", "state")]
        # A field with one of these names has another one in the file.
        fields = {name: name.replace("observation/", "", 1) for name in inputs}
        if not isinstance(observations, dict):
            if len(fields) != 1:
                raise ValueError("act: expected a dict with the fields %s, got an array" % ", ".join(fields.values()))
            observations = {fields[inputs[0]]: observations}
        feeds = {}
        for name, key in fields.items():
            if key not in observations:
                raise ValueError("act: expected the field %s, got %s" % (key, ", ".join(observations)))
            feeds[name] = self._array(name, observations[key])
        rows = len(feeds[inputs[0]])
        if "mask" in self._inputs:
            size = self._inputs["mask"][1][1]
            feeds["mask"] = self._array("mask", np.ones((rows, size)) if masks is None else masks)
        if "previousActions" in self._inputs:
            if previous_actions is None:
                raise ValueError("act: expected previous_actions, which this policy reads; -1 where there are none")
            feeds["previousActions"] = self._array("previousActions", previous_actions)
        if "state" in self._inputs:
            if self._state is None or len(self._state) != rows:
                self._state = np.zeros((rows, self._inputs["state"][1][1]), np.float32)
            if first is not None:
                self._state = np.where(np.reshape(first, (-1, 1)) == 1, np.float32(0), self._state)
            feeds["state"] = self._state
        names = [output.name for output in self.session.get_outputs()]
        found = dict(zip(names, self.session.run(names, feeds)))
        self._state = found.get("nextState")
        return found

    def act(self, observations, masks=None, previous_actions=None, first=None, rng=None):
        """Actions: [B], or [B, W] in other spaces.

        :param rng: a ``numpy.random.Generator`` that draws them. Default: the likeliest actions, as those of
            ``frozen(agent, { greedy: true })``
        :param observations, masks, previous_actions, first: as of ``outputs``
        """
        found = self.outputs(observations, masks, previous_actions, first)
        if self._box:
            if rng is None:
                return found["likeliest"]
            return self._within(found["means"] + found["stds"] * rng.standard_normal(found["means"].shape))
        chosen, at = [], 0
        for count in self._counts:
            own = found["logProbs"][:, at : at + count]
            # The greatest log-probability with standard Gumbel noise is a draw from the distribution.
            chosen.append(np.argmax(own if rng is None else own + rng.gumbel(size=own.shape), axis=1))
            at += count
        actions = np.stack(chosen, axis=1).astype(np.int32)
        return actions[:, 0] if len(self._counts) == 1 else actions

    def _within(self, samples):
        """Samples of a box as actions: squashed by tanh, or clipped to the bounds."""
        low, high = (
            np.array([sign * np.inf if bound is None else bound for bound in bounds], np.float32)
            for sign, bounds in ((-1, self._box["low"]), (1, self._box["high"]))
        )
        if self._is_squashed:
            samples = low + (high - low) * (np.tanh(samples) + 1) / 2
        return np.clip(samples, low, high).astype(np.float32)

    def _array(self, name, values):
        kind, shape = self._inputs[name]
        dtype = {"tensor(uint8)": np.uint8, "tensor(int32)": np.int32}.get(kind, np.float32)
        values = np.ascontiguousarray(values, dtype)
        return values.reshape((-1, *shape[1:]))
