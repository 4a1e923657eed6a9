import { stagHunt } from '@coplay/envs';
import { expect, it } from 'vitest';
import { type AuditPlan, audit, type SeedLoop } from '../../studies/audit/checks';
import { CULPRITS, type Sabotage } from '../../studies/audit/sabotage';
import { hopPlusSubject, PPO_ALONE } from '../../studies/audit/subject';

const subject = hopPlusSubject({ hidden: [8], executor: 'eager', epochs: 1 });
const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4, maxSteps: 10 });
const plan: AuditPlan = {
  episodes: 1000,
  size: { envSteps: 192, envs: 4, steps: 12 },
  triesModules: false,
  trainsModules: false,
  trainsOthers: false,
};

const seedLoop: SeedLoop = async (_label, work) => [await work(1, { directory: '', mayResume: false, log: [] })];

/** Who is to be suspected. */
const suspects: Readonly<Partial<Record<Sabotage, readonly string[]>>> = {
  none: [],
  environment: ['agent_0', 'agent_3'],
  configuration: ['agent_2'],
  updates: ['agent_3'],
  'own-trajectory': ['agent_1', 'agent_2', 'agent_3'],
  samples: ['agent_1'],
};

// PPO alone. Faults of HOP+'s modules take longer trainings: the study has them.
it.each(Object.keys(suspects) as Sabotage[])(
  'the audit names a fault of this kind: %s',
  { tags: ['learning'] },
  async (sabotage) => {
    const { conclusion, isRight } = await audit({ subject, game, sabotage, switches: PPO_ALONE }, plan, seedLoop);
    expect(conclusion).toMatchObject({ culprit: CULPRITS[sabotage], suspects: suspects[sabotage] });
    expect(isRight).toBe(true);
  },
);
