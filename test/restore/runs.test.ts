/**
 * A run takes a whole saved state or leaves everything as it was, for each trainer and each kind of entry of its state.
 */
import type { SavedState } from '@coplay/core';
import { expect, it } from 'vitest';
import { TRAINERS } from '../../packages/trainers/test/fixtures/trainers';
import { faultsOf, mutations, type Restorable } from './mutations';

const RUNS = ['ppo', 'ppo-recurrent', 'hop', 'hop-plus', 'dreamer', 'social-influence'];
/** Damages tried of each run: all of them would take minutes. */
const TRIED = 12;

it.each(RUNS)('%s', { tags: ['learning'], timeout: 300_000 }, async (name) => {
  const run = TRAINERS[name]('small');
  await run.train(1, () => undefined);
  const every = Math.ceil(mutations(await run.state()).length / TRIED);
  expect(await faultsOf(run as Restorable, { every })).toEqual([]);
  run.dispose();
});

it('a run without weights refuses a damaged state and then learns as if it had never seen it', {
  tags: ['slow'],
}, async () => {
  const [donor, pure, tried] = ['ppo', 'ppo', 'ppo'].map((name) => TRAINERS[name]('small'));
  await donor.train(1, () => undefined);
  const saved = await donor.state();
  const learners = saved['learners'] as SavedState;
  const { valueNorm: _, ...rest } = learners['agent_1'] as SavedState;
  const damaged = { ...saved, learners: { ...learners, agent_1: rest } };
  await expect(tried.restore?.(damaged)).rejects.toThrow(/saved\.learners\.agent_1.*saved\.valueNorm/);
  for (const run of [pure, tried]) await run.train(1, () => undefined);
  const state = async (run: typeof pure) => ({ ...(await run.state()) });
  expect(await state(tried)).toEqual(await state(pure));
  for (const run of [donor, pure, tried]) run.dispose();
});
