import {
  type ArrayOf,
  type DType,
  type Experience,
  type Generator,
  type ImaginationStarts,
  imagine,
  type Metrics,
  type Simulator,
  startsFrom,
} from '@coplay/core';
import { nonZero, seatRows, takeRows } from '@coplay/core/rows';
import { anneal } from '../training/annealed';
import { hasWholePast } from '../world-model';
import { copiedCoPlayer, type ImaginedPlayer, modelledCoPlayer } from './co-players';
import { GOAL_PRIORS, MEMORY, type ResolvedImagined } from './options';
import { extraAt, HopPlusPolicyAgent } from './policy';
import type { HopPlusPlayers } from './setup';

/** How far a learner imagines in an update. */
export interface ImaginationGate {
  /** H; 0 where nothing is imagined yet */
  readonly horizon: number;
  readonly metrics: Metrics;
}

/**
 * The gates: a staged start, the world model's accuracy, and the length for which the worst model of a co-player is
 * trusted.
 *
 * @param worldAccuracy  1 for the rules
 * @param coPlayers      accuracy of the model of each co-player; none where they aren't modelled
 */
export function imaginationGate(
  options: ResolvedImagined,
  updates: number,
  worldAccuracy: number,
  coPlayers: readonly number[],
): ImaginationGate {
  const trust = Math.min(1, ...coPlayers.map((accuracy) => accuracy / options.moaAccuracy));
  const isOpen = updates >= options.startUpdates && worldAccuracy >= options.minAccuracy;
  const horizon = isOpen ? Math.round(trust * options.horizon) : 0;
  return { horizon, metrics: { 'imagined/is_open': isOpen ? 1 : 0, 'imagined/horizon': horizon } };
}

/** Arguments of {@link imagineFrom} that are the same for all agents of a learner. */
export interface ImaginationParts {
  readonly learner: HopPlusPlayers;
  readonly simulator: Simulator;
  readonly options: ResolvedImagined;
  /** Share of the training that is done, in [0, 1]. */
  readonly progress: number;
}

/** Children of the generator. */
const SPLITS = { starts: 0, goals: 1, play: 2 };

/**
 * Episodes that one agent imagines from steps of real experience on, with its own policy and subgoals.
 *
 * @returns undefined where it never played, or where no step has its whole past in the experience
 */
export async function imagineFrom(
  parts: ImaginationParts,
  experience: Experience,
  seat: number,
  horizon: number,
  generator: Generator,
): Promise<Experience | undefined> {
  const { learner, simulator, options } = parts;
  const { game } = learner.setup;
  const count = Math.max(1, Math.round((options.ratio * experience.envs * experience.steps) / horizon));
  const own = generator.fork();
  const { worldModel } = learner.setup;
  const history = typeof worldModel === 'object' ? (worldModel.model.history ?? 0) : 0;
  const starts = drawStarts(simulator, history, experience, seat, count, own.split(SPLITS.starts));
  if (!starts) return undefined;
  const goals = own.split(SPLITS.goals);
  const players = game.agents.map((_, player) => {
    return player === seat
      ? ownPlayer(learner, experience, seat, starts)
      : coPlayer(parts, experience, seat, player, starts, goals);
  });
  return imagine(
    simulator,
    players.map(({ agent }) => agent),
    starts,
    { horizon, generator: own.split(SPLITS.play), agentStates: players.map(({ state }) => state) },
  );
}

function ownPlayer(learner: HopPlusPlayers, experience: Experience, seat: number, starts: Starts): ImaginedPlayer {
  const agent = policyAgent(learner, experience, seat, starts);
  const memory = experience.extras[MEMORY];
  if (!learner.coPlayerModelsOf(seat).omg || !memory) return { agent, state: agent.initialState(starts.rows.length) };
  return { agent, state: extraAt(memory, experience.agents.length, seat, starts.rows) };
}

/** The policy of a seat, which reads the priors over goals as they were at the start. */
function policyAgent(learner: HopPlusPlayers, { extras, agents }: Experience, seat: number, { rows }: Starts) {
  const { game, priorSize } = learner.setup;
  const priors = priorSize > 0 ? extraAt(extras[GOAL_PRIORS], agents.length, seat, rows) : undefined;
  return new HopPlusPolicyAgent(game.agents[seat], learner, priors && (() => priors));
}

function coPlayer(
  { learner, options, progress }: ImaginationParts,
  experience: Experience,
  seat: number,
  player: number,
  starts: Starts,
  generator: Generator,
): ImaginedPlayer {
  const { game } = learner.setup;
  const id = game.agents[player];
  const { moa, omg } = learner.coPlayerModelsOf(seat);
  if (moa) {
    const chance = options.goals === 'unknown' ? undefined : anneal(options.uniformGoals, progress);
    return modelledCoPlayer(moa, id, game, starts, chance, generator.split(player));
  }
  if (!learner.ids.includes(id)) return copiedCoPlayer(learner, id, omg?.subgoalSize ?? 0);
  const agent = policyAgent(learner, experience, player, starts);
  return { agent, state: agent.initialState(starts.rows.length) };
}

/** Steps of real experience from which an agent imagines episodes. */
interface Starts extends ImaginationStarts {
  /** [B] rows e T + t of the experience */
  readonly rows: Int32Array;
  /** [B, S] states of the game itself, where the experience has them */
  readonly real: ArrayOf<DType> | undefined;
}

/**
 * Draws steps in which the agent was playing, each with the same chance, with replacement: of those whose past steps,
 * as far as the world model reads them, are in the experience. It has learned from no others.
 *
 * @param history  L, past steps that the world model reads
 * @returns undefined where there is no such step
 */
function drawStarts(
  simulator: Simulator,
  history: number,
  experience: Experience,
  seat: number,
  count: number,
  generator: Generator,
): Starts | undefined {
  const { active, agents, states } = experience;
  const all = nonZero(seatRows(active, seat, agents.length).data);
  const played = all.filter((step) => hasWholePast(experience, step, history));
  if (played.length === 0) return undefined;
  const rows = Int32Array.from({ length: count }, () => played[generator.integer(played.length)]);
  const real = states && takeRows(states.data, rows, states.shape[2]);
  return { rows, real, ...startsFrom(simulator, experience, rows, seat) };
}
