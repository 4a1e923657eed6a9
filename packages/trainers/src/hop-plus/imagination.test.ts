import { describe, expect, it } from 'vitest';
import { permission } from './imagination';
import { resolveImagined } from './options';

const options = resolveImagined('test', { horizon: 8, startUpdates: 5, minAccuracy: 0.9, moaAccuracy: 0.4 });

describe('permission', () => {
  it('waits for the update and for the world model', () => {
    expect(permission(options, 4, 1, []).horizon).toBe(0);
    expect(permission(options, 5, 0.89, []).horizon).toBe(0);
    expect(permission(options, 5, 0.9, []).horizon).toBe(8);
    expect(permission(options, 4, 1, []).metrics).toEqual({ 'imagined/is_open': 0, 'imagined/horizon': 0 });
  });

  it('is as long as the worst model of a co-player is trusted', () => {
    expect(permission(options, 5, 1, [0.5, 0.4, 0.9]).horizon).toBe(8);
    expect(permission(options, 5, 1, [0.5, 0.2, 0.9]).horizon).toBe(4); // half of 0.4
    expect(permission(options, 5, 1, [0, 0.9]).horizon).toBe(0);
  });
});
