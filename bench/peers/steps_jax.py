"""The steps of `npm run bench -- compile` in JAX: mode `jit`, the whole step in one jax.jit, recurrences by lax.scan.

pip install 'jax[cpu]' optax
"""

from peer import use_two_cores
from step_peer import serve

use_two_cores()

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.lax import stop_gradient


def torso(p, x):
    return jnp.tanh(jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])


def ppo(p, d):
    features = torso(p, d["observations"])
    log_probs = jax.nn.log_softmax(features @ p["wp"] + p["bp"])
    values = (features @ p["wv"] + p["bv"])[:, 0]
    chosen = (log_probs * jax.nn.one_hot(d["actions"], 7)).sum(1)
    ratio = jnp.exp(chosen - d["oldLogProbs"])
    policy_loss = -jnp.minimum(ratio * d["advantages"], jnp.clip(ratio, 0.8, 1.2) * d["advantages"]).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(1).mean()
    return policy_loss + 0.5 * ((values - d["returns"]) ** 2).mean() - 0.01 * entropy


def act(p, d):
    return torso(p, d["observations"]) @ p["wp"] + p["bp"]


def conv(p, d):
    x = d["planes"]

    def convolve(x, kernel):
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    h = jax.nn.relu(convolve(x, p["c1"]) + p["cb1"])
    h = jax.nn.relu(convolve(h, p["c2"]) + p["cb2"])
    flat = x.reshape(x.shape[0], -1)
    h = jax.nn.relu(h.reshape(x.shape[0], -1) @ p["wd"] + p["bd"])
    return ((h @ p["wo"] + p["bo"] - flat) ** 2).mean()


def gru(p, d):
    def cell(h, x):
        reset, candidate, update = jnp.split(jnp.concatenate([x, h], 1) @ p["w"] + p["b"], 3, 1)
        content = jnp.tanh(jax.nn.sigmoid(reset) * candidate)
        share = jax.nn.sigmoid(update - 1)
        h = share * content + (1 - share) * h
        return h, (h**2).mean()

    h = jnp.zeros((d["sequence"].shape[1], p["b"].shape[0] // 3))
    return jax.lax.scan(cell, h, d["sequence"])[1].sum()


def norm(p, name, x):
    return x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-4) * p[f"{name}/scale"]


def linear(p, name, x):
    return x @ p[f"{name}/w"] + p[f"{name}/b"]


def layer(p, name, x):
    return jax.nn.silu(norm(p, name, linear(p, name, x)))


def block_linear(p, name, x):
    return jnp.einsum("bgi,gio->bgo", x, p[f"{name}/w"]).reshape(x.shape[0], -1) + p[f"{name}/b"]


def logits(p, name, x):
    raw = linear(p, f"{name}Logits", layer(p, name, x)).reshape(-1, 8, 4)
    return jnp.log(0.99 * jax.nn.softmax(raw) + 0.01 / 4)


def core(p, deter, stoch, driven):
    shared = jnp.concatenate([layer(p, "deter", deter), layer(p, "stoch", stoch), driven], 1)
    repeated = jnp.broadcast_to(shared[:, None], (shared.shape[0], 4, shared.shape[1]))
    seen = jnp.concatenate([deter.reshape(-1, 4, 32), repeated], 2)
    hidden = jax.nn.silu(norm(p, "core", block_linear(p, "core", seen)))
    gates = block_linear(p, "gates", hidden.reshape(-1, 4, 32)).reshape(-1, 4, 96)
    reset, candidate, update = (gate.reshape(-1, 128) for gate in jnp.split(gates, 3, 2))
    content = jnp.tanh(jax.nn.sigmoid(reset) * candidate)
    share = jax.nn.sigmoid(update - 1)
    return share * content + (1 - share) * deter


def divergence(p, q):
    return (jnp.exp(p) * (p - q)).sum((1, 2))


def recurrence(p, d):
    T, B, _ = d["observations"].shape
    flat = d["observations"].reshape(T * B, -1)
    embeds = layer(p, "embed", flat).reshape(T, B, -1)
    driven = layer(p, "action", d["actions"].reshape(T * B, -1)).reshape(T, B, -1)

    def advance(carry, seen):
        embed, action, noise = seen
        deter = core(p, *carry, action)
        posterior = logits(p, "posterior", jnp.concatenate([deter, embed], 1))
        one_hot = jax.nn.one_hot((stop_gradient(posterior) + noise).argmax(-1), 4)
        probs = jnp.exp(posterior)
        stoch = (one_hot + probs - stop_gradient(probs)).reshape(B, -1)
        return (deter, stoch), (deter, stoch, posterior)

    start = (jnp.zeros((B, 128)), jnp.zeros((B, 32)))
    _, (deters, stochs, posteriors) = jax.lax.scan(advance, start, (embeds, driven, d["noise"]))
    deters, stochs, posteriors = (x.reshape(T * B, *x.shape[2:]) for x in (deters, stochs, posteriors))
    features = jnp.concatenate([deters, stochs], 1)
    decoded = linear(p, "decoded", layer(p, "decoder", features))
    rewarded = linear(p, "rewarded", layer(p, "reward", features))[:, 0]
    priors = logits(p, "prior", deters)
    dynamics = jnp.maximum(divergence(stop_gradient(posteriors), priors), 1)
    representation = jnp.maximum(divergence(posteriors, stop_gradient(priors)), 1)
    error = ((decoded - flat) ** 2).sum(1) + (rewarded - d["rewards"].reshape(-1)) ** 2
    return (error + dynamics + 0.1 * representation).mean()


STEPS = {"ppo": ppo, "act": act, "conv": conv, "recurrence": recurrence}
optimiser = optax.adam(1e-3)


def make(step, mode, params, inputs):
    fn = gru if step.startswith("gru") else STEPS[step]
    state = {name: jnp.asarray(array) for name, array in params.items()}
    if step == "act":
        forward = jax.jit(fn)
        # Rows come from an environment, outside of JAX, each time.
        return lambda: np.asarray(forward(state, inputs))
    data = {name: jnp.asarray(array) for name, array in inputs.items()}

    @jax.jit
    def train(p, slots, d):
        loss, gradients = jax.value_and_grad(fn)(p, d)
        updates, slots = optimiser.update(gradients, slots)
        return optax.apply_updates(p, updates), slots, loss

    present = [state, optimiser.init(state)]

    def run():
        present[0], present[1], loss = train(*present, data)
        return float(loss)

    return run


serve(f"JAX {jax.__version__}", make)
