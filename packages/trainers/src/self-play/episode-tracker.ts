import type { AgentId, Experience, Metrics, SavedState } from '@coplay/core';

/** Sums up episodes while they stream by in rollouts. One that is broken off by a reset counts for nothing. */
export interface EpisodeTracker {
  /** Takes in a rollout; the figures of the episodes that ended in it, none if none did. */
  add(experience: Experience): Metrics;
  /** Episodes that have ended since the start. */
  readonly count: number;
  state(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * Means over the episodes that ended within one rollout: `episode/return/<id>` of each agent, `episode/return_mean` over
 * agents, `episode/length`, `episode/<info>` (sum over an episode, mean over agents and episodes), and `episode/count`.
 */
export function episodeTracker(ids: readonly AgentId[], envs: number): EpisodeTracker {
  const agents = ids.length;
  const returns = new Float64Array(envs * agents);
  const lengths = new Int32Array(envs);
  let infos: Record<string, Float64Array> = {};
  let count = 0;

  const forget = (e: number): void => {
    returns.fill(0, e * agents, (e + 1) * agents);
    lengths[e] = 0;
    for (const name in infos) infos[name][e] = 0;
  };

  const add = (experience: Experience): Metrics => {
    const ended = new Ended(ids);
    const infoNames = Object.keys(experience.extras).filter((name) => name.startsWith('info/'));
    for (const name of infoNames) infos[name] ??= new Float64Array(envs);
    for (let e = 0; e < experience.envs; e++) {
      for (let t = 0; t < experience.lengths[e]; t++) {
        const step = e * experience.steps + t;
        if (experience.isFirst[step] === 1) forget(e); // what was pending was broken off by a reset
        lengths[e]++;
        for (let a = 0; a < agents; a++) returns[e * agents + a] += experience.rewards[step * agents + a];
        for (const name of infoNames) infos[name][e] += sumOf(experience.extras[name].data, step * agents, agents);
        if (experience.ended[step] === 0) continue;
        ended.take(returns.subarray(e * agents, (e + 1) * agents), lengths[e], infos, e);
        lengths[e] = 0;
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
    state: () => ({ returns: returns.slice(), lengths: lengths.slice(), infos: copyAll(infos), count }),
    restore: (saved) => {
      returns.set(saved['returns'] as Float64Array);
      lengths.set(saved['lengths'] as Int32Array);
      infos = copyAll(saved['infos'] as Record<string, Float64Array>);
      count = saved['count'] as number;
    },
  };
}

/** Sums over the episodes that ended in one rollout. */
class Ended {
  count = 0;
  private readonly returns: Float64Array;
  private readonly infos: Record<string, number> = {};
  private length = 0;

  constructor(private readonly ids: readonly AgentId[]) {
    this.returns = new Float64Array(ids.length);
  }

  /** Adds an episode and sets its sums to zero. */
  take(returns: Float64Array, length: number, infos: Record<string, Float64Array>, env: number): void {
    this.count++;
    this.length += length;
    for (let a = 0; a < returns.length; a++) this.returns[a] += returns[a];
    returns.fill(0);
    for (const name in infos) {
      this.infos[name] = (this.infos[name] ?? 0) + infos[name][env];
      infos[name][env] = 0;
    }
  }

  metrics(): Metrics {
    const { count, ids } = this;
    const metrics: Metrics = { 'episode/count': count };
    if (count === 0) return metrics;
    ids.forEach((id, a) => {
      metrics[`episode/return/${id}`] = this.returns[a] / count;
    });
    metrics['episode/return_mean'] = this.returns.reduce((sum, value) => sum + value, 0) / (count * ids.length);
    metrics['episode/length'] = this.length / count;
    for (const name in this.infos) {
      metrics[`episode/${name.slice('info/'.length)}`] = this.infos[name] / (count * ids.length);
    }
    return metrics;
  }
}

function sumOf(data: ArrayLike<number>, start: number, count: number): number {
  let sum = 0;
  for (let i = start; i < start + count; i++) sum += data[i];
  return sum;
}

function copyAll(arrays: Record<string, Float64Array>): Record<string, Float64Array> {
  return Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice()]));
}
