"""The steps of `npm run bench -- compile` in PyTorch: mode `eager`, and mode `compile`, in which torch.compile has the loss.

pip install torch
"""

from peer import THREADS, use_two_cores
from step_peer import serve

use_two_cores()

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(THREADS)


def dense(x, kernel, bias):
    return F.linear(x, kernel, bias)


def torso(p, x):
    return torch.tanh(dense(torch.tanh(dense(x, p["w1"], p["b1"])), p["w2"], p["b2"]))


def ppo(p, d):
    features = torso(p, d["observations"])
    log_probs = F.log_softmax(dense(features, p["wp"], p["bp"]), -1)
    values = dense(features, p["wv"], p["bv"])[:, 0]
    ratio = torch.exp(log_probs.gather(1, d["actions"][:, None])[:, 0] - d["oldLogProbs"])
    policy_loss = -torch.min(ratio * d["advantages"], ratio.clamp(0.8, 1.2) * d["advantages"]).mean()
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    return policy_loss + 0.5 * ((values - d["returns"]) ** 2).mean() - 0.01 * entropy


def act(p, d):
    return dense(torso(p, d["observations"]), p["wp"], p["bp"])


def conv(p, d):
    x = d["planes"]
    h = F.relu(F.conv2d(x, p["c1"], p["cb1"], padding=1))
    h = F.relu(F.conv2d(h, p["c2"], p["cb2"], padding=1))
    h = F.relu(dense(h.flatten(1), p["wd"], p["bd"]))
    return ((dense(h, p["wo"], p["bo"]) - x.flatten(1)) ** 2).mean()


def gru(p, d):
    h = torch.zeros(d["sequence"].shape[1], p["b"].shape[0] // 3)
    loss = 0
    for x in d["sequence"].unbind():
        reset, candidate, update = dense(torch.cat([x, h], 1), p["w"], p["b"]).chunk(3, 1)
        content = torch.tanh(torch.sigmoid(reset) * candidate)
        share = torch.sigmoid(update - 1)
        h = share * content + (1 - share) * h
        loss = loss + (h**2).mean()
    return loss


def norm(p, name, x):
    return x * torch.rsqrt((x**2).mean(-1, keepdim=True) + 1e-4) * p[f"{name}/scale"]


def linear(p, name, x):
    return dense(x, p[f"{name}/w"], p[f"{name}/b"])


def layer(p, name, x):
    return F.silu(norm(p, name, linear(p, name, x)))


def block_linear(p, name, x):
    return torch.einsum("bgi,gio->bgo", x, p[f"{name}/w"]).flatten(1) + p[f"{name}/b"]


def logits(p, name, x):
    raw = linear(p, f"{name}Logits", layer(p, name, x)).unflatten(1, (8, 4))
    return torch.log(0.99 * torch.softmax(raw, -1) + 0.01 / 4)


def core(p, deter, stoch, driven):
    shared = torch.cat([layer(p, "deter", deter), layer(p, "stoch", stoch), driven], 1)
    seen = torch.cat([deter.unflatten(1, (4, 32)), shared[:, None].expand(-1, 4, -1)], 2)
    hidden = F.silu(norm(p, "core", block_linear(p, "core", seen)))
    gates = block_linear(p, "gates", hidden.unflatten(1, (4, 32))).unflatten(1, (4, 96))
    reset, candidate, update = (gate.flatten(1) for gate in gates.chunk(3, 2))
    content = torch.tanh(torch.sigmoid(reset) * candidate)
    share = torch.sigmoid(update - 1)
    return share * content + (1 - share) * deter


def divergence(p, q):
    return (p.exp() * (p - q)).sum((1, 2))


def recurrence(p, d):
    flat = d["observations"].flatten(0, 1)
    embeds = layer(p, "embed", flat).chunk(16)
    driven = layer(p, "action", d["actions"].flatten(0, 1)).chunk(16)
    deter, stoch = torch.zeros(16, 128), torch.zeros(16, 32)
    deters, stochs, posteriors = [], [], []
    for embed, action, noise in zip(embeds, driven, d["noise"].unbind()):
        deter = core(p, deter, stoch, action)
        posterior = logits(p, "posterior", torch.cat([deter, embed], 1))
        one_hot = F.one_hot((posterior.detach() + noise).argmax(-1), 4).float()
        probs = posterior.exp()
        stoch = (one_hot + probs - probs.detach()).flatten(1)
        deters.append(deter)
        stochs.append(stoch)
        posteriors.append(posterior)
    deters, posteriors = torch.cat(deters), torch.cat(posteriors)
    features = torch.cat([deters, torch.cat(stochs)], 1)
    decoded = linear(p, "decoded", layer(p, "decoder", features))
    rewarded = linear(p, "rewarded", layer(p, "reward", features))[:, 0]
    priors = logits(p, "prior", deters)
    dynamics = divergence(posteriors.detach(), priors).clamp(min=1)
    representation = divergence(posteriors, priors.detach()).clamp(min=1)
    error = ((decoded - flat) ** 2).sum(1) + (rewarded - d["rewards"].flatten()) ** 2
    return (error + dynamics + 0.1 * representation).mean()


STEPS = {"ppo": ppo, "act": act, "conv": conv, "recurrence": recurrence}


def to_torch(step, params, inputs):
    """In the layouts that PyTorch likes: [out, in] for matrices, channels first for planes and filters."""
    params, inputs = dict(params), dict(inputs)
    if step == "conv":
        inputs["planes"] = inputs["planes"].transpose(0, 3, 1, 2)
        params["c1"], params["c2"] = (params[name].transpose(3, 2, 0, 1) for name in ("c1", "c2"))
        params["wd"] = params["wd"].reshape(8, 8, 32, 128).transpose(2, 0, 1, 3).reshape(2048, 128)
        params["wo"] = params["wo"].reshape(128, 8, 8, 7).transpose(0, 3, 1, 2).reshape(128, 448)
        params["bo"] = params["bo"].reshape(8, 8, 7).transpose(2, 0, 1).reshape(448)
    tensor = lambda array: torch.tensor(np.ascontiguousarray(array.T if array.ndim == 2 else array))
    data = {name: torch.tensor(np.ascontiguousarray(array)) for name, array in inputs.items()}
    if step == "ppo":
        data["actions"] = data["actions"].long()
    return {name: tensor(array).requires_grad_() for name, array in params.items()}, data


compiled = {}


def make(step, mode, params, inputs):
    p, data = to_torch(step, params, inputs)
    fn = gru if step.startswith("gru") else STEPS[step]
    if mode == "compile":
        fn = compiled.setdefault(step, torch.compile(fn))
    if step == "act":

        def run():
            with torch.no_grad():
                return fn(p, data).numpy()

        return run
    optimiser = torch.optim.Adam(p.values(), 1e-3, fused=True)

    def run():
        loss = fn(p, data)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss.item()

    return run


serve(f"PyTorch {torch.__version__}", make)
