import type { Metrics, NamedArrays } from '@coplay/core';
import { meanMetrics } from '../training/metrics';

/** Means over the updates of a phase. */
export class Tally {
  private readonly parts: Metrics[] = [];

  /** The scalars that an update returned; nothing of them where it was left out. */
  add(outputs: NamedArrays, rate: number, isSkipped: boolean): void {
    this.put('opt/learning_rate', rate);
    this.put('opt/skipped', isSkipped ? 1 : 0);
    if (isSkipped) return;
    this.parts.push(Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, data[0]])));
  }

  put(name: string, value: number): void {
    this.parts.push({ [name]: value });
  }

  means(): Metrics {
    return meanMetrics(this.parts);
  }
}
