"""Environments of PettingZoo and Gymnasium for a Node process, which starts this file; see ../src/worker.ts.

It reads requests from file 3 and writes answers to file 4. What environments print goes to files 1 and 2, so it never
meets the frames. A request is `op, batch, length` (uint32 each, in the machine's byte order) and its bytes; an answer is
`status, length` and its bytes. Descriptions and failures are JSON, steps are arrays (`Batch`).
"""
import json
import os
import sys

REQUESTS, ANSWERS = 3, 4
DESCRIBE, MAKE, RESET, STEP, DROP, END = range(1, 7)
OK, FAILED = 0, 1


class Refused(Exception):
    """Something that isn't supported. `expected`, `got` and `remedy` are the parts of the error in Node."""

    def __init__(self, expected, got, remedy):
        super().__init__(got)
        self.parts = {"expected": expected, "got": got, "remedy": remedy}


def install_line(*packages):
    return "Install it: %s -m pip install %s" % (sys.executable, " ".join(packages))


# --- Spaces -----------------------------------------------------------------------------------------------------------

# Element types in Node's typed arrays; the others are converted.
DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
CONVERTED = {"bool": "uint8", "float16": "float32", "int64": "int32", "uint64": "uint32"}


def kind_of(space):
    """The class of a space by name: PettingZoo's environments may use Gymnasium's classes or copies of them."""
    names = [base.__name__ for base in type(space).__mro__]
    for name in ("Discrete", "MultiDiscrete", "MultiBinary", "Box", "Dict", "Tuple"):
        if name in names:
            return name
    raise Refused(
        "spaces of Discrete, MultiDiscrete, MultiBinary, Box, Dict and Tuple",
        "the space %s" % space,
        "Wrap the environment in Python so that it has one of these spaces.",
    )


def number(value):
    """JSON has no infinity."""
    value = float(value)
    return None if value in (float("inf"), float("-inf")) else value


def action_space(agent, space):
    kind = kind_of(space)
    if kind == "Discrete":
        return {"kind": "discrete", "count": int(space.n)}
    if kind == "MultiDiscrete" and len(space.nvec.shape) == 1:
        return {"kind": "multi-discrete", "counts": [int(n) for n in space.nvec]}
    if kind == "MultiBinary" and isinstance(space.n, int):
        return {"kind": "multi-discrete", "counts": [2] * space.n}
    if kind == "Box" and space.dtype.kind == "f":
        low, high = space.low.ravel(), space.high.ravel()
        return {"kind": "box", "shape": list(space.shape), "low": [number(v) for v in low], "high": [number(v) for v in high]}
    raise Refused(
        "actions of Discrete, MultiDiscrete with one dimension, MultiBinary, or Box of real numbers",
        "%s for %s" % (space, agent),
        "Wrap the environment in Python so that its actions are one of these.",
    )


def flatten(space, name=""):
    """The fields of an observation: (name, path into the observation, description, the least class)."""
    kind = kind_of(space)
    if kind in ("Dict", "Tuple"):
        items = list(space.spaces.items()) if kind == "Dict" else list(enumerate(space.spaces))
        return [
            (own, (key,) + path, field, start)
            for key, part in items
            if not (key == "action_mask" and kind == "Dict" and name == "")
            for own, path, field, start in flatten(part, "%s.%s" % (name, key) if name else str(key))
        ]
    name = name or "observation"
    if kind == "Discrete":
        field = {"shape": [], "dtype": "int32", "kind": "indices", "classes": max(2, int(space.n))}
        return [(name, (), field, start_of(space))]
    if kind == "MultiBinary":
        return [(name, (), {"shape": list(space.shape), "dtype": "uint8", "kind": "planes"}, 0)]
    if kind == "MultiDiscrete":
        field = {"shape": list(space.nvec.shape), "dtype": "int32", "kind": "indices", "classes": max(2, int(space.nvec.max()))}
        return [(name, (), field, start_of(space))]
    return [(name, (), box_field(name, space), 0)]


def start_of(space):
    """The least value of a Discrete or MultiDiscrete space."""
    start = getattr(space, "start", 0)
    return start if hasattr(start, "shape") and start.shape else int(start)


def box_field(name, space):
    dtype = CONVERTED.get(space.dtype.name, space.dtype.name)
    if dtype not in DTYPES or 0 in space.shape:
        raise Refused("observations of numbers", "the space %s of the field %s" % (space, name), "Leave it out by a wrapper.")
    field = {"shape": list(space.shape), "dtype": dtype, "kind": "vector"}
    low, high = float(space.low.min()), float(space.high.max())
    is_whole = space.dtype.kind in "biu"
    if is_whole and low >= 0 and high <= 1:
        field["kind"] = "planes"
    elif len(space.shape) == 3 and low >= 0 and 0 < high < float("inf"):
        field.update(kind="image", high=high)
    return field


def common_observation(spaces):
    """One description for all agents: fields of all, each with the largest sizes; the rest is padded with zeros."""
    fields = {}
    for agent, space in spaces.items():
        for name, _, field, _ in flatten(space):
            known = fields.setdefault(name, dict(field))
            same = len(known["shape"]) == len(field["shape"]) and all(
                known.get(part) == field.get(part) for part in ("dtype", "kind")
            )
            if not same:
                raise Refused(
                    "observations of one dtype, kind and number of dimensions for all agents",
                    "the field %s of %s: %s, of others: %s" % (name, agent, field, known),
                    "Give it another name for these agents, or pad it in Python.",
                )
            known["shape"] = [max(a, b) for a, b in zip(known["shape"], field["shape"])]
            for part in ("classes", "high"):
                if part in field:
                    known[part] = max(known[part], field[part])
    if not fields:
        raise Refused("observations with at least one field", "none", "Give agents something to see.")
    return fields


# --- Games ------------------------------------------------------------------------------------------------------------

class Single:
    """An environment of Gymnasium. Its agent is `agent_0`."""

    def __init__(self, make):
        self.env = make()
        self.agents = ["agent_0"]
        self.on_turn = None

    def spaces(self):
        return {"agent_0": self.env.action_space}, {"agent_0": self.env.observation_space}

    def horizon(self):
        spec = getattr(self.env, "spec", None)
        return getattr(spec, "max_episode_steps", None)

    def reset(self, seed):
        observation, info = self.env.reset(seed=seed)
        return {"agent_0": observation}, {"agent_0": info}

    def step(self, actions):
        observation, reward, terminated, truncated, info = self.env.step(actions["agent_0"])
        is_over = terminated or truncated
        self.alive = [] if is_over else ["agent_0"]
        each = lambda value: {"agent_0": value}
        return each(observation), each(reward), each(terminated), each(truncated), each(info)

    def playing(self):
        return self.alive

    def begin(self):
        self.alive = ["agent_0"]

    def close(self):
        self.env.close()


class Parallel:
    """An environment of PettingZoo's parallel API."""

    def __init__(self, make):
        self.env = make()
        self.agents = list(self.env.possible_agents)
        self.on_turn = None

    def spaces(self):
        return (
            {agent: self.env.action_space(agent) for agent in self.agents},
            {agent: self.env.observation_space(agent) for agent in self.agents},
        )

    def horizon(self):
        return attribute(self.env, ("max_cycles", "max_steps", "max_iter"))

    def reset(self, seed):
        return self.env.reset(seed=seed)

    def step(self, actions):
        return self.env.step(actions)

    def playing(self):
        return self.env.agents

    def begin(self):
        pass

    def close(self):
        self.env.close()


class Turns:
    """An environment of PettingZoo's AEC API: one agent acts in each step, the others wait."""

    def __init__(self, make):
        self.env = make()
        self.agents = list(self.env.possible_agents)

    def spaces(self):
        return (
            {agent: self.env.action_space(agent) for agent in self.agents},
            {agent: self.env.observation_space(agent) for agent in self.agents},
        )

    def horizon(self):
        cycles = attribute(self.env, ("max_cycles", "max_steps", "max_iter"))
        return cycles and cycles * len(self.agents)

    @property
    def on_turn(self):
        return self.env.agent_selection

    def reset(self, seed):
        self.env.reset(seed=seed)
        self.bury()
        return self.look(), dict(self.env.infos)

    def step(self, actions):
        env = self.env
        before = list(env.agents)
        env.step(actions[env.agent_selection])
        results = [{agent: values.get(agent, 0) for agent in before} for values in (env.rewards, env.terminations, env.truncations)]
        infos = dict(env.infos)
        observations = self.look()
        self.bury()
        return (observations, *results, infos)

    def look(self):
        return {agent: self.env.observe(agent) for agent in self.env.agents}

    def bury(self):
        """An agent that has ended has to take one more step, without an action."""
        env = self.env
        while env.agents and (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
            env.step(None)

    def playing(self):
        return self.env.agents

    def begin(self):
        pass

    def close(self):
        self.env.close()


def attribute(env, names):
    """The first of these attributes that is a whole number, of the environment or of one that it wraps."""
    while env is not None:
        for name in names:
            value = getattr(env, name, None)
            if isinstance(value, int) and value > 0:
                return value
        env = next((vars(env)[key] for key in ("env", "aec_env", "par_env") if key in vars(env)), None)
    return None


def version_of(package):
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def need_version(package, least, module=None):
    found = version_of(package)
    if found is None:
        __import__(module or package)  # it may be there without a package's data; otherwise this raises ImportError
        return
    numbers = [int("".join(c for c in part if c.isdigit()) or 0) for part in found.split(".")[:2]]
    if numbers < [int(part) for part in least.split(".")]:
        raise Refused(
            "%s %s or later" % (package, least),
            "%s %s in %s" % (package, found, sys.executable),
            install_line("'%s>=%s'" % (package, least)),
        )


def maker_of(request):
    """(class of games, function that makes an environment)"""
    import importlib

    options = request["options"]
    if request["library"] == "gymnasium":
        need_version("gymnasium", "0.29")
        import gymnasium

        return Single, lambda: gymnasium.make(request["id"], **options)
    module_name, _, function = request["id"].partition(":")
    if module_name.split(".")[0] in ("pettingzoo", "mpe2"):
        need_version("pettingzoo", "1.24")
    module = importlib.import_module(module_name)
    names = [function] if function else [name for name in ("parallel_env", "env") if hasattr(module, name)]
    if request["api"] is not None and not function:
        names = ["parallel_env" if request["api"] == "parallel" else "env"]
    if not names or not hasattr(module, names[0]):
        raise Refused(
            "a module with %s" % (names[0] if names else "parallel_env or env"),
            "%s, which has none" % module_name,
            "Name the function that makes the environment: 'module:function'.",
        )
    make = getattr(module, names[0])
    probe = make(**options)
    is_parallel = not hasattr(probe, "agent_iter")
    probe.close()
    return (Parallel if is_parallel else Turns), lambda: make(**options)


# --- Batches ----------------------------------------------------------------------------------------------------------

class Description:
    """What all environments of a game have in common, and the sizes that follow from it."""

    def __init__(self, request):
        self.kind, self.make = maker_of(request)
        game = self.kind(self.make)
        actions, observations = game.spaces()
        self.agents = game.agents
        self.actions = {agent: action_space(agent, space) for agent, space in actions.items()}
        self.starts = {agent: start_of(space) for agent, space in actions.items()}
        self.shapes = {agent: (space.shape, space.dtype) for agent, space in actions.items() if kind_of(space) != "Discrete"}
        self.bounds = {agent: (space.low, space.high) for agent, space in actions.items() if kind_of(space) == "Box"}
        self.fields = common_observation(observations)
        self.paths = {agent: flatten(space) for agent, space in observations.items()}
        self.infos = request["infos"]
        self.max_steps = request["maxSteps"] or game.horizon()
        game.close()
        if not isinstance(self.max_steps, int) or self.max_steps < 1:
            raise Refused(
                "an environment that says when an episode is cut",
                "%s, which doesn't" % request["id"],
                "Give the option maxSteps: the steps after which an episode is truncated at the latest.",
            )
        self.width = max(self.width_of(space) for space in self.actions.values())
        self.mask_size = max(sum(self.choices_of(space)) for space in self.actions.values())
        self.has_box = any(space["kind"] == "box" for space in self.actions.values())

    @staticmethod
    def choices_of(space):
        return {"discrete": lambda: [space["count"]], "multi-discrete": lambda: space["counts"], "box": lambda: []}[space["kind"]]()

    @staticmethod
    def width_of(space):
        if space["kind"] != "box":
            return len(Description.choices_of(space))
        size = 1
        for side in space["shape"]:
            size *= side
        return size

    def json(self):
        return {"agents": self.agents, "actions": self.actions, "observation": self.fields, "maxSteps": self.max_steps}


class Batch:
    """Environments of one batch that this process plays, and the arrays of an answer.

    The arrays stand one after the other, each from a multiple of 8 bytes on, in the order in which they are made here:
    src/batch.ts does the same. The second buffer, which is only sent where an episode has ended, has the last
    observations.
    """

    def __init__(self, about, count):
        import numpy

        self.np, self.about, self.count = numpy, about, count
        n, agents = count, len(about.agents)
        layout = Layout(numpy)
        layout.add("rewards", "float32", (n, agents))
        layout.add("terminated", "uint8", (n, agents))
        layout.add("truncated", "uint8", (n, agents))
        layout.add("ended", "uint8", (n,))
        for name in about.infos:
            layout.add("info/" + name, "float32", (n, agents))
        layout.add("active", "uint8", (n, agents))
        view = Layout(numpy)
        for part in (layout, view):
            part.add("masks", "uint8", (n, agents, about.mask_size))
            for name, field in about.fields.items():
                part.add("field/" + name, field["dtype"], (n, agents) + tuple(field["shape"]))
        self.now, self.bytes = layout.allocate()
        self.final, self.final_bytes = view.allocate()
        self.views = ["masks"] + ["field/" + name for name in about.fields]
        # Each agent's part of each field: [n, ...own shape]
        self.parts = {
            agent: [
                (self.now["field/" + name][(slice(None), i) + tuple(slice(side) for side in field["shape"])], path, start, bool(self.np.any(start)))
                for name, path, field, start in about.paths[agent]
            ]
            for i, agent in enumerate(about.agents)
        }
        self.seats = {agent: i for i, agent in enumerate(about.agents)}
        self.choices = [about.choices_of(about.actions[agent]) for agent in about.agents]
        self.sizes = [sum(choices) for choices in self.choices]
        self.readers = [self.reader_of(agent) for agent in about.agents]
        self.steps = [0] * n
        self.games = [about.kind(about.make) for _ in range(n)]

    def reader_of(self, agent):
        """From an agent's values [W] to what its environment takes."""
        space, about = self.about.actions[agent], self.about
        start = about.starts[agent]
        if space["kind"] == "discrete":
            return lambda values: int(values[0]) + start
        shape, dtype = about.shapes[agent]
        width = about.width_of(space)
        if space["kind"] == "multi-discrete":
            return lambda values: values[:width].astype(dtype).reshape(shape) + start
        low, high = about.bounds[agent]
        # Bounds of float64 may lie within those that were rounded to float32.
        return lambda values: self.np.clip(values[:width].reshape(shape).astype(dtype), low, high)

    def reset(self, chosen, seeds):
        for env in chosen:
            self.begin(env, int(seeds[env]))
        self.now["ended"][:] = 0
        return 0

    def begin(self, env, seed):
        game = self.games[env]
        observations, infos = game.reset(seed)
        game.begin()
        self.steps[env] = 0
        for array in self.views:
            self.now[array][env] = 0
        self.see(env, observations)
        self.allow(env, observations, infos)

    def step(self, actions, seeds):
        """Plays one step in each environment. Returns how many episodes have ended."""
        now, about = self.now, self.about
        ended = 0
        for env, game in enumerate(self.games):
            playing = list(game.playing())
            chosen = {agent: self.readers[self.seats[agent]](actions[env, self.seats[agent]]) for agent in playing}
            observations, rewards, terminated, truncated, infos = game.step(chosen)
            self.steps[env] += 1
            left = game.playing()
            is_late = self.steps[env] >= about.max_steps
            is_over = is_late or not left
            now["rewards"][env] = 0
            now["truncated"][env] = 0
            now["terminated"][env] = now["active"][env] ^ 1  # those that had left
            for agent in playing:
                i = self.seats[agent]
                now["rewards"][env, i] = rewards.get(agent, 0)
                if agent not in left or is_over:
                    is_end = terminated.get(agent, False)
                    # An agent that a limit cuts while others play on has nothing to be bootstrapped from.
                    is_cut = not is_end and is_over and (is_late or truncated.get(agent, False))
                    now["truncated" if is_cut else "terminated"][env, i] = 1
            for name in about.infos:
                now["info/" + name][env] = [self.info_of(agent, name, infos) if agent in playing else 0 for agent in about.agents]
            self.see(env, observations)
            now["ended"][env] = is_over
            # An agent that a limit cuts could have gone on.
            going = [agent for agent in playing if not now["terminated"][env, self.seats[agent]]] if is_over else left
            self.allow(env, observations, infos, going)
            if is_over:
                ended += 1
                for array in self.views:
                    self.final[array][env] = now[array][env]
                self.begin(env, int(seeds[env]))
        return ended

    def info_of(self, agent, name, infos):
        value = (infos.get(agent) or {}).get(name, 0)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise Refused(
                "a number as the info %s of %s" % (name, agent),
                repr(value)[:200],
                "Leave %s out of the option infos." % name,
            ) from None

    def see(self, env, observations):
        for agent, observation in observations.items():
            for target, path, start, has_start in self.parts[agent]:
                value = observation
                for key in path:
                    value = value[key]
                target[env] = value - start if has_start else value

    def allow(self, env, observations, infos, playing=None):
        """Writes who plays and which actions are legal."""
        game, active, masks = self.games[env], self.now["active"], self.now["masks"]
        playing = game.playing() if playing is None else playing
        on_turn = game.on_turn
        for i, agent in enumerate(self.about.agents):
            is_active = agent in playing
            active[env, i] = is_active
            own = masks[env, i, : self.sizes[i]]
            if is_active and on_turn in (None, agent):
                given = self.mask_of(agent, observations, infos)
                own[:] = 1 if given is None else given
                continue
            # One action, which nothing reads: the agent has left, or waits for its turn.
            own[:] = 0
            at = 0
            for count in self.choices[i]:
                own[at] = 1
                at += count

    def mask_of(self, agent, observations, infos):
        observation = observations.get(agent)
        mask = observation.get("action_mask") if isinstance(observation, dict) else None
        if mask is None:
            mask = (infos.get(agent) or {}).get("action_mask")
        if isinstance(mask, (tuple, list)) and len(mask) > 0 and hasattr(mask[0], "__len__"):
            mask = self.np.concatenate([self.np.asarray(part).ravel() for part in mask])
        return mask

    def close(self):
        for game in self.games:
            game.close()


class Layout:
    """Arrays that stand in one buffer."""

    def __init__(self, numpy):
        self.np, self.places, self.size = numpy, [], 0

    def add(self, name, dtype, shape):
        dtype = self.np.dtype(dtype)
        self.places.append((name, dtype, shape, self.size))
        size = dtype.itemsize
        for side in shape:
            size *= side
        self.size += -(-size // 8) * 8

    def allocate(self):
        buffer = bytearray(self.size)
        arrays = {}
        for name, dtype, shape, at in self.places:
            count = 1
            for side in shape:
                count *= side
            arrays[name] = self.np.frombuffer(buffer, dtype, count, at).reshape(shape)
        return arrays, buffer


# --- Frames -----------------------------------------------------------------------------------------------------------

def read(size):
    """So many bytes; ends this process where Node has ended."""
    buffer = bytearray(size)
    view = memoryview(buffer)
    while len(view) > 0:
        got = os.readv(REQUESTS, [view])
        if got == 0:
            end()
        view = view[got:]
    return buffer


def write(*parts):
    for part in parts:
        view = memoryview(part)
        while len(view) > 0:
            view = view[os.write(ANSWERS, view) :]


def end():
    """Ends this process and those that environments have started."""
    import signal

    sys.stdout.flush()
    sys.stderr.flush()
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def end_with_node():
    """Waits until Node has closed its end of the requests, also in the middle of a step that never returns."""
    import select

    poll = select.poll()
    poll.register(REQUESTS, 0)  # hanging up is always reported
    while not poll.poll():
        pass
    end()


class Worker:
    def __init__(self):
        self.about = None
        self.batches = {}

    def answer(self, op, batch, payload):
        """Parts of an answer."""
        if op == DESCRIBE:
            import numpy  # noqa: F401  a missing one is told before anything else

            request = json.loads(payload.decode())
            self.seed(request["seed"])
            self.about = Description(request)
            return [json.dumps(self.about.json()).encode()]
        if op == MAKE:
            made = self.batches[batch] = Batch(self.about, json.loads(payload.decode())["envs"])
            return [json.dumps({"bytes": len(made.bytes), "finalBytes": len(made.final_bytes)}).encode()]
        if op == DROP:
            self.batches.pop(batch).close()
            return []
        own = self.batches[batch]
        np, count = own.np, own.count
        seeds = np.frombuffer(payload, "uint32", count)
        if op == RESET:
            own.reset(np.frombuffer(payload, "uint32", len(payload) // 4 - count, 4 * count), seeds)
            return [own.bytes]
        shape = (count, len(self.about.agents), self.about.width)
        dtype = "float32" if self.about.has_box else "int32"
        actions = np.frombuffer(payload, dtype, shape[0] * shape[1] * shape[2], 4 * count).reshape(shape)
        return [own.bytes, own.final_bytes] if own.step(actions, seeds) > 0 else [own.bytes]

    @staticmethod
    def seed(seed):
        """Environments that draw from the generators of a process repeat themselves too."""
        import random

        import numpy

        random.seed(seed)
        numpy.random.seed(seed)


def failure(error):
    import traceback

    text = traceback.format_exc()
    if isinstance(error, Refused):
        return dict(error.parts, kind="refused")
    if isinstance(error, ImportError):
        name = (getattr(error, "name", None) or "").split(".")[0]
        if isinstance(error, ModuleNotFoundError) and name:
            packages = {"cv2": "opencv-python", "PIL": "pillow", "yaml": "pyyaml", "ale_py": "ale-py", "Box2D": "'gymnasium[box2d]'"}
            got = "%s, which has no module %s" % (sys.executable, error.name)
            remedy = install_line(packages.get(name, name)) + ", or choose another Python."
            return {"kind": "refused", "expected": "a Python with the module %s" % error.name, "got": got, "remedy": remedy}
    return {"kind": "raised", "type": type(error).__name__, "message": str(error)[:2000], "traceback": text}


def main():
    import faulthandler
    import signal
    import struct
    import threading

    # Ctrl-C is for Node, which ends its workers or lets them finish an update.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # Node asks what hangs
    threading.Thread(target=end_with_node, daemon=True).start()
    for file in (REQUESTS, ANSWERS):
        os.set_inheritable(file, False)
    sys.path[0] = os.getcwd()  # the user's modules, instead of the folder of this file
    worker = Worker()
    while True:
        op, batch, length = struct.unpack("=III", read(12))
        payload = read(length)
        if op == END:
            for own in worker.batches.values():
                own.close()
            end()
        try:
            parts, status = worker.answer(op, batch, payload), OK
        except BaseException as error:  # noqa: BLE001  all of them are told in Node, sys.exit() too
            parts, status = [json.dumps(failure(error)).encode()], FAILED
        sys.stdout.flush()
        write(struct.pack("=II", status, sum(len(part) for part in parts)), *parts)


if __name__ == "__main__":
    if sys.version_info < (3, 9):
        sys.stderr.write("coplay needs Python 3.9 or later; this is %s\n" % sys.version.split()[0])
        sys.exit(3)
    main()
