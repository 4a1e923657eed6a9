import type { AgentId } from '@coplay/core';
import type { Learner } from '../training';
import type { PpoLearner } from './learner';

/** A learner that adds something to PPO: it has the name, the agents and the updates of the PPO inside. */
export abstract class PpoWrapper {
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
