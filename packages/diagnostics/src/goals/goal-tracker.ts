import {
  type ArrayOf,
  allocate,
  checkGame,
  checkOptions,
  type DType,
  type Experience,
  fail,
  type Game,
  type GoalSet,
  type Metrics,
} from '@coplay/core';
import { checkExperienceOf, reachedGoal } from '@coplay/core/checks';
import { z } from 'zod';

/** Options of {@link goalTracker}. */
export interface GoalTrackerOptions {
  /** A game with goals that are recognised without states. */
  readonly game: Game;
  /** E, the environments whose steps it receives; at least 1 */
  readonly envs: number;
  /**
   * Episodes of each environment that count, at least 1: with a number, short episodes aren't counted more often than
   * long ones. Default: all
   */
  readonly perEnv?: number;
}

const schema = z.strictObject({
  game: z.custom<Game>((value) => typeof value === 'object' && value !== null, { error: 'a game, such as stagHunt()' }),
  envs: z.int().min(1),
  perEnv: z.int().min(1).optional(),
});

/** Says which goals the agents of a game reach together, when, and in which order. */
export interface GoalTracker {
  /**
   * Takes the next steps of the environments.
   *
   * @returns metrics over the episodes that ended in these steps; empty if none did. See {@link goalTracker}
   */
  add(experience: Experience): Metrics;
}

/** What happened in an episode so far. */
interface Episode {
  steps: number;
  /** [G] the step, counted from 1, in which some agent first reached the goal; 0 before */
  readonly first: Int32Array;
  /** [G] agents that reached the goal */
  readonly reached: Int32Array;
  /** [G, G] agents that reached the second goal in a later step than the first goal was first reached */
  readonly after: Int32Array;
  /** [G, A + 1] steps in which so many agents reached the goal at once */
  readonly together: Int32Array;
}

/**
 * Follows episodes through experience and reports the goals that agents reach (`game.goals`): for `onRollout` of
 * `selfPlay`, or for the experience of a rollout with trained agents. For each goal of the game:
 *
 * - `goals/GOAL/missed`: share of the episodes in which no agent reached it
 * - `goals/GOAL/reached`: agents that reached it, per episode
 * - `goals/GOAL/step`: mean step in which an agent first reached it, over the episodes in which one did
 * - `goals/GOAL/by_N`: of the steps in which agents reached it, the share in which N did at once
 * - `goals/GOAL/after_OTHER`: agents that reached it later than OTHER was first reached, per episode in which OTHER was
 *
 * @throws CoplayError for a game without goals, and for goals with `readsStates`
 */
export function goalTracker(options: GoalTrackerOptions): GoalTracker {
  const { game, envs, perEnv = Number.POSITIVE_INFINITY } = checkOptions('goalTracker', schema, options);
  checkGame('goalTracker: option game', game);
  const goals = goalsOf(game);
  const episodes = Array.from({ length: envs }, () => begin(game, goals));
  const counts = new Int32Array(envs);
  return {
    add(experience) {
      checkExperienceOf('goalTracker.add', game, experience);
      if (experience.envs !== envs) {
        const remedy = 'Give the rollouts of one batch of environments.';
        fail('goalTracker.add: experience.envs', String(envs), String(experience.envs), remedy);
      }
      const ended: Episode[] = [];
      for (let env = 0; env < envs; env++) {
        for (let t = 0; t < experience.steps; t++) {
          addStep(game, goals, episodes[env], experience, env * experience.steps + t);
          if (experience.ended[env * experience.steps + t] === 0) continue;
          if (counts[env] < perEnv) ended.push(episodes[env]);
          counts[env]++;
          episodes[env] = begin(game, goals);
        }
      }
      return metricsOf(goals.names, ended);
    },
  };
}

function goalsOf({ goals, name }: Game): GoalSet {
  const expected = 'a game with goals that are recognised without states';
  if (!goals) fail('goalTracker', expected, `${name}, which has none`, 'Give the game goals (examples/own-goals.ts).');
  if (goals.readsStates) {
    fail('goalTracker', expected, `${name}, whose goals have readsStates`, 'Recognise them by action and observation.');
  }
  return goals;
}

function begin({ agents }: Game, { names }: GoalSet): Episode {
  const G = names.length;
  return {
    steps: 0,
    first: new Int32Array(G),
    reached: new Int32Array(G),
    after: new Int32Array(G * G),
    together: new Int32Array(G * (agents.length + 1)),
  };
}

/** Adds step `step` (e T + t) of an experience to the episode. */
function addStep(game: Game, goals: GoalSet, episode: Episode, experience: Experience, step: number): void {
  const A = game.agents.length;
  const G = goals.names.length;
  const nothing: ArrayOf<DType> = allocate(game.stateType, 0);
  const now = new Int32Array(G);
  for (let agent = 0; agent < A; agent++) {
    const row = step * A + agent;
    if (experience.active[row] === 0) continue;
    const goal = reachedGoal(`goals.reached of ${game.name}`, goals, {
      agent,
      action: experience.actions[row],
      left: experience.terminated[row] === 1,
      observations: experience.observations,
      row,
      before: nothing,
      after: nothing,
    });
    if (goal >= 0) now[goal]++;
  }
  episode.steps++;
  for (let goal = 0; goal < G; goal++) {
    if (now[goal] === 0) continue;
    episode.reached[goal] += now[goal];
    episode.together[goal * (A + 1) + now[goal]]++;
    for (let other = 0; other < G; other++) {
      if (episode.first[other] > 0) episode.after[other * G + goal] += now[goal];
    }
  }
  // Only now: what is reached in the same step isn't reached later.
  for (let goal = 0; goal < G; goal++)
    if (now[goal] > 0 && episode.first[goal] === 0) episode.first[goal] = episode.steps;
}

function metricsOf(names: readonly string[], episodes: readonly Episode[]): Metrics {
  const metrics: Metrics = {};
  if (episodes.length === 0) return metrics;
  const G = names.length;
  const sum = (of: (episode: Episode) => number) => episodes.reduce((total, episode) => total + of(episode), 0);
  for (const [goal, name] of names.entries()) {
    const reaching = sum(({ first }) => (first[goal] > 0 ? 1 : 0));
    metrics[`goals/${name}/missed`] = 1 - reaching / episodes.length;
    metrics[`goals/${name}/reached`] = sum(({ reached }) => reached[goal]) / episodes.length;
    if (reaching === 0) continue;
    metrics[`goals/${name}/step`] = sum(({ first }) => first[goal]) / reaching;
    const size = episodes[0].together.length / G;
    const together = Array.from({ length: size }, (_, n) => sum((episode) => episode.together[goal * size + n]));
    const all = together.reduce((total, steps) => total + steps, 0);
    together.forEach((steps, n) => {
      if (steps > 0) metrics[`goals/${name}/by_${n}`] = steps / all;
    });
    for (const [later, laterName] of names.entries()) {
      if (later === goal) continue;
      metrics[`goals/${laterName}/after_${name}`] = sum(({ after }) => after[goal * G + later]) / reaching;
    }
  }
  return metrics;
}
