"""Tree search in plain Python with PyTorch, one tree after another, the peer of `npm run bench -- mcts`: one agent of MSH 8x8 among three
who act at random. In each simulation the network gets one row.

pip install torch numpy
Requests and replies as in mcts_mctx.py.
"""

from mcts_peer import AGENTS, FILTERS, HIDDEN, VALUE, serve
from peer import THREADS, use_two_cores

use_two_cores()

import math
import random
import time

import torch
import torch.nn.functional as F

torch.set_grad_enabled(False)

SIZE, HARES, MAX_STEPS, ACTIONS, GAMMA, C = 8, 4, 35, 7, 0.95, 1.0
CELLS, STAY, HUNT_STAG, HUNT_HARE = SIZE * SIZE, 4, 5, 6
MOVES = [-SIZE, SIZE, -1, 1, 0, 0, 0]


class State:
    __slots__ = ("cells", "stag", "hares", "steps")

    def __init__(self, cells, stag, hares, steps):
        self.cells, self.stag, self.hares, self.steps = cells, stag, hares, steps


def reset():
    places = random.sample(range(CELLS), AGENTS + 1 + HARES)
    return State(tuple(places[:AGENTS]), places[AGENTS], frozenset(places[AGENTS + 1 :]), 0)


def legal(state, agent):
    cell = state.cells[agent]
    if cell < 0:
        return [STAY]
    found = [STAY]
    if cell >= SIZE:
        found.append(0)
    if cell < CELLS - SIZE:
        found.append(1)
    if cell % SIZE > 0:
        found.append(2)
    if cell % SIZE < SIZE - 1:
        found.append(3)
    if cell == state.stag:
        found.append(HUNT_STAG)
    if cell in state.hares:
        found.append(HUNT_HARE)
    return found


def step(state, actions):
    """Legal actions of all. The next state, the first agent's reward, whether it left."""
    stag_hunters = [i for i in range(AGENTS) if state.cells[i] >= 0 and actions[i] == HUNT_STAG]
    is_caught = len(stag_hunters) >= 2
    hare_hunters = [i for i in range(AGENTS) if state.cells[i] >= 0 and actions[i] == HUNT_HARE]
    eaten = {state.cells[i] for i in hare_hunters}
    left = set(hare_hunters) | (set(stag_hunters) if is_caught else set())
    reward = 0.0
    if 0 in left:
        same = [i for i in hare_hunters if state.cells[i] == state.cells[0]]
        reward = 10 / len(stag_hunters) if 0 in stag_hunters else 1 / len(same)
    cells = tuple(-1 if i in left or c < 0 else c + MOVES[actions[i]] for i, c in enumerate(state.cells))
    return State(cells, -1 if is_caught else state.stag, state.hares - eaten, state.steps + 1), reward, 0 in left


def observe(state):
    planes = torch.zeros(1, AGENTS + 3, CELLS)
    for agent, cell in enumerate(state.cells):
        if cell >= 0:
            planes[0, agent, cell] = 1
    if state.stag >= 0:
        planes[0, AGENTS + 1, state.stag] = 1
    for cell in state.hares:
        planes[0, AGENTS + 2, cell] = 1
    return planes.view(1, AGENTS + 3, SIZE, SIZE), torch.tensor([[state.steps / MAX_STEPS]])


channels = [AGENTS + 3, *FILTERS]
convs = [torch.nn.Conv2d(i, o, 3, padding=1) for i, o in zip(channels, channels[1:])]
dense = torch.nn.Linear(CELLS * FILTERS[-1] + 1, HIDDEN)
policy_head, value_head = torch.nn.Linear(HIDDEN, ACTIONS), torch.nn.Linear(HIDDEN, 1)


def evaluate(state):
    x, time = observe(state)
    for conv in convs:
        x = F.relu(conv(x))
    x = F.relu(dense(torch.cat([x.flatten(1), time], 1)))
    actions = legal(state, 0)
    logits = policy_head(x)[0].tolist()
    largest = max(logits[a] for a in actions)
    weights = [math.exp(logits[a] - largest) for a in actions]
    total = sum(weights)
    return actions, [w / total for w in weights], value_head(x).item() + VALUE


class Node:
    __slots__ = ("state", "reward", "is_over", "value", "actions", "priors", "visits", "sums", "children", "total", "others")

    def __init__(self, state, reward, left):
        self.state, self.reward = state, reward
        self.is_over = left or state.steps >= MAX_STEPS
        self.value = 0.0
        if left:
            return
        self.actions, self.priors, self.value = evaluate(state)
        n = len(self.actions)
        self.visits, self.sums, self.children, self.total = [0] * n, [0.0] * n, [None] * n, 0
        self.others = [random.choice(legal(state, i)) for i in range(1, AGENTS)]

    def select(self):
        scale = C * math.sqrt(self.total)
        best, best_score = 0, -math.inf
        for i, n in enumerate(self.visits):
            score = (self.sums[i] / n if n else 0.0) + scale * self.priors[i] / (1 + n)
            if score > best_score:
                best, best_score = i, score
        return best


def simulate(root):
    node, path = root, []
    while True:
        edge = node.select()
        path.append((node, edge))
        child = node.children[edge]
        if child is None:
            child = Node(*step(node.state, [node.actions[edge], *node.others]))
            node.children[edge] = child
            break
        node = child
        if node.is_over:
            break
    value = child.value
    for parent, edge in reversed(path):
        value = parent.children[edge].reward + GAMMA * value
        parent.visits[edge] += 1
        parent.sums[edge] += value
        parent.total += 1


def run(trees, simulations):
    for _ in range(trees):
        root = Node(reset(), 0.0, False)
        for _ in range(simulations):
            simulate(root)


def seconds_with(threads):
    torch.set_num_threads(threads)
    run(1, 10)
    start = time.perf_counter()
    run(1, 50)
    return time.perf_counter() - start


# One row gives two threads little to share: whichever number is faster.
torch.set_num_threads(min(range(1, THREADS + 1), key=seconds_with))
serve(run)
