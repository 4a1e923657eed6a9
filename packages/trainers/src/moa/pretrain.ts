import { attemptRows, moaRows } from '@coplay/buffers';
import {
  type AgentId,
  checkExperienceOf,
  checkOptions,
  checkRecord,
  type Experience,
  fail,
  type Generator,
  type NamedArrays,
  show,
} from '@coplay/core';
import { concatRows } from '@coplay/core/rows';
import { z } from 'zod';
import type { MoaPretrainOptions } from './contract';
import type { MoaSetup } from './options';

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
  { game, coPlayers, options }: MoaSetup,
): Readonly<Record<AgentId, NamedArrays>> {
  checkRecord('moa.pretrain', 'data', data);
  if (isExperience(data)) checkExperienceOf('moa.pretrain', game, data, 'data');
  const goals = options.goals === 'hindsight' ? game.goals : undefined;
  const rows = isExperience(data)
    ? Object.fromEntries(
        coPlayers.map((coPlayer) => {
          const seat = data.agents.indexOf(coPlayer);
          const own = moaRows(data, seat, { goals, caughtOnly: options.caughtOnly });
          return [coPlayer, options.attempts && goals ? concatRows([own, attemptRows(own, goals)]) : own];
        }),
      )
    : data;
  const unknown = Object.keys(rows).find((coPlayer) => !coPlayers.includes(coPlayer));
  if (unknown !== undefined) fail('moa.pretrain', `rows of ${coPlayers.join(', ')}`, show(unknown), 'Leave it out.');
  return rows;
}

function isExperience(data: Experience | Readonly<Record<AgentId, NamedArrays>>): data is Experience {
  return 'observations' in data && 'isImagined' in data;
}
