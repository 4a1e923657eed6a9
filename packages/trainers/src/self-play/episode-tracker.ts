import {
  type ActionSpaces,
  type AgentId,
  type Experience,
  fail,
  type Metrics,
  type SavedState,
  show,
} from '@coplay/core';
import { checkArgument, checkCount, checkExperience, checkNumbers, typedArrays } from '@coplay/core/checks';
import { mapColumns } from '@coplay/core/rows';
import { z } from 'zod';

/** Sums up episodes while they stream by in rollouts. One that is broken off by a reset counts for nothing. */
export interface EpisodeTracker {
  /** Takes in a rollout; the figures of the episodes that ended in it, none if none did. */
  add(experience: Experience<ActionSpaces>): Metrics;
  /** Episodes that have ended since the start. */
  readonly count: number;
  state(): SavedState;
  restore(saved: SavedState): void;
}

const RESTORE = 'episodeTracker.restore';
const savedSchema = z.looseObject({
  returns: typedArrays('float64'),
  lengths: typedArrays('int32'),
  hasPlayed: typedArrays('uint8'),
  infos: z.record(z.string(), typedArrays('float64')),
  count: z.int().min(0),
});

/**
 * Means over the episodes that ended within one rollout: `episode/return/<id>` of each agent over those in which it
 * played, `episode/return_mean` over the agents that did, `episode/length`, `episode/<info>` (sum over an episode, mean
 * over episodes and the agents that played in them), and `episode/count`. An agent that never played has no return.
 */
export function episodeTracker(ids: readonly AgentId[], envs: number): EpisodeTracker {
  checkArgument('episodeTracker', 'ids', idsSchema, ids);
  checkCount('episodeTracker', 'envs', envs, 1);
  const agents = ids.length;
  const returns = new Float64Array(envs * agents);
  const lengths = new Int32Array(envs);
  const hasPlayed = new Uint8Array(envs * agents);
  let infos: Record<string, Float64Array> = {};
  let count = 0;

  const forget = (e: number): void => {
    returns.fill(0, e * agents, (e + 1) * agents);
    hasPlayed.fill(0, e * agents, (e + 1) * agents);
    lengths[e] = 0;
    for (const name in infos) infos[name][e] = 0;
  };

  const add = (experience: Experience<ActionSpaces>): Metrics => {
    checkStream(experience, ids, envs);
    const ended = new Ended(ids);
    const infoNames = Object.keys(experience.extras).filter((name) => name.startsWith('info/'));
    for (const name of infoNames) infos[name] ??= new Float64Array(envs);
    for (let e = 0; e < experience.envs; e++) {
      for (let t = 0; t < experience.lengths[e]; t++) {
        const step = e * experience.steps + t;
        if (experience.isFirst[step] === 1) forget(e); // a reset broke off the pending episode
        lengths[e]++;
        for (let a = 0; a < agents; a++) {
          returns[e * agents + a] += experience.rewards[step * agents + a];
          hasPlayed[e * agents + a] |= experience.active[step * agents + a];
        }
        for (const name of infoNames) infos[name][e] += sumOf(experience.extras[name].data, step * agents, agents);
        if (experience.ended[step] === 0) continue;
        const [from, to] = [e * agents, (e + 1) * agents];
        ended.take(returns.subarray(from, to), hasPlayed.subarray(from, to), lengths[e], infos, e);
        forget(e);
      }
    }
    count += ended.count;
    return ended.metrics();
  };

  return {
    add,
    get count() {
      return count;
    },
    state: () => ({
      returns: returns.slice(),
      lengths: lengths.slice(),
      hasPlayed: hasPlayed.slice(),
      infos: copyAll(infos),
      count,
    }),
    restore: (saved) => {
      checkArgument(RESTORE, 'saved', savedSchema, saved);
      checkNumbers(RESTORE, 'saved.returns', saved['returns'], { length: returns.length });
      checkNumbers(RESTORE, 'saved.lengths', saved['lengths'], { length: lengths.length, min: 0 });
      checkNumbers(RESTORE, 'saved.hasPlayed', saved['hasPlayed'], { length: hasPlayed.length, max: 1 });
      const given = saved['infos'] as SavedState;
      // Before the first rollout there are none.
      const missing = Object.keys(given).length > 0 && Object.keys(infos).find((name) => !Object.hasOwn(given, name));
      if (missing)
        fail(`${RESTORE}: saved.infos`, missing, Object.keys(given).join(', '), 'Give what state() returned.');
      for (const [name, values] of Object.entries(given)) {
        checkNumbers(RESTORE, `saved.infos.${name}`, values, { length: envs });
      }
      returns.set(saved['returns'] as Float64Array);
      lengths.set(saved['lengths'] as Int32Array);
      hasPlayed.set(saved['hasPlayed'] as Uint8Array);
      infos = copyAll(saved['infos'] as Record<string, Float64Array>);
      count = saved['count'] as number;
    },
  };
}

const idsSchema = z.array(z.string()).min(1);

/** Refuses experience of other agents or environments. */
function checkStream(experience: Experience<ActionSpaces>, ids: readonly AgentId[], envs: number): void {
  const where = 'episodeTracker.add: experience';
  checkExperience('episodeTracker.add', experience, 'experience', 'any');
  const remedy = 'Give the rollouts of one batch of environments.';
  if (experience.envs !== envs) fail(`${where}.envs`, String(envs), show(experience.envs), remedy);
  const { agents } = experience;
  if (agents.join() !== ids.join()) fail(`${where}.agents`, show(ids), show(agents), remedy);
}

/** Sums over the episodes that ended in one rollout. */
class Ended {
  count = 0;
  private readonly returns: Float64Array;
  /** [A] episodes in which the agent played */
  private readonly played: Int32Array;
  private readonly infos: Record<string, number> = {};
  private length = 0;

  constructor(private readonly ids: readonly AgentId[]) {
    this.returns = new Float64Array(ids.length);
    this.played = new Int32Array(ids.length);
  }

  /** Adds an episode. */
  take(
    returns: Float64Array,
    hasPlayed: Uint8Array,
    length: number,
    infos: Record<string, Float64Array>,
    env: number,
  ): void {
    this.count++;
    this.length += length;
    for (let a = 0; a < returns.length; a++) {
      if (hasPlayed[a] === 0) continue;
      this.returns[a] += returns[a];
      this.played[a]++;
    }
    for (const name in infos) this.infos[name] = (this.infos[name] ?? 0) + infos[name][env];
  }

  metrics(): Metrics {
    const { count, ids, played } = this;
    const metrics: Metrics = { 'episode/count': count };
    if (count === 0) return metrics;
    const seats = ids.map((_, seat) => seat).filter((seat) => played[seat] > 0);
    const means = seats.map((seat) => this.returns[seat] / played[seat]);
    for (const [i, seat] of seats.entries()) metrics[`episode/return/${ids[seat]}`] = means[i];
    metrics['episode/length'] = this.length / count;
    if (seats.length === 0) return metrics;
    metrics['episode/return_mean'] = means.reduce((sum, mean) => sum + mean, 0) / seats.length;
    const playedInAll = played.reduce((sum, episodes) => sum + episodes, 0);
    for (const name in this.infos) metrics[`episode/${name.slice('info/'.length)}`] = this.infos[name] / playedInAll;
    return metrics;
  }
}

function sumOf(data: ArrayLike<number>, start: number, count: number): number {
  let sum = 0;
  for (let i = start; i < start + count; i++) sum += data[i];
  return sum;
}

function copyAll(arrays: Record<string, Float64Array>): Record<string, Float64Array> {
  return mapColumns(arrays, (array) => array.slice());
}
