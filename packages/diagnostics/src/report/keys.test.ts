import { describe, expect, it } from 'vitest';
import { explain, partsOf } from './keys';

const names = { learners: new Set(['agent_0', 'shared']), agents: new Set(['agent_0', 'agent_1']) };

describe('partsOf', () => {
  it.each([
    ['policy/loss', 'policy/loss', ''],
    ['agent_0/policy/loss', 'policy/loss', 'agent_0'],
    ['shared/value/mse', 'value/mse', 'shared'],
    ['agent_9/value/mse', 'agent_9/value/mse', ''],
    ['episode/return/agent_1', 'episode/return', 'agent_1'],
    ['moa/accuracy/agent_1', 'moa/accuracy', 'about agent_1'],
    ['agent_0/moa/accuracy/agent_1', 'moa/accuracy', 'agent_0 about agent_1'],
  ])('%s', (key, metric, agent) => {
    expect(partsOf(key, names)).toEqual({ metric, agent });
  });
});

describe('explain', () => {
  it('finds what docs/metrics.md says, exact keys before patterns', () => {
    expect(explain('episode/count')?.what).toBe('episodes that ended');
    expect(explain('episode/illegal')?.key).toBe('episode/<info>');
    expect(explain('episode/return')?.key).toBe('episode/return/<agent id>');
    expect(explain('world_model/cells_loss')?.key).toBe('world_model/<part>_loss');
    expect(explain('real/reward_p95')?.section).toBe('Real and imagined apart');
    expect(explain('of/mine')).toBeUndefined();
  });
});
