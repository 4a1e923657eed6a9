"""Records episodes of public Python games, step by step, to compare ours with: writes NAME-golden.json next to this file.

    pip install gymnasium==1.4.0                      # cartpole, pendulum
    pip install mpe2==1.1.1 pettingzoo==1.27.0        # particle
    pip install lbforaging==2.0.0                     # foraging
    python record_episodes.py cartpole pendulum particle foraging
    pip install overcooked-ai==1.1.0                  # overcooked
    python record_episodes.py overcooked

Pots that cook by themselves are only in the repository of overcooked-ai, github.com/HumanCompatibleAI/overcooked_ai. With a
checkout of the commit in PACKAGES, and gymnasium, numpy, scipy and tqdm:

    PYTHONPATH=overcooked_ai/src python record_episodes.py overcooked_old

A case has the options of our game, the first state in the layout of ours, the actions of all agents in each step, and of
each step that is kept: rewards of all agents, the state after it, and what each agent then sees. Rewards and infos of the
steps between are in sums.

With --seed other games are played, and --out names another folder: public-games.test.ts does that.
"""

import argparse
import importlib.metadata
import json
import math
import pathlib
import random

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("names", nargs="+", help="cartpole, pendulum, particle, foraging, overcooked, overcooked_old")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
arguments = parser.parse_args()
SEED = arguments.seed


class Case:
    """One episode: `add` notes a step."""

    def __init__(self, options, start):
        self.record = {"options": options, "start": numbers(start), "actions": [], "steps": []}
        self.infos = {}

    def add(self, actions, rewards, state, observations, terminated, truncated, infos={}):
        for name, values in infos.items():
            self.infos[name] = (np.array(values) + self.infos.get(name, 0)).tolist()
        self.record["actions"].append([action if isinstance(action, int) else numbers(action) for action in actions])
        self.record["steps"].append(
            {
                "step": len(self.record["actions"]),
                "rewards": numbers(rewards, 9),
                "state": numbers(state, 14),
                "observations": [observation_of(observation) for observation in observations],
            }
        )
        self.end = {"terminated": bool(terminated), "truncated": bool(truncated)}

    def finish(self, keep=1):
        """Keeps every step of a short episode, each `keep`-th of a long one, and the last two."""
        steps = self.record["steps"]
        returns = np.sum([step["rewards"] for step in steps], axis=0)
        kept = [t for t in range(len(steps)) if len(steps) <= 20 or t % keep == keep - 1 or t >= len(steps) - 2]
        return {**self.record, "steps": [steps[t] for t in kept], "returns": numbers(returns), "infos": self.infos, **self.end}


def observation_of(values):
    """A list of numbers; the places and values of those that aren't 0 where there are many."""
    flat = np.asarray(values).ravel()
    if len(flat) < 200:
        return numbers(flat, 9)
    places = np.flatnonzero(flat)
    return {"size": len(flat), "places": places.tolist(), "values": numbers(flat[places], 9)}


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
        "random": ([0.02, 0.03, -0.04, 0.01], lambda s, t: random.Random(t + 1000 * SEED).getrandbits(1)),
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
        "random torques": ([-1.5, 0.5], lambda s, t: float(np.random.default_rng(t + 1000 * SEED).uniform(-2, 2))),
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
    seed += 100 * SEED
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
    seed += 100 * SEED
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
        observations, rewards, over, _, _ = env.step(actions)
        if options.get("observation") == "grid":
            observations = [np.transpose(observation, (1, 2, 0)) for observation in observations]
        # lbforaging calls the end by the time limit a termination, too.
        is_done = env.field.sum() == 0
        case.add(actions, rewards, state(), observations, is_done, over and not is_done)
    return case.finish(keep)


LAYOUTS = {
    "cramped-room": "cramped_room",
    "asymmetric-advantages": "asymmetric_advantages",
    "coordination-ring": "coordination_ring",
    "forced-coordination": "forced_coordination",
    "counter-circuit": "counter_circuit_o_1order",
}


def overcooked():
    """Cooks that do what fits what they hold, with random actions in between."""
    cases = {layout: overcooked_case({"layout": layout}, i) for i, layout in enumerate(LAYOUTS)}
    cases["often random"] = overcooked_case({"layout": "cramped-room", "maxSteps": 200}, 11, chance=0.6)
    cases["soups of any size"] = overcooked_case({"layout": "asymmetric-advantages", "maxSteps": 300}, 12, hasty=True)
    return cases


def overcooked_old():
    cook = {"autoCook": True, "maxSteps": 250}
    return {
        f"{layout}, cooks by itself": overcooked_case({**cook, "layout": layout}, i, old_dynamics=True)
        for i, layout in enumerate(["cramped-room", "counter-circuit"])
    }


def overcooked_case(options, seed, chance=0.2, hasty=False, **dynamics):
    from overcooked_ai_py.mdp.actions import Action, Direction
    from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

    mdp = OvercookedGridworld.from_layout_name(LAYOUTS[options["layout"]], **dynamics)
    horizon = options.get("maxSteps", 400)
    draw = random.Random(seed + 100 * SEED)
    world = mdp.get_standard_start_state()
    width, cells = mdp.width, mdp.width * mdp.height
    pots = sorted(mdp.get_pot_locations(), key=lambda place: place[1] * width + place[0])
    item = lambda thing: 0 if thing is None else {"onion": 1, "dish": 2}.get(thing.name) or 2 + len(thing.ingredients)

    def state():
        counters = [0] * cells
        for (x, y), thing in world.objects.items():
            if (x, y) not in pots:
                counters[y * width + x] = item(thing)
        soups = [world.objects.get(pot) for pot in pots]
        return [
            world.timestep,
            *[player.position[1] * width + player.position[0] for player in world.players],
            *[Direction.DIRECTION_TO_INDEX[player.orientation] for player in world.players],
            *[item(player.held_object) for player in world.players],
            *counters,
            *[len(soup.ingredients) if soup else 0 for soup in soups],
            *[soup._cooking_tick if soup else -1 for soup in soups],
        ]

    def reach(start):
        """Floor that can be reached, and the first action of a shortest way there."""
        first, queue = {start: None}, [start]
        for place in queue:
            for action, step in enumerate(Direction.INDEX_TO_DIRECTION):
                there = Action.move_in_direction(place, step)
                if mdp.get_terrain_type_at_pos(there) == " " and there not in first:
                    first[there] = action if first[place] is None else first[place]
                    queue.append(there)
        return first

    def policy(player, other):
        first, theirs = reach(player.position), reach(other.position)
        beside = lambda floor: lambda place: any(Action.move_in_direction(place, d) in floor for d in Direction.INDEX_TO_DIRECTION)
        soups = {pot: world.objects.get(pot) for pot in pots}
        idle = [pot for pot in pots if soups[pot] is None or soups[pot].is_idle and len(soups[pot].ingredients) < 3]
        started = [pot for pot in pots if soups[pot] and not soups[pot].is_idle]
        full = [pot for pot in pots if soups[pot] and soups[pot].is_idle and (pot not in idle or hasty)]
        on = lambda *names: [place for place, thing in world.objects.items() if thing.name in names and place not in pots]
        handed = [place for place in mdp.get_counter_locations() if place not in world.objects and beside(theirs)(place)]
        held = player.held_object.name if player.held_object else None
        if held is None:
            own = on("soup") + (on("dish") if started else on("onion")) if any(map(beside(first), pots)) else []
            dispensers = mdp.get_dish_dispenser_locations() if started else mdp.get_onion_dispenser_locations()
            wishes = [[] if dynamics else full, own, dispensers, mdp.get_onion_dispenser_locations()]
        else:
            wishes = [{"onion": idle, "dish": started, "soup": mdp.get_serving_locations()}[held], handed]
        if draw.random() < chance:
            return draw.randrange(6)
        for wish in wishes:
            for place in sorted(wish):
                if not beside(first)(place):
                    continue
                ways = [(d, Action.move_in_direction(place, Direction.OPPOSITE_DIRECTIONS[step])) for d, step in enumerate(Direction.INDEX_TO_DIRECTION)]
                ways = [(d, floor) for d, floor in ways if floor in first]
                here = [d for d, floor in ways if floor == player.position]
                if here:
                    return 5 if Direction.DIRECTION_TO_INDEX[player.orientation] == here[0] else here[0]
                return first[ways[0][1]]
        return 4

    case = Case(options, state())
    for t in range(horizon):
        one, two = world.players
        actions = [policy(one, two), policy(two, one)]
        world, infos = mdp.get_state_transition(world, [Action.INDEX_TO_ACTION[action] for action in actions])
        sparse, shaped = infos["sparse_reward_by_agent"], infos["shaped_reward_by_agent"]
        grids = [np.transpose(grid, (1, 0, 2)) for grid in mdp.lossless_state_encoding(world, horizon)]
        case.add(actions, [sum(sparse)] * 2, state(), grids, False, t + 1 == horizon, {"sparse": sparse, "shaped": shaped})
    return case.finish(23)


PACKAGES = {
    "cartpole": ["gymnasium"],
    "pendulum": ["gymnasium"],
    "particle": ["mpe2", "pettingzoo"],
    "foraging": ["lbforaging"],
    "overcooked": ["overcooked-ai"],
    "overcooked_old": ["overcooked_ai@739950a079cdaed5a44fcc662efc40244c205d06"],
}


def version_of(package):
    name, _, commit = package.partition("@")
    return name, commit or importlib.metadata.version(name)


for name in arguments.names:
    golden = {
        "packages": dict(version_of(package) for package in PACKAGES[name]),
        "cases": globals()[name](),
    }
    (arguments.out / f"{name}-golden.json").write_text(json.dumps(golden, separators=(",", ":")).replace('},"', '},\n"') + "\n")
