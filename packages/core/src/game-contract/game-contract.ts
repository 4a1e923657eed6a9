import { z } from 'zod';
import { checkGame, refuseExternal } from '../check-game';
import { checkOptions, fail, show } from '../errors';
import type { AnyGame } from '../game';
import { splitSeed, streamSeed } from '../generator';
import { checkAllocation } from './allocation';
import { checkDescription } from './description';
import { Findings, Unplayable, type Violation } from './findings';
import { checkGoalsReached } from './goals';
import { checkCopies, checkPictureCopies } from './interleave';
import { checkLayout, checkScene } from './pictures';
import { playEpisode, type Transition } from './play';
import { Probe } from './probe';
import { checkDeterminism, checkIgnored } from './replay';

/** Options of {@link assertGame}. */
export interface AssertGameOptions {
  /** Episodes that are played at random, 1 or more. Default 10 */
  readonly episodes?: number | undefined;
  /** Seed of the play, an integer in [0, 2^53). Default 0 */
  readonly seed?: number | undefined;
}

/** Options of {@link gameContract}. */
export interface GameContractOptions extends AssertGameOptions {
  /**
   * Whether to measure the memory that a step allocates (in Node). Default true. {@link assertGame} never measures it.
   * In a process that has run much other code, the engine may allocate for numbers that it keeps in registers
   * elsewhere: choose false in tests
   */
  readonly allocation?: boolean | undefined;
}

const schema = z
  .object({
    episodes: z.int().min(1).default(10),
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
    allocation: z.boolean().default(true),
  })
  .strict();

/**
 * Checks a game against the contract of {@link Game} by playing it at random, with legal and illegal actions: what it
 * writes and where, masks, active agents, ends, goals, determinism, that only the state carries over from call to call
 * (another episode is played in between), and (in Node) that a step allocates no memory.
 *
 * It can't prove a game right: rules that random play doesn't reach aren't tried. Give more episodes for rare events.
 *
 * @returns the findings: the first case of each rule in each function; empty for a sound game that is fast. A broken
 *          rule has the severity `error`, a cause of slowness has `warning`
 * @throws CoplayError for bad options, and for an external game, whose states can't be copied
 */
export function gameContract(game: AnyGame, options: GameContractOptions = {}): Violation[] {
  const { episodes, seed, allocation } = checkOptions('gameContract', schema, options);
  const own = streamSeed(seed, 'gameContract');
  const findings = new Findings(typeof game?.name === 'string' ? game.name : 'game');
  if (game === undefined || game === null) checkGame('gameContract', game, 'any');
  if (game.external !== undefined) refuseExternal('gameContract', game.name);
  if (!checkDescription(game, findings)) return findings.violations;
  const probe = new Probe(game, findings);
  try {
    let transitions: Transition[] = [];
    let other: Transition[] | undefined;
    const states = new Map<string, string>();
    for (let i = 0; i < episodes; i++) {
      const seed = splitSeed(own, i);
      transitions = playEpisode(probe, seed, i);
      checkScene(probe);
      checkGoalsReached(probe, transitions);
      if (game.observesState) checkSeenStates(probe, transitions, states);
      other ??= playEpisode(probe, splitSeed(own, episodes), episodes);
      checkEpisode(probe, seed, transitions, other);
    }
    if (allocation) checkAllocation(game, findings, transitions[Math.floor(transitions.length / 2)]);
  } catch (error) {
    if (!(error instanceof Unplayable)) throw error;
  }
  return findings.violations;
}

/** Checks an episode that was played, with another one at hand. */
function checkEpisode(probe: Probe, seed: number, transitions: Transition[], other: readonly Transition[]): void {
  checkDeterminism(probe, seed, transitions);
  checkCopies(probe, transitions, other);
  checkIgnored(probe, transitions);
  checkLayout(probe, seed);
  checkPictureCopies(probe, seed, other);
}

/**
 * Notes two states that look the same to an agent after the same number of steps.
 *
 * @param states  the states seen so far, by what was seen of them; added to
 */
function checkSeenStates(
  { game, findings }: Probe,
  transitions: readonly Transition[],
  states: Map<string, string>,
): void {
  transitions.forEach(({ before, views }, elapsed) => {
    views.forEach(({ sight, isActive }, agent) => {
      if (!isActive) return;
      const seen = JSON.stringify([elapsed, agent, sight]);
      const state = before.join();
      const known = states.get(seen) ?? state;
      states.set(seen, known);
      if (known === state) return;
      const got = `two, which differ and look the same to ${game.agents[agent]}: ${known} and ${state}`;
      const remedy = 'Show all of the state in the observation, or leave observesState out.';
      findings.add('observation', 'observesState', 'one state for each observation and number of steps', got, remedy);
    });
  });
}

/**
 * Throws unless a game keeps the contract: for tests. `assertGame(myGame())`. Warnings of {@link gameContract} pass.
 *
 * @throws CoplayError that names the first error, and how many more there are; also for unknown options, and for
 *         `allocation`
 */
export function assertGame(game: AnyGame, options: AssertGameOptions = {}): void {
  if (typeof game !== 'object' || game === null) checkGame('assertGame', game, 'any');
  const { allocation } = (options ?? {}) as GameContractOptions;
  if (allocation !== undefined) {
    const remedy = 'A shared process gives false findings: call gameContract(game) in a process of its own.';
    fail('assertGame: option allocation', 'no such option', show(allocation), remedy);
  }
  const checked = checkOptions('assertGame', schema.omit({ allocation: true }), options);
  const violations = gameContract(game, { ...checked, allocation: false });
  if (violations.length === 0) return;
  const [{ rule, where, expected, got, remedy }] = violations;
  const more = violations.length > 1 ? ` gameContract() lists ${violations.length - 1} more.` : '';
  fail(where, expected, got, `${remedy} (rule: ${rule})${more}`);
}
