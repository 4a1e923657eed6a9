import {
  configurationAudit,
  counterAudit,
  dueAudit,
  moduleAudit,
  nameCulprit,
  ownershipAudit,
  symmetryAudit,
  symmetryVerdict,
  type Verdict,
} from '@coplay/diagnostics/audits';
import { describe, expect, it } from 'vitest';

const fair: Verdict = { isFair: true, suspects: [], finding: 'Fine.' };
const open: Verdict = { isFair: null, suspects: [], finding: 'Too few.' };
const unfair: Verdict = { isFair: false, suspects: ['c'], finding: 'c is odd.' };

describe('configurationAudit', () => {
  const settings = { gamma: 0.99, learningRate: { from: 1e-3, to: 0 }, network: { hidden: [64, 64] } };

  it('passes equal settings with any order of keys', () => {
    const { network, learningRate, gamma } = settings;
    const report = configurationAudit({ a: settings, b: { network, learningRate, gamma } });
    expect(report).toMatchObject({ isFair: true, suspects: [], differences: [] });
  });

  it('names the odd one and the setting', () => {
    const odd = { ...settings, learningRate: { from: 1e-4, to: 0 } };
    const report = configurationAudit({ a: settings, b: settings, c: odd });
    expect(report).toMatchObject({ isFair: false, suspects: ['c'] });
    expect(report.differences).toEqual([
      { path: 'learningRate.from', values: { a: '0.001', b: '0.001', c: '0.0001' } },
    ]);
    expect(report.finding).toBe('Settings differ: learningRate.from is 0.0001 for c where the others have 0.001.');
  });

  it('sees a setting that one lacks, and a longer list', () => {
    const report = configurationAudit({ a: settings, b: settings, c: { ...settings, network: { hidden: [64] } } });
    expect(report.differences.map(({ path, values }) => `${path} ${values['c']}`)).toEqual(['network.hidden.1 (none)']);
  });

  it('leaves out what is to differ', () => {
    expect(configurationAudit({ a: { id: 'a' }, b: { id: 'b' } }, ['id']).isFair).toBe(true);
    expect(() => configurationAudit({ a: {} })).toThrow(/two agents or more, got 1/);
  });
});

describe('counterAudit', () => {
  it('names who had fewer', () => {
    const equal = { updates: 40 };
    const verdict = counterAudit({ a: equal, b: equal, c: { updates: 20 }, d: equal });
    expect(verdict).toEqual({ isFair: false, suspects: ['c'], finding: 'c has 20 updates, the median is 40.' });
    expect(counterAudit({ a: equal, b: equal }).isFair).toBe(true);
  });

  it('counts what an agent does not have as 0', () => {
    const both = { updates: 2, 'moa updates': 2 };
    expect(counterAudit({ a: both, b: both, c: { updates: 2 } }).suspects).toEqual(['c']);
  });

  it('bears what the tolerance allows', () => {
    const counts = { a: { rows: 100 }, b: { rows: 100 }, c: { rows: 90 } };
    expect(counterAudit(counts, { tolerance: 0.1 }).isFair).toBe(true);
    expect(counterAudit(counts, { tolerance: 0.09 }).isFair).toBe(false);
  });
});

describe('dueAudit', () => {
  it('compares each with its own due', () => {
    const due = { a: { rows: 100 }, b: { rows: 70 } };
    expect(dueAudit(due, due).isFair).toBe(true);
    expect(dueAudit({ a: { rows: 100 }, b: { rows: 100 } }, due)).toMatchObject({ isFair: false, suspects: ['b'] });
    expect(dueAudit({ a: { rows: 100 } }, due).finding).toBe('b was given 0 of 70 rows.');
  });
});

describe('ownershipAudit', () => {
  it('passes learners that are moved by their own data alone', () => {
    const own = { a: { owns: ['a'], movedBy: { a: 1e-9, b: 0 } }, b: { owns: ['b'], movedBy: { a: 0, b: 2 } } };
    expect(ownershipAudit(own)).toMatchObject({ isFair: true, suspects: [], foreign: {}, ignored: {} });
    const shared = { shared: { owns: ['a', 'b'], movedBy: { a: 1, b: 1 } } };
    expect(ownershipAudit(shared).isFair).toBe(true);
  });

  it("names the one that trains on another's trajectory", () => {
    const report = ownershipAudit({
      a: { owns: ['a'], movedBy: { a: 1, b: 0 } },
      b: { owns: ['b'], movedBy: { a: 1, b: 0 } },
    });
    expect(report).toMatchObject({ isFair: false, suspects: ['b'], foreign: { b: ['a'] }, ignored: { b: ['b'] } });
    expect(report.finding).toMatch(/: the learner b is moved by the data of a, and isn't moved by the data of b\.$/);
  });

  it("sees another's data mixed with its own, and half of the owners left out", () => {
    const leak = ownershipAudit({ a: { owns: ['a'], movedBy: { a: 1, b: 1 } } });
    expect(leak).toMatchObject({ isFair: false, foreign: { a: ['b'] }, ignored: {} });
    const half = ownershipAudit({ shared: { owns: ['a', 'b'], movedBy: { a: 1, b: 0 } } });
    expect(half).toMatchObject({ isFair: false, foreign: {}, ignored: { shared: ['b'] } });
    expect(half.finding).toContain('the learner shared (of a and b)');
  });

  it('takes not-a-number for moved', () => {
    const broken = { a: { owns: ['a'], movedBy: { a: 1, b: Number.NaN } } };
    expect(ownershipAudit(broken).foreign).toEqual({ a: ['b'] });
  });

  it('refuses owners that were not tried', () => {
    expect(() => ownershipAudit({})).toThrow(/ownershipAudit/);
    expect(() => ownershipAudit({ a: { owns: ['a'], movedBy: { b: 1 } } })).toThrow(/among movedBy/);
  });
});

describe('moduleAudit', () => {
  it('blames the module without which the fault is gone', () => {
    const verdict = moduleAudit(unfair, { omg: unfair, moa: fair });
    expect(verdict).toEqual({ isFair: false, suspects: ['c'], finding: 'The fault goes away without moa.' });
  });

  it('blames none where the fault stays, or there is none', () => {
    expect(moduleAudit(unfair, { omg: unfair, moa: open }).isFair).toBe(true);
    expect(moduleAudit(fair, { omg: fair, moa: open }).isFair).toBe(true);
    expect(moduleAudit(fair, { omg: unfair, moa: fair }).isFair).toBe(false);
  });
});

describe('nameCulprit', () => {
  it('names the first cause that fails', () => {
    const conclusion = nameCulprit([
      { test: '(a)', cause: 'environment', verdict: fair },
      { test: '(h)', verdict: unfair },
      { test: '(d)', cause: 'updates', verdict: unfair },
      { test: '(e)', cause: 'samples', verdict: unfair },
    ]);
    expect(conclusion).toEqual({
      culprit: 'updates',
      suspects: ['c'],
      finding: 'The fault lies in the updates. c is odd. What else fails may follow from it: (h); (e).',
    });
  });

  it('says when it knows of no cause, and when there is nothing', () => {
    const order = nameCulprit([
      { test: '(c)', cause: 'configuration', verdict: fair },
      { test: '(h)', verdict: unfair },
    ]);
    expect(order).toMatchObject({ culprit: 'unknown', suspects: ['c'] });
    const none = nameCulprit([{ test: '(h)', verdict: open }]);
    expect(none).toEqual({
      culprit: 'none',
      suspects: [],
      finding: 'No test finds a fault. Too few data to tell: (h).',
    });
    expect(() => nameCulprit([])).toThrow(/a test or more/);
  });
});

describe('symmetryVerdict', () => {
  it('names the best and the worst where agents differ', () => {
    const returns = { a: [2, 2.1, 2, 2.1], b: [1, 1.1, 1, 1.1], c: [3, 3.1, 3, 3.1] };
    const verdict = symmetryVerdict(symmetryAudit(returns));
    expect(verdict).toMatchObject({ isFair: false, suspects: ['c', 'b'] });
    expect(verdict.finding).toContain('Means: c 3.050, a 2.050, b 1.050.');
  });

  it('does not tell where there are too few seeds', () => {
    expect(symmetryVerdict(symmetryAudit({ a: [1, 1], b: [2, 2] })).isFair).toBeNull();
  });
});
