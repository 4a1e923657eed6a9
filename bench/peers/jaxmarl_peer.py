"""Environment steps per second of JaxMARL's STORM (2 agents, 8x8, observations of 5x5), 256 environments vmapped on the CPU,
random actions, compiled as one scan of 100 steps. JAX uses as many cores as it likes; compiling takes it minutes.

pip install 'jax[cpu]' jaxmarl
Argument: seconds to measure. Prints one line of JSON.
"""

import importlib.metadata
import json
import sys
import time

import jax
import jaxmarl

BATCH, STEPS = 256, 100
seconds = float(sys.argv[1])
env = jaxmarl.make("storm")
actions = env.num_actions if isinstance(env.num_actions, int) else 5


def step(carry, key):
    observations, state = carry
    choose, play = jax.random.split(key)
    chosen = jax.random.randint(choose, (len(env.agents), BATCH), 0, actions)
    observations, state, rewards, done, _ = jax.vmap(env.step)(jax.random.split(play, BATCH), state, list(chosen))
    # The sums keep the compiler from leaving rewards and observations out.
    total = sum(leaf.sum() for leaf in jax.tree_util.tree_leaves((rewards, observations)))
    return (observations, state), total


@jax.jit
def run(carry, key):
    return jax.lax.scan(step, carry, jax.random.split(key, STEPS))


def play(carry, limit):
    start, rounds = time.perf_counter(), 0
    while time.perf_counter() - start < limit:
        carry, total = run(carry, jax.random.PRNGKey(rounds))
        total.block_until_ready()
        rounds += 1
    return rounds * BATCH * STEPS / (time.perf_counter() - start)


first = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.PRNGKey(0), BATCH))
carry, total = run(first, jax.random.PRNGKey(1))
total.block_until_ready()
print(
    json.dumps(
        {
            "name": "JaxMARL STORM, vmapped",
            "agents": 2,
            "envStepsPerSecond": play(carry, seconds),
            "version": importlib.metadata.version("jaxmarl") + ", jax " + jax.__version__,
        }
    )
)
