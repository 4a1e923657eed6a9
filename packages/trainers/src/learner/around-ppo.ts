import type { AgentId } from '@coplay/core';
import type { PpoLearner } from '../ppo/learner';
import type { Learner } from './learner';

/** What a learner that adds something to PPO shows of it: its name, its agents and its updates. */
export abstract class AroundPpo {
  constructor(
    readonly ppo: PpoLearner,
    readonly config: Learner['config'],
  ) {}

  get name(): string {
    return this.ppo.name;
  }

  get ids(): readonly AgentId[] {
    return this.ppo.ids;
  }

  get updates(): number {
    return this.ppo.updates;
  }

  get parts(): readonly Learner[] {
    return [this.ppo];
  }
}
