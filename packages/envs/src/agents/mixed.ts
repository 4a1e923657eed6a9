import { type Agent, checkOptions } from '@coplay/core';
import { checkAct, checkCount, checkTypedArray } from '@coplay/core/checks';
import { z } from 'zod';
import { type NearestStagOptions, nearestHareRule, nearestStagRule } from './nearest';
import { type RuleAgentOptions, recordOf, seatOf } from './options';
import { actionsBy } from './rule';

/** Options of {@link mixed}. */
export interface MixedOptions extends RuleAgentOptions {
  /** Probability, 0 to 1, of playing NearestStag in an episode. */
  readonly p: number;
  /** How it plays NearestStag; as there. */
  readonly waits?: NearestStagOptions['waits'];
  /** How it plays NearestStag; as there. */
  readonly whenGone?: NearestStagOptions['whenGone'];
}

const schema = z.object({ p: z.number().min(0).max(1) }).strict();

/**
 * Mixed(p): NearestStag with probability p, else NearestHare, drawn at the start of each episode.
 * Its state says for each row, [B], whether it hunts stags in this episode.
 */
export function mixed(options: MixedOptions): Agent<Uint8Array> {
  const { game, id, waits, whenGone, ...others } = recordOf('mixed', options);
  seatOf('mixed', game, id);
  const { p } = checkOptions('mixed', schema, others);
  const hunting = { ...(waits !== undefined && { waits }), ...(whenGone !== undefined && { whenGone }) };
  const stag = nearestStagRule('mixed', game, hunting);
  const hare = nearestHareRule('mixed', game);
  const name = `Mixed(${p})`;
  return {
    id,
    name,
    options: { p, ...hunting },
    initialState(rows) {
      checkCount(`${name} (${id}).initialState`, 'rows', rows);
      return new Uint8Array(rows);
    },
    act(input, state, generator) {
      checkAct(`${name} (${id}).act`, game, input, generator);
      checkTypedArray(`${name} (${id}).act`, 'state', state, 'uint8', input.rows);
      const huntsStags = state.slice();
      for (let row = 0; row < input.rows; row++) {
        if (input.isFirst[row] === 1) huntsStags[row] = generator.uniform() < p ? 1 : 0;
      }
      return {
        actions: actionsBy((row) => (huntsStags[row] === 1 ? stag : hare), input, generator),
        state: huntsStags,
      };
    },
  };
}
