"""Records episodes of public Python games, step by step, to compare ours with: writes NAME-golden.json next to this file.

    pip install gymnasium==1.4.0                      # cartpole, pendulum
    pip install mpe2==1.1.1 pettingzoo==1.27.0        # particle
    pip install lbforaging==2.0.0                     # foraging
    python record_episodes.py cartpole pendulum particle foraging

A case has the options of our game, the first state in the layout of ours, the actions of all agents in each step, and of
each step that is kept: rewards of all agents, the state after it, and what each agent then sees. Rewards of the steps
between are in the return.
"""

import importlib.metadata
import json
import math
import pathlib
import random
import sys

import numpy as np


class Case:
    """One episode. `play` is called until it returns True; it calls `add` once."""

    def __init__(self, options, start):
        self.record = {"options": options, "start": numbers(start), "actions": [], "steps": []}

    def add(self, actions, rewards, state, observations, terminated, truncated):
        self.record["actions"].append([action if isinstance(action, int) else numbers(action) for action in actions])
        self.record["steps"].append(
            {
                "step": len(self.record["actions"]),
                "rewards": numbers(rewards, 9),
                "state": numbers(state, 14),
                "observations": [numbers(observation, 9) for observation in observations],
            }
        )
        self.end = {"terminated": bool(terminated), "truncated": bool(truncated)}

    def finish(self, keep=1):
        """Keeps every step of a short episode, each `keep`-th of a long one, and the last two."""
        steps = self.record["steps"]
        returns = np.sum([step["rewards"] for step in steps], axis=0)
        kept = [t for t in range(len(steps)) if len(steps) <= 20 or t % keep == keep - 1 or t >= len(steps) - 2]
        return {**self.record, "steps": [steps[t] for t in kept], "returns": numbers(returns), **self.end}


def numbers(values, digits=17):
    """As plain numbers of so many digits (float32 has 9); whole ones without a point, which takes less room."""
    flat = [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=np.float64).ravel()]
    return [int(value) if value == int(value) else value for value in flat]


def gymnasium_case(name, start, policy, keep, to_action):
    import gymnasium

    env = gymnasium.make(name)
    env.reset(seed=0)
    inner = env.unwrapped
    inner.state = np.array(start, dtype=np.float64)
    case, t, over = Case({}, start), 0, False
    while not over:
        action = to_action(policy(inner.state, t))
        observation, reward, terminated, truncated, _ = env.step(action)
        case.add([action if isinstance(action, int) else action.tolist()], [reward], inner.state, [observation], terminated, truncated)
        t, over = t + 1, terminated or truncated
    return case.finish(keep)


def cartpole():
    policies = {
        "push right until it falls": ([0.0, 0.0, 0.0, 0.0], lambda s, t: 1),
        "push left until it falls": ([0.01, -0.02, 0.03, 0.04], lambda s, t: 0),
        "leaves the track": ([2.3, 1.5, 0.0, 0.0], lambda s, t: int(s[2] + 0.2 * s[3] > 0)),
        "random": ([0.02, 0.03, -0.04, 0.01], lambda s, t: random.Random(t).getrandbits(1)),
        "balanced to the limit": (
            [0.03, -0.01, 0.02, -0.04],
            lambda s, t: int(s[2] + 0.3 * s[3] + 0.02 * s[0] + 0.05 * s[1] > 0),
        ),
    }
    return {name: gymnasium_case("CartPole-v1", start, policy, 25, int) for name, (start, policy) in policies.items()}


def pendulum():
    policies = {
        "falls without torque": ([0.1, 0.0], lambda s, t: 0.0),
        "hangs and is pushed both ways": ([math.pi, 0.0], lambda s, t: 2.0 if t % 20 < 10 else -2.0),
        "spins at full speed": ([1.0, 7.5], lambda s, t: 2.0),
        "spins backwards": ([-2.0, -7.9], lambda s, t: -2.0),
        "random torques": ([-1.5, 0.5], lambda s, t: float(np.random.default_rng(t).uniform(-2, 2))),
        "swings up by its energy": (
            [math.pi - 0.1, 0.0],
            lambda s, t: 2.0 * math.copysign(1, s[1]) if math.cos(s[0]) < 0.9 else -1.9 * math.sin(s[0]),
        ),
    }
    torque = lambda value: np.array([value], dtype=np.float32)
    return {name: gymnasium_case("Pendulum-v1", start, policy, 10, torque) for name, (start, policy) in policies.items()}


def particle():
    """Random actions; `toward` drives all agents to the origin, so that they touch."""
    from mpe2 import simple_speaker_listener_v4, simple_spread_v3, simple_tag_v3

    spread, tag, talk = simple_spread_v3, simple_tag_v3, simple_speaker_listener_v4
    cases = {
        "spread": particle_case(spread, {}, {}, 1),
        "spread, continuous": particle_case(spread, {}, {}, 2, continuous=True),
        "spread, 5 agents to the middle": particle_case(
            spread, {"agents": 5, "localRatio": 0.2, "maxSteps": 30}, {"N": 5, "local_ratio": 0.2, "max_cycles": 30}, 3, toward=True
        ),
        "spread, 1 agent": particle_case(spread, {"agents": 1, "maxSteps": 5}, {"N": 1, "max_cycles": 5}, 4),
        "tag": particle_case(tag, {}, {}, 5),
        "tag, continuous": particle_case(tag, {}, {}, 6, continuous=True, toward=True),
        "tag, many, to the middle": particle_case(
            tag,
            {"good": 3, "adversaries": 4, "obstacles": 3, "maxSteps": 40},
            {"num_good": 3, "num_adversaries": 4, "num_obstacles": 3, "max_cycles": 40},
            7,
            toward=True,
        ),
        "tag, without obstacles, outwards": particle_case(
            tag,
            {"good": 2, "adversaries": 1, "obstacles": 0, "maxSteps": 60},
            {"num_good": 2, "num_adversaries": 1, "num_obstacles": 0, "max_cycles": 60},
            8,
            steady=True,
        ),
        "speaker listener": particle_case(talk, {}, {}, 9),
        "speaker listener, continuous": particle_case(talk, {"maxSteps": 15}, {"max_cycles": 15}, 10, continuous=True),
    }
    return cases


def particle_case(module, options, python, seed, continuous=False, toward=False, steady=False):
    env = module.parallel_env(continuous_actions=continuous, **python)
    env.reset(seed=seed)
    world = env.unwrapped.world
    draw = np.random.default_rng(seed)

    def state(steps):
        entities = world.agents + world.landmarks
        own = []
        if hasattr(world.agents[0], "goal_b"):
            own = [*world.agents[0].state.c, world.landmarks.index(world.agents[0].goal_b)]
        return np.concatenate(
            [[steps], *[e.state.p_pos for e in entities], *[a.state.p_vel for a in world.agents], own]
        )

    def action(name, agent):
        space = env.action_space(name)
        if toward and draw.random() < 0.8:
            x, y = agent.state.p_pos
            discrete = (1 if x > 0 else 2) if abs(x) > abs(y) else (3 if y > 0 else 4)
        elif steady:
            discrete = 1 + world.agents.index(agent) % 4
        else:
            discrete = None
        if continuous:
            values = draw.random(space.shape).astype(np.float32)
            if discrete:
                values[discrete] = 1
            return values
        return int(draw.integers(space.n)) if discrete is None else discrete

    case = Case({**options, **({"continuousActions": True} if continuous else {})}, state(0))
    names, t, over = list(env.agents), 0, False
    while not over:
        actions = {name: action(name, agent) for name, agent in zip(names, world.agents)}
        observations, rewards, terminated, truncated, _ = env.step(dict(actions))
        t, over = t + 1, not env.agents
        case.add(
            [actions[name] for name in names],
            [rewards[name] for name in names],
            state(t),
            [observations[name] for name in names],
            all(terminated.values()),
            all(truncated.values()),
        )
    return case.finish(8)


def foraging():
    """Greedy play toward the nearest food, with random actions in between."""
    return {
        "8x8": foraging_case({}, 1),
        "8x8, all together": foraging_case({"size": 8, "agents": 3, "foods": 3, "forceCoop": True}, 2),
        "15x15, sight 2": foraging_case({"size": 15, "agents": 4, "foods": 5, "sight": 2}, 3, keep=6),
        "6x6, crowded": foraging_case({"size": 6, "agents": 7, "foods": 4, "sight": 1, "penalty": 0.1}, 4, keep=6),
        "6x6, plain rewards": foraging_case(
            {"size": 6, "agents": 3, "foods": 3, "normalizeReward": False, "minFoodLevel": 2, "maxFoodLevel": 4, "maxAgentLevel": 3}, 5
        ),
        "5x5 to the limit, hidden levels": foraging_case(
            {"size": 5, "foods": 1, "minFoodLevel": 9, "maxFoodLevel": 9, "maxSteps": 12, "observeLevels": False, "penalty": 0.5}, 6
        ),
        "grid": foraging_case({"observation": "grid", "sight": 2, "agents": 4, "foods": 3, "size": 6}, 7),
        "grid, hidden levels": foraging_case({"observation": "grid", "sight": 1, "size": 5, "observeLevels": False}, 8),
    }


def foraging_case(options, seed, keep=3):
    import gymnasium
    from lbforaging.foraging import ForagingEnv

    # lbforaging gives the box of grid observations a wrong shape, which Gymnasium refuses.
    Box = gymnasium.spaces.Box
    gymnasium.spaces.Box = lambda low, high, shape, dtype: Box(low=low, high=high, dtype=dtype)
    size, foods = options.get("size", 8), options.get("foods", 2)
    env = ForagingEnv(
        players=options.get("agents", 2),
        min_player_level=1,
        max_player_level=options.get("maxAgentLevel", 2),
        min_food_level=options.get("minFoodLevel", 1),
        max_food_level=options.get("maxFoodLevel"),
        field_size=(size, size),
        max_num_food=foods,
        sight=options.get("sight", size),
        max_episode_steps=options.get("maxSteps", 50),
        force_coop=options.get("forceCoop", False),
        normalize_reward=options.get("normalizeReward", True),
        grid_observation=options.get("observation") == "grid",
        observe_agent_levels=options.get("observeLevels", True),
        penalty=options.get("penalty", 0.0),
    )
    gymnasium.spaces.Box = Box
    env.reset(seed=seed)
    draw = np.random.default_rng(seed)

    def state():
        cells = np.flatnonzero(env.field)
        missing = [0] * (foods - len(cells))
        return np.concatenate(
            [
                [env.current_step, env._food_spawned if env._normalize_reward else 1],
                [row * size + column for row, column in (player.position for player in env.players)],
                [player.level for player in env.players],
                [*cells, *[-1 for _ in missing]],
                [*env.field.ravel()[cells], *missing],
            ]
        )

    def action(player):
        row, column = player.position
        if draw.random() < 0.3:
            return int(draw.integers(6))
        if env.adjacent_food(row, column) > 0:
            return 5
        y, x = min(zip(*env.field.nonzero()), key=lambda food: abs(food[0] - row) + abs(food[1] - column))
        if draw.random() < abs(y - row) / (abs(y - row) + abs(x - column)):
            return 1 if y < row else 2
        return 3 if x < column else 4

    case, over = Case(options, state()), False
    while not over:
        actions = [action(player) for player in env.players]
        observations, rewards, over, truncated, _ = env.step(actions)
        if options.get("observation") == "grid":
            observations = [np.transpose(observation, (1, 2, 0)) for observation in observations]
        case.add(actions, rewards, state(), observations, over, truncated)
    return case.finish(keep)


PACKAGES = {
    "cartpole": ["gymnasium"],
    "pendulum": ["gymnasium"],
    "particle": ["mpe2", "pettingzoo"],
    "foraging": ["lbforaging"],
}

for name in sys.argv[1:]:
    golden = {
        "packages": {package: importlib.metadata.version(package) for package in PACKAGES[name]},
        "cases": globals()[name](),
    }
    path = pathlib.Path(__file__).with_name(f"{name}-golden.json")
    path.write_text(json.dumps(golden, separators=(",", ":")).replace('},"', '},\n"') + "\n")
