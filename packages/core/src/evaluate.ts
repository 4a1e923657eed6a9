import { z } from 'zod';
import type { ActionSpaces } from './action-spaces';
import type { Agent, Saved, SavedState } from './agent';
import { checkEpisodeLength, checkGame } from './check-game';
import { checkRewards } from './check-rewards';
import { checkOptions } from './errors';
import type { AgentId, AnyGame, Game } from './game';
import { createGenerator, streamSeed } from './generator';
import { createRollout } from './rollout';
import { mean } from './rows';
import { checkAgent, seatAgents } from './seats';
import type { DType } from './typed-arrays';
import { vectorEnv } from './vector-env';
import { yieldToEventLoop } from './yield-to-event-loop';

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  /** Number of episodes; at least 1. Default 1,000 */
  readonly episodes?: number;
  /**
   * Environments played side by side, at least 1; no more than there are episodes. Default 64, or the external game's
   */
  readonly envs?: number;
  /**
   * Seed of games and agents, an integer in [0, 2^53). The games differ from those of a training run with the same
   * seed. Default 0
   */
  readonly seed?: number;
  /**
   * Ends the evaluation between two steps: it rejects with the signal's reason. It is not read while an agent acts or
   * the game steps. Default: the evaluation plays to the end
   */
  readonly signal?: AbortSignal;
}

/** Milliseconds of play between two turns of the event loop, in which a signal can be aborted. */
const TURN_MS = 50;

const schema = z.strictObject({
  episodes: z.int().min(1).default(1000),
  envs: z.int().min(1).optional(),
  seed: z.int().min(0).default(0),
  signal: z.instanceof(AbortSignal, { error: 'an AbortSignal, such as interruptSignal()' }).optional(),
});

/** What {@link evaluate} found. Row i of the arrays is episode i. */
export interface Evaluation {
  readonly agents: readonly AgentId[];
  readonly episodes: number;
  /** [episodes, A] undiscounted sums of rewards; NaN where the agent never played in the episode */
  readonly returns: Float64Array;
  /** [episodes] steps */
  readonly lengths: Int32Array;
  /**
   * Mean return of each agent over the episodes in which it played. An agent that never played is missing, here and
   * below.
   */
  readonly returnMean: Readonly<Record<AgentId, number>>;
  /** Standard error of each mean; NaN of a single episode. */
  readonly returnStandardError: Readonly<Record<AgentId, number>>;
  /** Mean over the agents that played of the mean returns. */
  readonly mean: number;
  readonly lengthMean: number;
  /**
   * Sums of each info per episode and agent, averaged over the episodes in which it played:
   * `infos.caught_stag.agent_0`.
   */
  readonly infos: Readonly<Record<string, Readonly<Record<AgentId, number>>>>;
  /** The same by agent, for `console.table`: mean return, its standard error, each info. */
  readonly byAgent: Readonly<Record<AgentId, Readonly<Record<string, number>>>>;
}

/**
 * Plays whole episodes and reports returns. Every environment plays a number of episodes that is fixed beforehand, so
 * that short episodes are not counted more often than long ones. Agents' memories are put back afterwards.
 *
 * @throws CoplayError for bad numbers, or agents that don't fit the game; the signal's reason where that was aborted
 */
export async function evaluate<Spaces extends ActionSpaces>(
  game: Game<DType, Spaces>,
  agents: readonly Agent<Saved, Spaces>[],
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  checkGame('evaluate', game, 'any', 'play');
  const { episodes, seed, signal, envs = game.external?.envs ?? 64 } = checkOptions('evaluate', schema, options);
  // Checked before their memories are read.
  for (const agent of seatAgents('evaluate', game.agents, agents)) checkAgent('evaluate', agent);
  const memories = agents.map((agent) => (agent.save ? agent.save() : undefined));
  try {
    return await play(game, agents, { episodes, envs: Math.min(envs, episodes), seed, signal });
  } finally {
    for (const [i, agent] of agents.entries()) putBack(agent, memories[i]);
  }
}

function putBack(agent: Pick<Agent, 'restore'>, memory: SavedState | undefined): void {
  if (memory !== undefined) agent.restore?.(memory);
}

async function play<Spaces extends ActionSpaces>(
  game: Game<DType, Spaces>,
  agents: readonly Agent<Saved, Spaces>[],
  { episodes, envs, seed, signal }: z.infer<typeof schema> & { readonly envs: number },
): Promise<Evaluation> {
  const env = vectorEnv(game, { envs, seed: streamSeed(seed, 'evaluate/env') });
  try {
    const rollout = createRollout(env, agents, createGenerator(streamSeed(seed, 'evaluate/agents')));
    const tally = new Tally(game as AnyGame, episodes, envs);
    let turned = performance.now();
    while (!tally.isFull()) {
      if (signal && performance.now() - turned >= TURN_MS) {
        await yieldToEventLoop();
        turned = performance.now();
      }
      signal?.throwIfAborted();
      tally.before(env);
      await rollout.step();
      tally.add(env);
    }
    return tally.result();
  } finally {
    env.close?.();
  }
}

/** Sums rewards and infos per episode until each environment has played its share. */
class Tally {
  private readonly returns: Float64Array;
  private readonly lengths: Int32Array;
  private readonly infoSums: Record<string, Float64Array>;
  private readonly running: Float64Array;
  private readonly runningInfos: Record<string, Float64Array>;
  private readonly runningSteps: Int32Array;
  /** [envs, A] 1 where the agent has played in the present episode */
  private readonly hasPlayed: Uint8Array;
  private readonly next: Int32Array;
  private readonly end: Int32Array;
  private left: number;

  constructor(
    private readonly game: AnyGame,
    private readonly episodes: number,
    envs: number,
  ) {
    const agents = game.agents.length;
    this.returns = new Float64Array(episodes * agents);
    this.lengths = new Int32Array(episodes);
    this.running = new Float64Array(envs * agents);
    this.runningSteps = new Int32Array(envs);
    this.hasPlayed = new Uint8Array(envs * agents);
    const sums = (size: number) => Object.fromEntries(game.infos.map((name) => [name, new Float64Array(size)]));
    this.infoSums = sums(agents);
    this.runningInfos = sums(envs * agents);
    // Environment e owns the episodes [next, end): shares differ by at most one.
    this.next = Int32Array.from({ length: envs }, (_, e) => Math.floor((e * episodes) / envs));
    this.end = Int32Array.from({ length: envs }, (_, e) => Math.floor(((e + 1) * episodes) / envs));
    this.left = episodes;
  }

  isFull(): boolean {
    return this.left === 0;
  }

  /** Before a step: who plays in it. */
  before({ active }: { readonly active: Uint8Array }): void {
    for (let row = 0; row < active.length; row++) this.hasPlayed[row] |= active[row];
  }

  /** After the step: what came of it. */
  add(env: { result: { rewards: Float32Array; infos: Record<string, Float32Array> }; ended: Uint8Array }): void {
    const agents = this.game.agents.length;
    const { rewards, infos } = env.result;
    const nameOf = (e: number) => `environment ${e}, step ${this.runningSteps[e]} of its episode`;
    for (let e = 0; e < this.next.length; e++) {
      if (this.next[e] === this.end[e]) continue;
      checkEpisodeLength('evaluate', this.game, ++this.runningSteps[e]);
      checkRewards('evaluate', this.game, { rewards, rows: 1, first: e, source: 'step() of the game' }, nameOf);
      for (let row = e * agents; row < (e + 1) * agents; row++) {
        this.running[row] += rewards[row];
        for (const name in infos) this.runningInfos[name][row] += infos[name][row];
      }
      if (env.ended[e] === 1) this.close(e);
    }
  }

  result(): Evaluation {
    const { game, episodes, returns } = this;
    const { agents } = game;
    const played = agents.map((_, seat) => playedReturns(returns, seat, agents.length));
    const seats = agents.map((_, seat) => seat).filter((seat) => played[seat].length > 0);
    const perAgent = (f: (seat: number) => number) =>
      Object.fromEntries(seats.map((seat) => [agents[seat], f(seat)] as const));
    const means = played.map(mean);
    const returnMean = perAgent((seat) => means[seat]);
    const returnStandardError = perAgent((seat) => standardError(played[seat], means[seat]));
    const infos = Object.fromEntries(
      game.infos.map((name) => [name, perAgent((seat) => this.infoSums[name][seat] / played[seat].length)]),
    );
    const rowOf = (id: AgentId) => ({
      return: returnMean[id],
      'standard error': returnStandardError[id],
      ...Object.fromEntries(game.infos.map((name) => [name, infos[name][id]])),
    });
    return {
      agents,
      episodes,
      returns,
      lengths: this.lengths,
      returnMean,
      returnStandardError,
      mean: mean(seats.map((seat) => means[seat])),
      lengthMean: mean(this.lengths),
      infos,
      byAgent: Object.fromEntries(seats.map((seat) => [agents[seat], rowOf(agents[seat])])),
    };
  }

  private close(e: number): void {
    const agents = this.game.agents.length;
    const episode = this.next[e]++;
    this.lengths[episode] = this.runningSteps[e];
    this.runningSteps[e] = 0;
    this.left--;
    for (let seat = 0; seat < agents; seat++) {
      const row = e * agents + seat;
      this.returns[episode * agents + seat] = this.hasPlayed[row] === 1 ? this.running[row] : Number.NaN;
      this.running[row] = 0;
      this.hasPlayed[row] = 0;
      for (const name in this.runningInfos) {
        this.infoSums[name][seat] += this.runningInfos[name][row];
        this.runningInfos[name][row] = 0;
      }
    }
  }
}

/** One agent's returns of the episodes in which it played. */
function playedReturns(returns: Float64Array, seat: number, agents: number): Float64Array {
  return returns.filter((value, i) => i % agents === seat && !Number.isNaN(value));
}

function standardError(values: Float64Array, mean: number): number {
  const count = values.length;
  if (count < 2) return Number.NaN;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1) / count);
}
