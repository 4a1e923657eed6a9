import { checkOptions, fail, type Game, type ObservationArrays, show } from '@coplay/core';
import { z } from 'zod';
import { stepLimit } from '../game';
import { KINDS, type MatrixGameKind, ownTables, type PayoffTable } from './payoffs';

/** Options of {@link matrixGame}. */
export interface MatrixGameOptions {
  /** A game that comes with its payoffs. Default `stag-hunt`, unless there are `payoffs` */
  readonly kind?: MatrixGameKind | undefined;
  /**
   * Payoffs of your own for K actions, instead of `kind`: the first player's [K, K] table, line = its own action, for a
   * symmetric game (the second player's is then the transpose); or both players' tables, line = action of the first.
   */
  readonly payoffs?: PayoffTable | readonly [PayoffTable, PayoffTable] | undefined;
  /** K names, with `payoffs`. Default `action_0`, `action_1`, ... */
  readonly actionNames?: readonly string[] | undefined;
  /** Rounds of an episode, 1 to 1,000,000. Default 100 */
  readonly maxSteps?: number | undefined;
}

const table = z.array(z.array(z.number()).min(1).readonly()).min(1).readonly();
const schema = z
  .object({
    kind: z.enum(['stag-hunt', 'prisoners-dilemma', 'chicken', 'coordination']).optional(),
    payoffs: z.union([table, z.tuple([table, table]).readonly()]).optional(),
    actionNames: z.array(z.string()).readonly().optional(),
    maxSteps: stepLimit.default(100),
  })
  .strict();

/** Layout of a state: the index of each field, relative to its offset. */
const STEPS = 0;
/** 1 + the first player's last action * K + the second's; 0 at the start. */
const LAST = 1;

/**
 * A matrix game of two players, played again and again: in each round both choose at once and are paid by the table.
 *
 * Actions: K, by name of the game.
 * Observation: `joint` uint8 [K * K + 1], a one-hot of the last round, own action * K + the other's, or the last entry
 * at the start. Both players see the game from their own side.
 * End: truncated after `maxSteps` rounds; players don't see how many are left.
 *
 * @throws CoplayError for unknown options, both `kind` and `payoffs`, or tables that aren't square
 */
export function matrixGame(options: MatrixGameOptions = {}): Game<'int32'> {
  const { maxSteps, ...given } = checkOptions('matrixGame', schema, options);
  const { name, rules, payoffs, actionNames } = resolveRules(given);
  const tables = ownTables(payoffs);
  const K = actionNames.length;

  /** [K * K + 1] one-hot of the last round from a player's side. */
  function observe(state: Int32Array, offset: number, agent: number, out: ObservationArrays, row: number): void {
    const joint = out['joint'];
    const base = row * (K * K + 1);
    const last = state[offset + LAST] - 1;
    joint.fill(0, base, base + K * K + 1);
    if (last < 0) joint[base + K * K] = 1;
    else joint[base + ownSide(agent, Math.floor(last / K), last % K, K)] = 1;
  }

  return {
    name,
    agents: ['agent_0', 'agent_1'],
    actions: K,
    actionNames,
    observation: { joint: { shape: [K * K + 1], dtype: 'uint8', kind: 'one-hot', channels: jointNames(actionNames) } },
    stateType: 'int32',
    stateSize: 2,
    maxSteps,
    infos: [],
    options: { ...rules, maxSteps },
    observesState: true,
    reset: (state, offset) => {
      state[offset + STEPS] = 0;
      state[offset + LAST] = 0;
    },
    step: (state, offset, actions, actionsOffset, _generator, result, row) => {
      const first = actions[actionsOffset];
      const second = actions[actionsOffset + 1];
      const steps = ++state[offset + STEPS];
      state[offset + LAST] = 1 + first * K + second;
      for (let agent = 0; agent < 2; agent++) {
        result.rewards[row * 2 + agent] = tables[agent][ownSide(agent, first, second, K)];
        result.terminated[row * 2 + agent] = 0;
        result.truncated[row * 2 + agent] = steps >= maxSteps ? 1 : 0;
      }
    },
    legal: (_state, _offset, _agent, mask, maskOffset) => {
      mask.fill(1, maskOffset, maskOffset + K);
    },
    observe,
    isActive: () => true,
    elapsed: (state, offset) => state[offset + STEPS],
  };
}

/** A joint action as a player counts it: own action * K + the other's. */
function ownSide(agent: number, first: number, second: number, K: number): number {
  return agent === 0 ? first * K + second : second * K + first;
}

/** Names of the entries of `joint`: `stag/hare` is own stag, the other's hare. */
function jointNames(actionNames: readonly string[]): string[] {
  return [...actionNames.flatMap((own) => actionNames.map((other) => `${own}/${other}`)), 'start'];
}

/** The name, what to record as options, and the rules. */
function resolveRules({ kind, payoffs, actionNames }: MatrixGameOptions) {
  if (payoffs === undefined) {
    if (actionNames)
      fail('matrixGame', 'actionNames only together with payoffs', 'no payoffs', 'Leave actionNames out.');
    const chosen = kind ?? 'stag-hunt';
    return { name: `matrix-${chosen}`, rules: { kind: chosen }, ...KINDS[chosen] };
  }
  if (kind) fail('matrixGame', 'either kind or payoffs', 'both', 'Leave one of them out.');
  // The first entry is a line of K numbers, or a table of K lines.
  const names = actionNames ?? payoffs[0].map((_, i) => `action_${i}`);
  if (names.length !== payoffs[0].length) {
    const expected = `${payoffs[0].length} names, one for each action`;
    fail('matrixGame: option actionNames', expected, show(names), 'Name every action once.');
  }
  return { name: 'matrix', rules: { payoffs, actionNames: names }, payoffs, actionNames: names };
}
