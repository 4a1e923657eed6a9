import { z } from 'zod';
import {
  type ActionArray,
  type ActionLayout,
  type ActionSpaces,
  actionLayout,
  choicesOf,
  maskSizeOf,
} from './action-spaces';
import { allocate } from './arrays';
import { checkGame } from './check-game';
import { checkRewards } from './check-rewards';
import { allocateStepArrays, readStart } from './env-rows';
import { checkOptions, fail } from './errors';
import { allocateObservations } from './experience';
import type { AgentId, Game, StepArrays } from './game';
import { createGenerator, type Generator } from './generator';
import { type ParallelAction, readActions } from './parallel-actions';
import type { ArrayOf, DType, TypedArray } from './typed-arrays';

/** Options of {@link parallelEnv}. */
export interface ParallelEnvOptions {
  /** Seed of everything, an integer in [0, 2^53). Default 0 */
  readonly seed?: number | undefined;
}

/** Options of {@link ParallelEnv.reset}. Each option takes effect in this call. */
export interface ParallelResetOptions {
  /** Starts the random stream anew, an integer in [0, 2^53); without it the stream runs on. */
  readonly seed?: number | undefined;
  /** PettingZoo's name for the options of an episode. */
  readonly options?:
    | {
        /** A map of the game to start from instead of a random state. */
        readonly layout?: unknown;
      }
    | undefined;
}

/**
 * One agent's observation: each field of `game.observation` as a flat array of its dtype (row-major, the shape is in
 * the spec), and `mask` [K], 1 where an action is legal (of the agent's own space; empty for a box). A field of the
 * game named `mask` would be replaced by it.
 */
export type AgentObservation = Record<string, TypedArray> & { mask: Uint8Array };

/** What {@link ParallelEnv.reset} returns, for every agent in `agents`. */
export interface ParallelReset {
  readonly observations: Record<AgentId, AgentObservation>;
  readonly infos: Record<AgentId, Record<string, number>>;
}

/** What {@link ParallelEnv.step} returns, for exactly the agents that were alive before the step. */
export interface ParallelStep {
  readonly observations: Record<AgentId, AgentObservation>;
  readonly rewards: Record<AgentId, number>;
  /** true where the agent ended by the rules */
  readonly terminations: Record<AgentId, boolean>;
  /** true where a time limit cut an agent that was still playing */
  readonly truncations: Record<AgentId, boolean>;
  /** The numbers named in `game.infos` */
  readonly infos: Record<AgentId, Record<string, number>>;
}

/**
 * One environment with records keyed by agent, as in PettingZoo's parallel API. Everything returned is fresh and yours
 * to keep or change. For speed use `vectorEnv`.
 */
export interface ParallelEnv<State extends DType = DType, Spaces extends ActionSpaces = number> {
  readonly game: Game<State, Spaces>;
  /** Every id of the game, in the game's order; constant. */
  readonly possibleAgents: readonly AgentId[];
  /** The ids that still play, a fresh list; empty before the first `reset` and when the episode is over. */
  readonly agents: AgentId[];
  /**
   * Starts an episode.
   *
   * @throws CoplayError for an unknown option, a bad seed or layout; the episode before then goes on unharmed
   */
  reset(options?: ParallelResetOptions): ParallelReset;
  /**
   * Plays one step. There is no autoreset. When everyone has left, an empty record returns empty records.
   *
   * @param actions  a whole number in 0..K-1 for each id in `agents`, and for no other id; in other spaces the values
   *                 of the action as a list, row-major
   * @throws CoplayError for anything else, naming the agent, before anything has changed; and for actions after the end
   */
  step(actions: Readonly<Record<AgentId, ParallelAction<Spaces>>>): ParallelStep;
  /** A copy of the state, for renderers and `game.scene`. */
  state(): ArrayOf<State>;
}

const seedSchema = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();
const envSchema = z.object({ seed: seedSchema }).strict();
const resetSchema = z.object({ seed: seedSchema, options: z.unknown().optional() }).strict();
const gameOptionsSchema = z.object({ layout: z.unknown().optional() }).strict();

/**
 * One environment of a game, for play by name: `parallelEnv(game, { seed: splitSeed(s, i) })` plays exactly as
 * environment i of `vectorEnv(game, { seed: s })`. Call `reset` before the first `step`.
 *
 * @throws CoplayError for an unknown option or a bad seed
 */
export function parallelEnv<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  options: ParallelEnvOptions = {},
): ParallelEnv<State, Spaces> {
  checkGame('parallelEnv', game, 'any');
  const { seed = 0 } = checkOptions('parallelEnv', envSchema, options);
  const env: ParallelEnv<State, ActionSpaces> = new SingleEnv(
    game as unknown as Game<State, ActionSpaces>,
    createGenerator(seed),
  );
  return env as unknown as ParallelEnv<State, Spaces>;
}

class SingleEnv<State extends DType> implements ParallelEnv<State, ActionSpaces> {
  readonly possibleAgents: readonly AgentId[];
  private readonly current: ArrayOf<State>;
  private readonly layout: ActionLayout;
  private readonly result: StepArrays;
  /** [A] true where the agent plays */
  private alive: boolean[];
  private hasStarted = false;

  constructor(
    readonly game: Game<State, ActionSpaces>,
    private generator: Generator,
  ) {
    this.possibleAgents = Object.freeze([...game.agents]);
    this.layout = actionLayout(game);
    this.current = allocate(game.stateType, game.stateSize);
    this.result = allocateStepArrays(game, 1);
    this.alive = game.agents.map(() => false);
  }

  get agents(): AgentId[] {
    return this.possibleAgents.filter((_, i) => this.alive[i]);
  }

  reset(options: ParallelResetOptions = {}): ParallelReset {
    const { seed, options: given } = checkOptions('parallelEnv.reset', resetSchema, options);
    const { layout } = checkOptions('parallelEnv.reset: options', gameOptionsSchema, given);
    const generator = seed === undefined ? this.generator : createGenerator(seed);
    this.begin(generator, layout);
    this.generator = generator;
    this.hasStarted = true;
    this.alive = this.possibleAgents.map((_, i) => this.game.isActive(this.current, 0, i));
    return {
      observations: this.collect(this.alive, (i) => this.look('parallelEnv.reset', i)),
      infos: this.collect(this.alive, () => Object.fromEntries(this.game.infos.map((name) => [name, 0]))),
    };
  }

  step(actions: Readonly<Record<AgentId, ParallelAction<ActionSpaces>>>): ParallelStep {
    if (!this.hasStarted) fail('parallelEnv.step', 'reset() before the first step', 'a step', 'Call reset().');
    const played: ActionArray = readActions(this.game, this.layout, this.alive, actions);
    const before = this.alive;
    const { game, result } = this;
    if (before.includes(true)) game.step(this.current, 0, played, 0, this.generator, result, 0);
    const { rewards, terminated, truncated, infos } = result;
    checkRewards('parallelEnv.step', game, { rewards, rows: 1, source: 'step() of the game' }, () => {
      return `step ${game.elapsed(this.current, 0)}`;
    });
    this.alive = before.map((wasAlive, i) => wasAlive && terminated[i] === 0 && truncated[i] === 0);
    return {
      observations: this.collect(before, (i) => this.look('parallelEnv.step', i)),
      rewards: this.collect(before, (i) => rewards[i]),
      terminations: this.collect(before, (i) => terminated[i] === 1),
      truncations: this.collect(before, (i) => truncated[i] === 1),
      infos: this.collect(before, (i) => Object.fromEntries(game.infos.map((name) => [name, infos[name][i]]))),
    };
  }

  state(): ArrayOf<State> {
    return this.current.slice() as ArrayOf<State>;
  }

  /** Writes the first state; when the layout is refused, the state is still the one of before. */
  private begin(generator: Generator, layout: unknown): void {
    const { game } = this;
    if (layout === undefined) {
      game.reset(this.current, 0, generator);
      return;
    }
    const fresh = allocate(game.stateType, game.stateSize);
    readStart('parallelEnv.reset', game, layout, fresh);
    this.current.set(fresh);
  }

  /** A record with one entry for each chosen agent. */
  private collect<T>(chosen: readonly boolean[], entry: (agent: number) => T): Record<AgentId, T> {
    // fromEntries also takes an agent called __proto__ as a name like any other.
    return Object.fromEntries(
      this.possibleAgents.flatMap((id, i) => (chosen[i] ? [[id, entry(i)] as const] : [])),
    ) as Record<AgentId, T>;
  }

  private look(where: string, agent: number): AgentObservation {
    const { game, current } = this;
    const space = this.layout.spaces[agent];
    const fields = allocateObservations(game.observation, 1);
    const mask = new Uint8Array(maskSizeOf(space));
    game.observe(current, 0, agent, fields, 0);
    game.legal(current, 0, agent, mask, 0);
    if (this.alive[agent] && choicesOf(space).length > 0 && !mask.includes(1)) {
      const moment = `step ${game.elapsed(current, 0)} of ${game.name}`;
      const expected = `a legal action for ${this.possibleAgents[agent]} after ${moment}`;
      fail(where, expected, 'a mask of zeros', 'Let legal() of the game always allow something, such as staying.');
    }
    return { ...fields, mask };
  }
}
