import type { Metrics, NamedArrays } from '@coplay/core';

/** Means over the updates of a phase. */
export class Tally {
  private readonly sums = new Map<string, [sum: number, count: number]>();

  /** The scalars that an update returned; nothing of them where it was left out. */
  add(outputs: NamedArrays, rate: number, isSkipped: boolean): void {
    this.put('opt/learning_rate', rate);
    this.put('opt/skipped', isSkipped ? 1 : 0);
    if (isSkipped) return;
    for (const [name, { data }] of Object.entries(outputs)) this.put(name, data[0]);
  }

  put(name: string, value: number): void {
    const [sum, count] = this.sums.get(name) ?? [0, 0];
    this.sums.set(name, [sum + value, count + 1]);
  }

  means(): Metrics {
    return Object.fromEntries([...this.sums].map(([name, [sum, count]]) => [name, sum / count]));
  }
}
