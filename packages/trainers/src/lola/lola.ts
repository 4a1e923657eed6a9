import { checkOptions, createGenerator, fail, type Game, type SavedState, show, streamSeed } from '@coplay/core';
import { checkArgument, checkCount, checkRecord, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import { checkLogits } from './check-logits';
import { checkMatrixGame, iteratedGame, MEMORIES } from './iterated-game';
import { type IteratedGradients, iteratedGradients } from './iterated-gradients';

/** Options of {@link lola}. */
export interface LolaOptions {
  /** A matrix game of two players with two actions each, such as `matrixGame({ kind: 'prisoners-dilemma' })`. */
  readonly game: Game;
  /**
   * How each player learns: aware of the other's next step, or `naive`, by the gradient of its own value alone. Default
   * both `lola`
   */
  readonly learners?: readonly ['lola' | 'naive', 'lola' | 'naive'];
  /** Discount per round, in [0, 1). Default 0.96 */
  readonly discount?: number;
  /** Step size of both, positive. Default 1 */
  readonly stepSize?: number;
  /** Step that a player expects the other to take, at least 0. Default 1 */
  readonly lookAhead?: number;
  /** Standard deviation of the first logits, at least 0. Default 1 */
  readonly spread?: number;
  /** Of the first logits. Default 0 */
  readonly seed?: number;
}

const kind = z.enum(['lola', 'naive']);
const schema = z.strictObject({
  learners: z.tuple([kind, kind]).readonly().default(['lola', 'lola']),
  discount: z.number().min(0).lt(1).default(0.96),
  stepSize: z.number().positive().default(1),
  lookAhead: z.number().min(0).default(1),
  spread: z.number().min(0).default(1),
  seed: z.int().min(0).default(0),
});

/** Two players that learn memory-one policies against each other. */
export interface Lola {
  /**
   * [5] each player's logits of action 0, after its own and the other's last action (2 own + other), and at the start.
   */
  readonly parameters: readonly [Float64Array, Float64Array];
  /** Steps that were taken. */
  readonly updates: number;
  /** Each player's mean payoff per round, discounted: (1 - g) V. */
  meanPayoffs(): [number, number];
  /**
   * Takes steps, both players at once.
   *
   * @param steps  a whole number, 0 or more
   * @throws CoplayError for another number, and where logits are no numbers any more
   */
  train(steps: number): void;
  state(): SavedState;
  /** Goes on from what `state()` gave. @throws CoplayError for anything else, before anything has changed */
  restore(saved: SavedState): void;
}

/**
 * Learning with opponent-learning awareness (LOLA; Foerster et al. 2018, eq. 4.5), with exact values of an iterated
 * matrix game. Player 1 climbs
 *
 *   V1(t1, t2 + e grad2 V2)  in first order:  grad1 V1 + e (grad2 V1) . (grad1 grad2 V2),
 *
 * including its effect on the other's next step; player 2 likewise. A naive learner climbs grad1 V1 alone.
 *
 * @throws CoplayError for unknown options, and for games of another form
 */
export function lola(given: LolaOptions): Lola {
  checkRecord('lola', 'options', given);
  const { game, ...options } = given;
  checkMatrixGame('lola', game);
  const { learners, discount, stepSize, lookAhead, spread, seed } = checkOptions('lola', schema, options);
  const rules = iteratedGame(game, discount);
  const generator = createGenerator(streamSeed(seed, 'lola'));
  const draw = () => Float64Array.from({ length: MEMORIES }, () => spread * generator.normal());
  const parameters: readonly [Float64Array, Float64Array] = [draw(), draw()];
  let updates = 0;

  const step = (): void => {
    const found = iteratedGradients(rules, ...parameters);
    const directions = learners.map((learner, player) =>
      lolaGradient(found, player, learner === 'lola' ? lookAhead : 0),
    );
    parameters.forEach((own, player) => {
      for (let s = 0; s < MEMORIES; s++) own[s] += stepSize * directions[player][s];
    });
    updates++;
    checkFinite(`lola.train, step ${updates}`, parameters, 'Take a smaller stepSize or lookAhead.');
  };

  return {
    parameters,
    get updates() {
      return updates;
    },
    meanPayoffs() {
      const { values } = iteratedGradients(rules, ...parameters);
      return [(1 - discount) * values[0], (1 - discount) * values[1]];
    },
    train(steps) {
      checkCount('lola.train', 'steps', steps);
      for (let i = 0; i < steps; i++) step();
    },
    state: () => ({ updates, parameters: parameters.map((own) => own.slice()) }),
    restore(saved) {
      const kept = checkedState(saved);
      parameters.forEach((own, player) => {
        own.set(kept.parameters[player]);
      });
      updates = kept.updates;
    },
  };
}

/** [5] the direction in which a player goes; with a look-ahead of 0 the gradient of its own value. */
function lolaGradient({ gradients, mixed }: IteratedGradients, player: number, lookAhead: number): Float64Array {
  const other = 1 - player;
  const own = gradients[player][player].slice();
  // The gradient of this player's value by the other's parameters, and how the other's gradient of its own value
  // changes with this one's.
  const worth = gradients[player][other];
  const change = (mine: number, its: number) =>
    mixed[other][player === 0 ? mine * MEMORIES + its : its * MEMORIES + mine];
  for (let s = 0; s < MEMORIES; s++) {
    for (let u = 0; u < MEMORIES; u++) own[s] += lookAhead * worth[u] * change(s, u);
  }
  return own;
}

const savedSchema = z.looseObject({
  updates: z.int().min(0),
  parameters: z.array(typedArrays('float64')).length(2, 'the logits of two players'),
});

/** A state's content, if it is a valid one. */
function checkedState(saved: SavedState): Pick<Lola, 'parameters' | 'updates'> {
  checkArgument('lola.restore', 'saved', savedSchema, saved);
  const { parameters, updates } = saved;
  const remedy = 'Give what state() returned.';
  const kept = parameters as unknown as Lola['parameters'];
  for (const own of kept) checkLogits('lola.restore: parameters', own, MEMORIES);
  checkFinite('lola.restore: parameters', kept, remedy);
  return { parameters: kept, updates: updates as number };
}

function checkFinite(where: string, parameters: Lola['parameters'], remedy: string): void {
  if (parameters.every((own) => own.every(Number.isFinite))) return;
  fail(where, 'finite logits', show([...parameters[0], ...parameters[1]]), remedy);
}
