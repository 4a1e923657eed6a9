import {
  type ActionSpaces,
  type ActionsOf,
  type AnyGame,
  type ArrayOf,
  allocate,
  checkGame,
  type DType,
  fail,
  type Game,
  type Generator,
  type GoalStep,
  show,
} from '@coplay/core';
import { actionLayout, allocateStepArrays, isSameSpace } from '@coplay/core/arrays';
import { checkFits, goalsWithin, wrap, wrapOptions } from './wrap';

/**
 * Seats the agents anew in every episode, all orders equally likely. Observations, actions, rewards and the number on
 * pictures follow the agent; it doesn't know its seat. So no agent can specialise in a seat, and weights can be shared.
 *
 * A layout seats all agents by name, agent i in seat i, unless its first line says otherwise: `seats: 2 1 3` gives
 * agent 1 the second seat of the map below.
 *
 * Goals that read states receive the agent's seat, since the state holds the seats. Other goals are those of a step in
 * any seat: if they read `step.agent`, `reached` throws a CoplayError.
 *
 * @throws CoplayError for a game whose agents have different actions
 */
export function permuteSeats<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
): Game<State, Spaces> {
  checkGame('permuteSeats', game, 'any');
  const A = game.agents.length;
  checkFits('permuteSeats', game, A);
  const { width, dtype } = actionLayout(game);
  checkEqualSeats(game);
  /** [A] the seat of each agent; behind the game's own state */
  const seats = game.stateSize;
  const seatActions = allocate(dtype, A * width) as ActionsOf<Spaces>;
  const seatResult = allocateStepArrays(game, 1);
  const seatOf = (state: ArrayOf<State>, offset: number, agent: number) => state[offset + seats + agent];
  const identity = Array.from({ length: A }, (_, i) => i);

  const goals = goalsWithin(game, game.stateSize + A);
  const readLayout = game.readLayout?.bind(game);
  const writeLayout = game.writeLayout?.bind(game);
  const scene = game.scene?.bind(game);
  return wrap(game, {
    stateSize: game.stateSize + A,
    options: wrapOptions(game, 'permuteSeats', true),
    reset(state, offset, generator) {
      game.reset(state, offset, generator);
      drawSeats(state, offset + seats, A, generator);
    },
    step(state, offset, actions, actionsOffset, generator, result, row) {
      for (let agent = 0; agent < A; agent++) {
        const to = seatOf(state, offset, agent) * width;
        const from = actionsOffset + agent * width;
        for (let i = 0; i < width; i++) seatActions[to + i] = actions[from + i];
      }
      game.step(state, offset, seatActions, 0, generator, seatResult, 0);
      for (let agent = 0; agent < A; agent++) {
        const seat = seatOf(state, offset, agent);
        const at = row * A + agent;
        result.rewards[at] = seatResult.rewards[seat];
        result.terminated[at] = seatResult.terminated[seat];
        result.truncated[at] = seatResult.truncated[seat];
        for (const name of game.infos) result.infos[name][at] = seatResult.infos[name][seat];
      }
    },
    legal: (state, offset, agent, mask, maskOffset) =>
      game.legal(state, offset, seatOf(state, offset, agent), mask, maskOffset),
    observe: (state, offset, agent, out, row) => game.observe(state, offset, seatOf(state, offset, agent), out, row),
    isActive: (state, offset, agent) => game.isActive(state, offset, seatOf(state, offset, agent)),
    ...(goals && {
      goals: {
        ...goals,
        reached: goals.readsStates
          ? (step) => goals.reached({ ...step, agent: seatOf(step.before, 0, step.agent) })
          : (step) => goals.reached(withoutSeat(game, step)),
        ...(goals.isOpen && { isOpen: goals.isOpen.bind(goals) }),
      },
    }),
    ...(readLayout && {
      readLayout(layout, state, offset) {
        const { order, rest } = splitSeats(layout, identity);
        readLayout(rest, state, offset);
        state.set(order, offset + seats);
      },
    }),
    ...(writeLayout && {
      writeLayout(state, offset) {
        const order = identity.map((agent) => seatOf(state, offset, agent) + 1);
        return `seats: ${order.join(' ')}\n${writeLayout(state, offset)}`;
      },
    }),
    ...(scene && {
      scene(state, offset) {
        const agentIn = identity.map((seat) => identity.findIndex((agent) => seatOf(state, offset, agent) === seat));
        const { items, ...size } = scene(state, offset);
        return { ...size, items: items.map((item) => renamed(item, agentIn)) };
      },
    }),
  });
}

function checkEqualSeats<State extends DType>(game: AnyGame<State>): void {
  const { spaces } = actionLayout(game);
  const other = spaces.findIndex((space) => !isSameSpace(space, spaces[0]));
  if (other < 0) return;
  const got = `other ones of ${game.agents[other]} than of ${game.agents[0]} in ${game.name}`;
  fail('permuteSeats', 'the same actions for every agent', got, 'Give all agents one space, and mask with legal().');
}

/** A step of an agent whose seat isn't known. */
function withoutSeat<State extends DType>({ name }: AnyGame<State>, step: GoalStep<State>): GoalStep<State> {
  return {
    ...step,
    get agent(): number {
      const got = `goals of ${name} that read step.agent, without readsStates`;
      const remedy = 'Declare goals.readsStates: true, since the state holds the seats.';
      return fail('permuteSeats: goals.reached', "goals that don't depend on the seat", got, remedy);
    },
  };
}

/** A random permutation of 0..A-1 (Fisher-Yates). */
function drawSeats(state: { [index: number]: number }, at: number, A: number, generator: Generator): void {
  for (let agent = 0; agent < A; agent++) state[at + agent] = agent;
  for (let agent = A - 1; agent > 0; agent--) {
    const other = generator.integer(agent + 1);
    const seat = state[at + agent];
    state[at + agent] = state[at + other];
    state[at + other] = seat;
  }
}

/** Divides a layout into the seats that its first line names, and the game's own layout. */
function splitSeats(layout: unknown, identity: readonly number[]): { order: readonly number[]; rest: unknown } {
  const [line, seats] = (typeof layout === 'string' && /^\s*seats:([^\n]*)\n/.exec(layout)) || [];
  if (line === undefined || seats === undefined) return { order: identity, rest: layout };
  const order = seats
    .trim()
    .split(/\s+/)
    .map((seat) => Number(seat) - 1);
  if (order.length !== identity.length || !identity.every((seat) => order.includes(seat))) {
    const expected = `seats: the numbers 1 to ${identity.length} in some order`;
    fail('permuteSeats layout', expected, show(seats.trim()), 'Give the seat of each agent.');
  }
  return { order, rest: (layout as string).slice(line.length) };
}

/** A scene's item with the number of the agent instead of the seat's. */
function renamed<Item extends { kind: string; symbol: string }>(item: Item, agentIn: readonly number[]): Item {
  const agent = item.kind === 'agent' ? agentIn[Number(item.symbol) - 1] : undefined;
  return agent === undefined ? item : { ...item, symbol: String(agent + 1) };
}
