import type { Agent } from '@coplay/core';
import { isLearning, type Learner } from '@coplay/trainers';

/** The learners behind agents, each once. */
export function learnersOf(agents: readonly Agent[]): Learner[] {
  return [...new Set(agents.filter(isLearning).map((agent) => agent.learner))];
}
