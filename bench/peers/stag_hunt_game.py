"""The rules of the Markov Stag Hunt in JAX, those of @coplay/envs with one stag and without obstacles."""

import jax
import jax.numpy as jnp

ACTIONS, MAX_STEPS = 7, 35
STAY, HUNT_STAG, HUNT_HARE = 4, 5, 6


class StagHunt:
    """A state: cells [A] and who is active, the cells of the prey and which are there, steps done."""

    def __init__(self, size, agents, hares):
        self.size, self.agents, self.hares, self.cells = size, agents, hares, size * size
        self.moves = jnp.array([-size, size, -1, 1, 0, 0, 0])

    def reset(self, key):
        places = jax.random.permutation(key, self.cells)[: self.agents + 1 + self.hares]
        return {
            "cells": places[: self.agents],
            "active": jnp.ones(self.agents, bool),
            "stag": places[self.agents],
            "stag_is_there": jnp.array(True),
            "hares": places[self.agents + 1 :],
            "hares_are_there": jnp.ones(self.hares, bool),
            "steps": jnp.array(0),
        }

    def legal(self, state):
        """[A, K]"""
        row, column = state["cells"] // self.size, state["cells"] % self.size
        on_stag = (state["cells"] == state["stag"]) & state["stag_is_there"]
        on_hare = ((state["cells"][:, None] == state["hares"]) & state["hares_are_there"]).any(1)
        moves = [row > 0, row < self.size - 1, column > 0, column < self.size - 1]
        ways = [*moves, jnp.ones(self.agents, bool), on_stag, on_hare]
        return jnp.where(state["active"][:, None], jnp.stack(ways, 1), jnp.arange(ACTIONS) == STAY)

    def step(self, state, actions):
        """The next state, rewards [A], who left [A], whether the episode ended."""
        active = state["active"]
        actions = jnp.where(jnp.take_along_axis(self.legal(state), actions[:, None], 1)[:, 0], actions, STAY)
        hunts_stag = active & (actions == HUNT_STAG)
        is_caught = hunts_stag.sum() >= 2
        on_hare = (state["cells"][:, None] == state["hares"]) & state["hares_are_there"]
        hunts_hare = on_hare & (active & (actions == HUNT_HARE))[:, None]  # [A, hares]
        hunters = hunts_hare.sum(0)
        rewards = jnp.where(hunts_stag & is_caught, 10 / jnp.maximum(hunts_stag.sum(), 1), 0.0)
        rewards += (hunts_hare / jnp.maximum(hunters, 1)).sum(1)
        left = (hunts_stag & is_caught) | hunts_hare.any(1)
        after = {
            "cells": state["cells"] + self.moves[actions] * active,
            "active": active & ~left,
            "stag": state["stag"],
            "stag_is_there": state["stag_is_there"] & ~is_caught,
            "hares": state["hares"],
            "hares_are_there": state["hares_are_there"] & (hunters == 0),
            "steps": state["steps"] + 1,
        }
        return after, rewards, left, ~after["active"].any() | (after["steps"] >= MAX_STEPS)
