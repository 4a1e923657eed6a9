"""Environment steps per second of processor time of public games on one core: random actions, observations of all agents.

    pip install mpe2==1.1.1 pettingzoo==1.27.0 lbforaging==2.0.0 overcooked-ai==1.1.0 jaxmarl==0.2.0

Arguments: a name in GAMES, and seconds to measure. Prints one line of JSON. JaxMARL plays 256 environments, vmapped and
compiled as one scan of 100 steps; the time of compiling isn't counted.
"""

import importlib
import importlib.metadata
import json
import os
import random
import sys
import time

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before libraries count cores

BATCH, STEPS = 256, 100


def rate(episode, limit):
    """Steps of episodes in `limit` seconds of processor time; `episode` returns its number of steps."""
    for seconds in (limit / 4, limit):  # the first one is for caches
        start, steps = time.process_time(), 0
        while time.process_time() - start < seconds:
            steps += episode()
    return steps / (time.process_time() - start)


def mpe2(module, **options):
    env = importlib.import_module(f"mpe2.{module}").parallel_env(**options)

    def episode():
        env.reset()
        spaces = [(agent, env.action_space(agent)) for agent in env.agents]
        steps = 0
        while env.agents:
            # Spaces draw slowly, which isn't the game's fault.
            if options.get("continuous_actions"):
                actions = {agent: np.random.random(space.shape).astype(np.float32) for agent, space in spaces}
            else:
                actions = {agent: random.randrange(int(space.n)) for agent, space in spaces}
            env.step(actions)
            steps += 1
        return steps

    return episode


def lbforaging():
    import gymnasium
    import lbforaging  # registers the games

    env = gymnasium.make("Foraging-8x8-2p-2f-v3", disable_env_checker=True).unwrapped

    def episode():
        env.reset()
        steps, done = 0, False
        while not done:
            _, _, done, _, _ = env.step([random.randrange(6), random.randrange(6)])
            steps += 1
        return steps

    return episode


def overcooked():
    from overcooked_ai_py.mdp.actions import Action
    from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

    mdp = OvercookedGridworld.from_layout_name("cramped_room")

    def episode():
        state = mdp.get_standard_start_state()
        for _ in range(400):
            actions = [Action.ALL_ACTIONS[random.randrange(6)] for _ in range(2)]
            state, _ = mdp.get_state_transition(state, actions)
            mdp.lossless_state_encoding(state, 400)
        return 400

    return episode


def jaxmarl(name):
    import jax
    import jaxmarl as library

    env = library.make(name)

    def step(carry, key):
        observations, state = carry
        choose, play = jax.random.split(key)
        keys = jax.random.split(choose, len(env.agents))
        actions = {
            agent: jax.random.randint(k, (BATCH,), 0, env.action_space(agent).n) for agent, k in zip(env.agents, keys)
        }
        observations, state, rewards, _, _ = jax.vmap(env.step)(jax.random.split(play, BATCH), state, actions)
        # The sums keep the compiler from leaving rewards and observations out.
        total = sum(leaf.sum() for leaf in jax.tree_util.tree_leaves((rewards, observations)))
        return (observations, state), total

    run = jax.jit(lambda carry, key: jax.lax.scan(step, carry, jax.random.split(key, STEPS)))
    carry = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.PRNGKey(0), BATCH))
    rounds = 0

    def episode():
        nonlocal carry, rounds
        carry, total = run(carry, jax.random.PRNGKey(rounds))
        total.block_until_ready()
        rounds += 1
        return BATCH * STEPS

    episode()
    return episode


GAMES = {
    "mpe2 simple_spread": lambda: mpe2("simple_spread_v3"),
    "mpe2 simple_spread, continuous": lambda: mpe2("simple_spread_v3", continuous_actions=True),
    "mpe2 simple_tag": lambda: mpe2("simple_tag_v3"),
    "mpe2 simple_speaker_listener": lambda: mpe2("simple_speaker_listener_v4"),
    "lbforaging 8x8": lbforaging,
    "overcooked-ai cramped_room": overcooked,
    "jaxmarl simple_spread": lambda: jaxmarl("MPE_simple_spread_v3"),
    "jaxmarl simple_tag": lambda: jaxmarl("MPE_simple_tag_v3"),
    "jaxmarl simple_speaker_listener": lambda: jaxmarl("MPE_simple_speaker_listener_v4"),
    "jaxmarl overcooked": lambda: jaxmarl("overcooked"),
}

name = sys.argv[1]
if not name.startswith("jaxmarl"):
    import numpy as np

package = name.split()[0]
speed = rate(GAMES[name](), float(sys.argv[2]))
print(json.dumps({"envStepsPerSecond": speed, "version": importlib.metadata.version(package)}))
