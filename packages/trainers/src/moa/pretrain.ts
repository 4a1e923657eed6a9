import { attemptRows, moaRows } from '@coplay/buffers';
import {
  type AgentId,
  checkExperienceOf,
  checkOptions,
  checkRecord,
  type Experience,
  fail,
  type Generator,
  type Metrics,
  type NamedArrays,
  show,
} from '@coplay/core';
import { concatRows } from '@coplay/core/rows';
import { z } from 'zod';
import type { MoaSetup } from './learner';

/** How a model is trained on a data set. */
export interface MoaPretrainOptions {
  /** For shuffling. */
  readonly generator: Generator;
  /** Passes over the data, at least 1. Default 10 */
  readonly epochs?: number;
  /** Learning rate at the start, at least 0. Default: that of the models' options */
  readonly learningRate?: number;
  /** Learning rate at the end, which is reached linearly; at least 0. Default: that at the start */
  readonly finalLearningRate?: number;
  /** Called after each epoch, counted from 0: to evaluate, or to log. */
  readonly afterEpoch?: (epoch: number, metrics: Metrics) => void | Promise<void>;
}

const isFunction = (value: unknown) => typeof value === 'function';
const schema = z.strictObject({
  generator: z.custom<Generator>((value) => typeof (value as Generator | undefined)?.shuffle === 'function', {
    error: 'a generator: createGenerator(seed)',
  }),
  epochs: z.int().min(1).default(10),
  learningRate: z.number().min(0).optional(),
  finalLearningRate: z.number().min(0).optional(),
  afterEpoch: z.custom<MoaPretrainOptions['afterEpoch']>(isFunction, { error: 'a function' }).optional(),
});

/** Checks the options and fills in the defaults. */
export function resolveMoaPretraining(options: MoaPretrainOptions, defaults: { readonly learningRate: number }) {
  const checked = checkOptions('moa.pretrain', schema, options);
  const { learningRate = defaults.learningRate } = checked;
  return { ...checked, learningRate, finalLearningRate: checked.finalLearningRate ?? learningRate };
}

/** Rows by co-player. */
export function pretrainingRows(
  data: Experience | Readonly<Record<AgentId, NamedArrays>>,
  { game, coplayers, options }: MoaSetup,
): Readonly<Record<AgentId, NamedArrays>> {
  checkRecord('moa.pretrain', 'data', data);
  if (isExperience(data)) checkExperienceOf('moa.pretrain', game, data, 'data');
  const goals = options.goals === 'hindsight' ? game.goals : undefined;
  const rows = isExperience(data)
    ? Object.fromEntries(
        coplayers.map((coplayer) => {
          const seat = data.agents.indexOf(coplayer);
          const own = moaRows(data, seat, { goals, caughtOnly: options.caughtOnly });
          return [coplayer, options.attempts && goals ? concatRows([own, attemptRows(own, goals)]) : own];
        }),
      )
    : data;
  const unknown = Object.keys(rows).find((coplayer) => !coplayers.includes(coplayer));
  if (unknown !== undefined) fail('moa.pretrain', `rows of ${coplayers.join(', ')}`, show(unknown), 'Leave it out.');
  return rows;
}

function isExperience(data: Experience | Readonly<Record<AgentId, NamedArrays>>): data is Experience {
  return 'observations' in data && 'isImagined' in data;
}
