import { createGenerator } from '@coplay/core';
import { symmetryAudit } from '@coplay/diagnostics/audits';
import { describe, expect, it } from 'vitest';

const ids = ['agent_0', 'agent_1', 'agent_2', 'agent_3'];

/** Per-seed mean returns of four agents around 2.8; the last earns `bonus` more. */
function returnsOf(seeds: number, bonus: number): Record<string, number[]> {
  const generator = createGenerator(7);
  const draw = (id: string) =>
    Array.from({ length: seeds }, () => 2.8 + 0.1 * generator.normal() + (id === 'agent_3' ? bonus : 0));
  return Object.fromEntries(ids.map((id) => [id, draw(id)]));
}

describe('symmetryAudit', () => {
  it('finds nothing among equals', { tags: ['learning'] }, () => {
    const report = symmetryAudit(returnsOf(20, 0));
    expect(report.isSymmetric).toBe(true);
    expect(report.finding).toMatch(/^No agent is favoured \(p = 0\.\d+ over 20 seeds\)\.$/);
    expect(Object.keys(report.means)).toEqual(ids);
    for (const { value, lower, upper, count } of Object.values(report.means)) {
      expect(count).toBe(20);
      expect(lower).toBeLessThan(value);
      expect(upper).toBeGreaterThan(value);
    }
  });

  it('finds an agent that is favoured in every seed', { tags: ['learning'] }, () => {
    const report = symmetryAudit(returnsOf(20, 0.15));
    expect(report.isSymmetric).toBe(false);
    expect(report.finding).toMatch(/not equal/);
    expect(report.means['agent_3'].value).toBeGreaterThan(report.means['agent_0'].value);
  });

  it('says when there are too few seeds to tell', () => {
    const { finding, test } = symmetryAudit({ a: [1, 1, 1], b: [2, 2, 2] });
    expect(test.pValue).toBe(0.25);
    expect(finding).toBe('Too few seeds to tell (p = 0.2500 over 3 seeds; the smallest possible p is 0.2500).');
  });

  it('refuses lists that do not belong together', () => {
    expect(() => symmetryAudit({})).toThrow(/symmetryAudit: expected two agents or more/);
    expect(() => symmetryAudit({ a: [1, 2], b: [1] })).toThrow(/got a: 2, b: 1/);
    expect(() => symmetryAudit({ a: [1], b: [1] })).toThrow(/same two seeds or more/);
    expect(() => symmetryAudit({ a: [1, 2], b: [1, 2] }, { level: 5 })).toThrow(/option level/);
  });
});
