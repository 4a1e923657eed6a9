"""Tree search by mctx, the peer of `npm run bench -- mcts`: one agent of MSH 8x8 searches among three who act at random, with the rules as
the model and one row for the network in each simulation; all trees of all environments are one batch.

pip install 'jax[cpu]' mctx
Requests and replies are lines of JSON: {"trees", "simulations"}, answered by {"seconds"} of a search of all of them.
"""

import functools

from mcts_peer import AGENTS, FILTERS, HIDDEN, VALUE, serve
from peer import use_two_cores

use_two_cores()

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from stag_hunt_game import ACTIONS, MAX_STEPS, StagHunt

GAMMA = 0.95
game = StagHunt(size=8, agents=AGENTS, hares=4)
SIZE, CELLS = game.size, game.cells


def observe(state):
    """[H, W, A + 3] planes of the first agent, and the time."""
    agents = jax.nn.one_hot(state["cells"], CELLS) * state["active"][:, None]
    stag = jax.nn.one_hot(state["stag"], CELLS) * state["stag_is_there"]
    hares = (jax.nn.one_hot(state["hares"], CELLS) * state["hares_are_there"][:, None]).sum(0)
    planes = jnp.concatenate([agents, jnp.zeros((1, CELLS)), stag[None], hares[None]]).T
    return planes.reshape(SIZE, SIZE, AGENTS + 3), state["steps"][None] / MAX_STEPS


def init(random):
    def weights(*shape):
        fan = int(np.prod(shape[:-1]))
        return (random.standard_normal(shape) * (2 / fan) ** 0.5).astype(np.float32), np.zeros(shape[-1], np.float32)

    channels = [AGENTS + 3, *FILTERS]
    return {
        "conv": [weights(3, 3, i, o) for i, o in zip(channels, channels[1:])],
        "dense": weights(CELLS * FILTERS[-1] + 1, HIDDEN),
        "policy": weights(HIDDEN, ACTIONS),
        "value": weights(HIDDEN, 1),
    }


def network(params, planes, time):
    x = planes
    for kernel, bias in params["conv"]:
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + bias)
    x = jnp.concatenate([x.reshape(x.shape[0], -1), time], 1)
    x = jax.nn.relu(x @ params["dense"][0] + params["dense"][1])
    return x @ params["policy"][0] + params["policy"][1], (x @ params["value"][0] + params["value"][1])[:, 0] + VALUE


def evaluate(params, states):
    logits, values = network(params, *jax.vmap(observe)(states))
    return jnp.where(jax.vmap(game.legal)(states)[:, 0], logits, -1e9), values


def recurrent(params, key, actions, states):
    mask = jax.vmap(game.legal)(states)
    drawn = jax.random.categorical(key, jnp.where(mask, 0.0, -1e9))
    after, rewards, left, _ = jax.vmap(game.step)(states, drawn.at[:, 0].set(actions))
    logits, values = evaluate(params, after)
    is_over = left[:, 0] | (after["steps"] >= MAX_STEPS)
    discount = jnp.where(is_over, 0.0, GAMMA)
    return mctx.RecurrentFnOutput(reward=rewards[:, 0], discount=discount, prior_logits=logits, value=values), after


@functools.partial(jax.jit, static_argnums=(2, 3))
def search(params, key, count, simulations):
    states = jax.vmap(game.reset)(jax.random.split(key, count))
    logits, values = evaluate(params, states)
    root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=states)
    return mctx.muzero_policy(params, key, root, recurrent, simulations, dirichlet_fraction=0.0).action_weights


params = init(np.random.default_rng(1))


def run(trees, simulations):
    search(params, jax.random.PRNGKey(1), trees, simulations).block_until_ready()


serve(run)
