import type { AgentId } from '@coplay/core';

/** The verdict of one test of an audit. */
export interface Verdict {
  /** false where something is wrong, null where the data are too few to tell. */
  readonly isFair: boolean | null;
  /** The agents that something is wrong with; empty where nothing is, or where none stands out. */
  readonly suspects: readonly AgentId[];
  /** The finding in a sentence or two. */
  readonly finding: string;
}

/** `agent_0`, `agent_0 and agent_1`, `agent_0, agent_1 and agent_2`. */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

/** The value that most share; of equally frequent ones the first. */
export function mostCommon<T>(values: readonly T[]): T {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}
