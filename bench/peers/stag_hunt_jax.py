"""PPO self-play on the Markov Stag Hunt in JAX, the peer of `npm run bench -- ppo`: rules, collecting and learning of an update are
one compiled program. The game is that of @coplay/envs with one stag and without obstacles (whose empty plane isn't observed here),
the algorithm that of @coplay/trainers: for each agent, or for all of them together, an MLP of 2 x 128 as policy and one as critic.

pip install 'jax[cpu]' optax
Argument: JSON as `Task` in bench/ppo/trial.ts. Prints lines of JSON: {"name", "compileSeconds"}, then for each update
{"seconds" since the first began, "episodes" that ended in it, "meanReturn" of those, over agents; null if none did}.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

from stag_hunt_game import ACTIONS, MAX_STEPS, StagHunt

task = json.loads(sys.argv[1])
ppo = task["ppo"]
AGENTS = task["agents"]
game = StagHunt(task["size"], AGENTS, task["hares"])
ENVS, STEPS, EPOCHS, MINIBATCH = task["envs"], task["steps"], ppo["epochs"], ppo["minibatchSize"]
IS_SHARED = task["weights"] == "shared"
UPDATES = -(-task["envSteps"] // (ENVS * STEPS))
CELLS, HIDDEN = game.cells, 128
CLIP, VALUE_WEIGHT, CLIP_NORM, ADAM_EPSILON = 0.2, 0.5, 0.5, 1e-5


def observe(state):
    """[A, D]: planes of the observer, of the others in cyclic order, of stag and hares, and the time."""
    agents = jax.nn.one_hot(state["cells"], CELLS) * state["active"][:, None]
    planes = jnp.stack([jnp.roll(agents, -i, 0) for i in range(AGENTS)]).reshape(AGENTS, -1)
    stag = jax.nn.one_hot(state["stag"], CELLS) * state["stag_is_there"]
    hares = (jax.nn.one_hot(state["hares"], CELLS) * state["hares_are_there"][:, None]).sum(0)
    common = jnp.concatenate([stag, hares, state["steps"][None] / MAX_STEPS])
    return jnp.concatenate([planes, jnp.broadcast_to(common, (AGENTS, common.size))], 1)


# Networks: parameters of one, or of A with A as first axis.


def init(random):
    """By numpy, as compiling this would take longer than learning."""
    inputs = (AGENTS + 2) * CELLS + 1

    def orthogonal(rows, columns, gain):
        q, r = np.linalg.qr(random.standard_normal((max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))
        return (gain * (q if rows >= columns else q.T)).astype(np.float32)

    def mlp(outputs, gain):
        shapes = [(inputs, HIDDEN, 2**0.5), (HIDDEN, HIDDEN, 2**0.5), (HIDDEN, outputs, gain)]
        return [(orthogonal(i, o, g), np.zeros(o, np.float32)) for i, o, g in shapes]

    return {"actor": mlp(ACTIONS, 0.01), "critic": mlp(1, 1.0)}


def apply(layers, x):
    for kernel, bias in layers[:-1]:
        x = jnp.tanh(x @ kernel + bias)
    kernel, bias = layers[-1]
    return x @ kernel + bias


def per_agent(function):
    """Of parameters and x [B, A, ...]: one set of parameters for all agents, or one for each."""
    return function if IS_SHARED else jax.vmap(function, in_axes=(0, 1), out_axes=1)


def log_policy(params, observations, mask):
    logits = per_agent(apply)(params["actor"], observations)
    return jax.nn.log_softmax(jnp.where(mask, logits, -1e8))


def value(params, observations):
    return per_agent(apply)(params["critic"], observations)[..., 0]


# Collecting


def flat(x):
    return x.reshape((-1,) + x.shape[2:])


def taken(log_probs, actions):
    return jnp.take_along_axis(log_probs, actions[..., None], -1)[..., 0]


def collect(params, states, returns, key):
    """Steps [T, E, ...]."""

    def one(carry, key):
        states, returns = carry
        choose, restart = jax.random.split(key)
        observations, mask = jax.vmap(observe)(states), jax.vmap(game.legal)(states)
        log_probs = log_policy(params, observations, mask)
        actions = jax.random.categorical(choose, log_probs)
        after, rewards, left, ended = jax.vmap(game.step)(states, actions)
        fresh = jax.vmap(game.reset)(jax.random.split(restart, ENVS))
        returns = returns + rewards.mean(1)
        record = {
            "observations": observations,
            "mask": mask,
            "actions": actions,
            "log_probs": taken(log_probs, actions),
            "rewards": rewards,
            "active": states["active"],
            "terminated": left | ~states["active"],
            "ended": ended,
            "next_observations": jax.vmap(observe)(after),
            "returns": returns,
        }
        choice = jax.tree.map(lambda a, b: jnp.where(ended.reshape((ENVS,) + (1,) * (a.ndim - 1)), a, b), fresh, after)
        return (choice, jnp.where(ended, 0, returns)), record

    return jax.lax.scan(one, (states, returns), jax.random.split(key, STEPS))


def advantages(steps, values, next_values):
    """GAE; a time limit is bootstrapped."""
    alive = 1.0 - steps["terminated"]
    deltas = steps["rewards"] + ppo["gamma"] * alive * next_values - values
    decay = ppo["gamma"] * ppo["lambda"] * alive * (1.0 - steps["ended"][..., None])

    def back(following, now):
        delta, keep = now
        advantage = delta + keep * following
        return advantage, advantage

    return jax.lax.scan(back, jnp.zeros((ENVS, AGENTS)), (deltas, decay), reverse=True)[1]


# Learning

optimiser = optax.chain(optax.clip_by_global_norm(CLIP_NORM), optax.scale_by_adam(eps=ADAM_EPSILON))


def loss(params, rows, entropy_weight):
    """Of rows [B, ...] and one set of parameters. A row in which the agent had left has weight 0."""
    weights = rows["active"] / (rows["active"].sum() + 1e-8)
    logits = jnp.where(rows["mask"], apply(params["actor"], rows["observations"]), -1e8)
    log_probs = jax.nn.log_softmax(logits)
    values = apply(params["critic"], rows["observations"])[:, 0]
    given = rows["advantages"]
    mean, count = (weights * given).sum(), rows["active"].sum()
    deviation = jnp.sqrt((rows["active"] * (given - mean) ** 2).sum() / (count - 1))
    is_normalised = ppo.get("normaliseAdvantages", "minibatch") == "minibatch"
    gains = (given - mean) / (deviation + 1e-8) if is_normalised else given
    ratio = jnp.exp(taken(log_probs, rows["actions"]) - rows["log_probs"])
    surrogate = jnp.minimum(ratio * gains, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gains)
    entropy = -(jnp.exp(log_probs) * jnp.where(rows["mask"], log_probs, 0)).sum(1)
    value_loss = 0.5 * (values - rows["returns"]) ** 2
    return (weights * (VALUE_WEIGHT * value_loss - surrogate - entropy_weight * entropy)).sum()


def gradient_step(params, slots, rows, rate, entropy_weight):
    gradients = jax.grad(loss)(params, rows, entropy_weight)
    direction, slots = optimiser.update(gradients, slots)
    return jax.tree.map(lambda p, d: p - rate * d, params, direction), slots


def learn(params, slots, table, key, progress):
    """Epochs of minibatches over rows [E T, A, ...]."""
    rate, entropy_weight = (
        ppo[name]["from"] + (ppo[name]["to"] - ppo[name]["from"]) * progress for name in ("learningRate", "entropyWeight")
    )

    def minibatch(carry, places):
        rows = jax.tree.map(lambda column: column[places], table)
        if IS_SHARED:
            return gradient_step(*carry, jax.tree.map(flat, rows), rate, entropy_weight), None
        return jax.vmap(gradient_step, in_axes=(0, 0, 1, None, None))(*carry, rows, rate, entropy_weight), None

    orders = [jax.random.permutation(k, ENVS * STEPS).reshape(-1, MINIBATCH) for k in jax.random.split(key, EPOCHS)]
    return jax.lax.scan(minibatch, (params, slots), jnp.concatenate(orders))[0]


@jax.jit
def update(params, slots, states, returns, key, progress):
    for_collecting, for_learning = jax.random.split(key)
    (states, returns), steps = collect(params, states, returns, for_collecting)
    seen = value(params, flat(steps["observations"])).reshape(STEPS, ENVS, AGENTS)
    seen_next = value(params, flat(steps["next_observations"])).reshape(STEPS, ENVS, AGENTS)
    gains = advantages(steps, seen, seen_next)
    table = {name: flat(steps[name]) for name in ("observations", "mask", "actions", "log_probs")}
    table |= {"active": flat(steps["active"]).astype(jnp.float32), "advantages": flat(gains), "returns": flat(gains + seen)}
    params, slots = learn(params, slots, table, for_learning, progress)
    ended = steps["ended"]
    return params, slots, states, returns, ended.sum(), jnp.where(ended, steps["returns"], 0).sum()


start = time.perf_counter()
random = np.random.default_rng(task["seed"])
if IS_SHARED:
    params = jax.tree.map(jnp.asarray, init(random))
else:
    params = jax.tree.map(lambda *agents: jnp.asarray(np.stack(agents)), *[init(random) for _ in range(AGENTS)])
slots = optimiser.init(params) if IS_SHARED else jax.vmap(optimiser.init)(params)
key, for_games = jax.random.split(jax.random.PRNGKey(task["seed"]))
states, returns = jax.jit(jax.vmap(game.reset))(jax.random.split(for_games, ENVS)), jnp.zeros(ENVS)
compiled = update.lower(params, slots, states, returns, key, jnp.float32(0)).compile()
print(json.dumps({"name": f"JAX {jax.__version__}", "compileSeconds": time.perf_counter() - start}))

start = time.perf_counter()
for count in range(UPDATES):
    key, now = jax.random.split(key)
    progress = jnp.float32(min(1, count * ENVS * STEPS / task["envSteps"]))
    params, slots, states, returns, episodes, total = compiled(params, slots, states, returns, now, progress)
    episodes = int(np.asarray(episodes))  # waits for the update
    seconds = time.perf_counter() - start
    mean_return = float(np.asarray(total)) / episodes if episodes > 0 else None
    print(json.dumps({"seconds": seconds, "episodes": episodes, "meanReturn": mean_return}))
