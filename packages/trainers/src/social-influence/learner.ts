import {
  type Experience,
  fail,
  type Generator,
  type Metrics,
  ndarray,
  type ObservationArrays,
  type SavedState,
  show,
  type TypedArray,
} from '@coplay/core';
import { dtypeOf, sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkGenerator, checkObservationArrays, typedArrays } from '@coplay/core/checks';
import { z } from 'zod';
import type { MoaLearner } from '../moa';
import { PpoLearner, PpoWrapper } from '../ppo';
import type { Learner, LearnerData } from '../training';
import { anneal } from '../training/annealed';
import { checkLearnerData } from '../training/check-calls';
import { type Takeover, takeOverParts } from '../training/restore';
import { delayed, influenceOf } from './algorithm';
import type { SocialInfluenceSetup } from './options';

/** The extra in which the agent keeps its whole policy, [K] log-probabilities. */
export const POLICY = 'policyLogProbs';

/** Children of a learner's generator. */
const SPLITS = { ppo: 0, moa: 1 };

const savedSchema = z.looseObject({
  ppo: z.looseObject({}),
  moa: z.looseObject({}),
  last: z.record(z.string(), typedArrays()).optional(),
});

/**
 * PPO that is also paid for its influence on the others (Jaques et al. 2019): r = alpha e + beta c, c its
 * `actionInfluence` on each of them by its own models of their next actions.
 */
export class SocialInfluenceLearner extends PpoWrapper implements Learner {
  private readonly seat: number;
  /** The observations in the last step of the previous rollout. */
  private last: ObservationArrays | undefined;

  constructor(readonly setup: SocialInfluenceSetup) {
    super(new PpoLearner(setup.ppo), setup.config);
    this.seat = setup.game.agents.indexOf(setup.id);
  }

  /** Its models of the others' next actions. */
  get moa(): MoaLearner {
    return this.setup.moa;
  }

  async initialise(generator: Generator): Promise<void> {
    checkGenerator(`social influence (${this.name}).initialise`, generator);
    const own = generator.fork();
    await this.ppo.initialise(own.split(SPLITS.ppo));
    await this.moa.initialise(own.split(SPLITS.moa));
  }

  async update(data: LearnerData): Promise<Metrics> {
    checkLearnerData(`social influence (${this.name}).update`, this.setup.game, data);
    const { experience, progress, generator } = data;
    const own = generator.fork();
    // Before the models see this rollout: otherwise they would know its actions.
    const { rewarded, metrics } = await this.reward(experience, anneal(this.setup.influenceWeight, progress));
    const { experience: seen, last } = delayed(experience, this.last);
    this.last = last;
    this.moa.push(seen);
    const models = await this.moa.update(own.split(SPLITS.moa));
    const learned = await this.ppo.update({ experience: rewarded, progress, generator: own.split(SPLITS.ppo) });
    return { ...metrics, ...models, ...learned };
  }

  async state(): Promise<SavedState> {
    return {
      ppo: await this.ppo.state(),
      moa: await this.moa.state(),
      ...(this.last && { last: { ...this.last } as SavedState }),
    };
  }

  async restore(saved: SavedState): Promise<void> {
    (await this.takeOver(saved)).keep();
  }

  /** {@link restore}, which can be undone until it is kept: for learners that consist of several. */
  async takeOver(saved: SavedState): Promise<Takeover> {
    const where = `social influence (${this.name}): restore`;
    if (!saved?.['ppo'] || !saved['moa']) {
      const remedy = 'Give the result of its learner.state().';
      const got = Object.keys(saved ?? {}).join(', ') || show(saved);
      fail(where, 'a state with ppo and moa', got, remedy);
    }
    checkArgument(where, 'saved', savedSchema, saved);
    const before = this.last;
    const last = saved['last'] as unknown as ObservationArrays | undefined;
    if (last) this.checkLast(where, last);
    const taken = await takeOverParts(where, [
      { path: 'saved.ppo', part: this.ppo, saved: saved['ppo'] as SavedState },
      { path: 'saved.moa', part: this.moa, saved: saved['moa'] as SavedState },
    ]);
    this.last = last;
    return {
      keep: taken.keep,
      undo: async () => {
        this.last = before;
        await taken.undo();
      },
    };
  }

  /** Refuses other fields than the game shows, and fields that aren't those of the same number of environments. */
  private checkLast(where: string, last: ObservationArrays): void {
    const { observation, agents } = this.setup.game;
    const [[first, { shape }]] = Object.entries(observation);
    const rows = Math.floor((last[first]?.length ?? 0) / (agents.length * sizeOf(shape))) * agents.length;
    checkObservationArrays(where, 'saved.last', this.setup.game, last, rows);
    for (const [name, data] of Object.entries(last)) {
      const expected = observation[name] ? `${name} of ${observation[name].dtype}` : 'fields of the observation';
      if (Object.hasOwn(observation, name) && dtypeOf(data as TypedArray) === observation[name].dtype) continue;
      fail(
        `${where}: saved.last.${name}`,
        expected,
        show(data),
        'Make the agent with the game that it was saved with.',
      );
    }
  }

  dispose(): void {
    this.ppo.dispose();
    this.moa.dispose();
  }

  /**
   * The experience with the agent's own rewards as it learns from them. Models that have learned nothing yet know of no
   * influence.
   */
  private async reward(experience: Experience, weight: number): Promise<{ rewarded: Experience; metrics: Metrics }> {
    const { seat } = this;
    const { rewardWeight } = this.setup;
    const agents = experience.agents.length;
    const isKnown = this.moa.updates > 0;
    const influence = isKnown
      ? await influenceOf(this.moa, experience, seat, policyOf(experience))
      : new Float64Array(experience.envs * experience.steps);
    const rewards = experience.rewards.slice();
    const counted = { sum: 0, most: 0, steps: 0 };
    influence.forEach((value, step) => {
      const row = step * agents + seat;
      if (experience.active[row] === 0) return;
      rewards[row] = rewardWeight * rewards[row] + weight * value;
      counted.sum += value;
      counted.most = Math.max(counted.most, value);
      counted.steps++;
    });
    const isMeasured = isKnown && counted.steps > 0;
    const metrics: Metrics = {
      ...(isMeasured && { 'influence/mean': counted.sum / counted.steps, 'influence/max': counted.most }),
      'influence/weight': weight,
    };
    return { rewarded: { ...experience, rewards }, metrics };
  }
}

function policyOf(experience: Experience): Float32Array {
  const extra = experience.extras[POLICY] ?? ndarray(new Float32Array(0));
  const expected = experience.rewards.length * experience.actionCount;
  if (extra.data.length !== expected) {
    const remedy = 'Collect it with the agent of this learner.';
    fail('socialInfluence.update', `experience with the extra ${POLICY}`, `${extra.data.length} numbers`, remedy);
  }
  return extra.data as Float32Array;
}
