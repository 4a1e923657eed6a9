import type { ObservationArrays, ObservationSpec } from '@coplay/core';
import { lowestBit, markAgents } from '../game';
import type { SnowdriftSettings } from './options';
import type { Rules } from './rules';

/** Names of the C = A + 2 planes, in their order. */
export function channelNames(agents: number): readonly string[] {
  const others = Array.from({ length: agents - 1 }, (_, i) => `other_${i + 1}`);
  return ['self', ...others, 'obstacles', 'drifts'];
}

/** An agent's observation: planes and time. */
export function observationSpec({ size, agents }: SnowdriftSettings): ObservationSpec {
  const channels = channelNames(agents);
  return {
    planes: { shape: [size, size, channels.length], dtype: 'uint8', kind: 'planes', channels },
    time: { shape: [1], dtype: 'float32', kind: 'vector', channels: ['elapsed'] },
  };
}

/** Writes an agent's observation: [size, size, A + 2] planes of 0 and 1, the observer first, and the time. */
export function observe(
  { agents, at, grid, settings }: Rules,
  state: Int32Array,
  offset: number,
  observer: number,
  out: ObservationArrays,
  row: number,
): void {
  const planes = out['planes'] as Uint8Array;
  const C = agents + 2;
  const base = row * grid.cells * C;
  planes.fill(0, base, base + grid.cells * C);
  markAgents(state, offset + at.cells, agents, observer, planes, base, C);
  for (let word = 0; word < at.words; word++) {
    const drifts = state[offset + at.drifts + word];
    const first = base + word * 32 * C + agents;
    // A cell never holds both.
    for (let bits = state[offset + at.obstacles + word] | drifts; bits !== 0; bits &= bits - 1) {
      const bit = lowestBit(bits);
      planes[first + bit * C + ((drifts >>> bit) & 1)] = 1;
    }
  }
  out['time'][row] = Math.min(1, state[offset + at.steps] / settings.maxSteps);
}
