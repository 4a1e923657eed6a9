import type { ObservationArrays, ObservationSpec } from '@coplay/core';
import { hasCell, lowestBit, markAgents } from '../game';
import { ACTION_NAMES } from './actions';
import type { StagHuntSettings } from './options';
import { GONE, NO_ACTION, type Rules } from './rules';

/** An agent's observation: planes, time, and (an option) the previous actions of all agents. */
export function observationSpec({ size, agents, viewRadius, previousActions }: StagHuntSettings): ObservationSpec {
  const side = viewRadius === false ? size : 2 * viewRadius + 1;
  const others = Array.from({ length: agents - 1 }, (_, i) => `other_${i + 1}`);
  const channels = ['self', ...others, 'obstacles', 'stags', 'hares'];
  const K = ACTION_NAMES.length;
  return {
    planes: { shape: [side, side, channels.length], dtype: 'uint8', kind: 'planes', channels },
    time: { shape: [1], dtype: 'float32', kind: 'vector', channels: ['elapsed'] },
    ...(previousActions && {
      previousActions: { shape: [agents * K], dtype: 'float32' as const, kind: 'one-hot' as const, classes: K },
    }),
  };
}

/** Writes an agent's observation. */
export function observe(
  rules: Rules,
  state: Int32Array,
  offset: number,
  agent: number,
  out: ObservationArrays,
  row: number,
): void {
  const { maxSteps, viewRadius, previousActions } = rules.settings;
  const planes = out['planes'] as Uint8Array;
  if (viewRadius === false) writeGrid(rules, state, offset, agent, planes, row);
  else writeView(rules, viewRadius, state, offset, agent, planes, row);
  out['time'][row] = Math.min(1, state[offset + rules.at.steps] / maxSteps);
  if (previousActions) writePrevious(rules, state, offset, agent, out['previousActions'] as Float32Array, row);
}

/**
 * The whole grid: [size, size, A + 3] planes of 0 and 1; the observer is plane 0, the others follow in cyclic order.
 */
function writeGrid(
  { agents, at, grid }: Rules,
  state: Int32Array,
  offset: number,
  observer: number,
  planes: Uint8Array,
  row: number,
): void {
  const C = agents + 3;
  const base = row * grid.cells * C;
  planes.fill(0, base, base + grid.cells * C);
  markAgents(state, offset + at.cells, agents, observer, planes, base, C);
  // One pass over the cells that hold anything: it's never more than one of obstacle, stag and hare.
  for (let word = 0; word < at.words; word++) {
    const stags = state[offset + at.stags + word];
    const hares = state[offset + at.hares + word];
    const first = base + word * 32 * C + agents;
    for (let bits = state[offset + at.obstacles + word] | stags | hares; bits !== 0; bits &= bits - 1) {
      const bit = lowestBit(bits);
      const plane = ((stags >>> bit) & 1) + 2 * ((hares >>> bit) & 1);
      planes[first + bit * C + plane] = 1;
    }
  }
}

/**
 * The cells up to `radius` away in each direction, the observer in the middle: [2 radius + 1, 2 radius + 1, A + 3].
 * What lies outside the grid looks like obstacles. An observer that has left sees nothing: all planes are 0.
 */
function writeView(
  rules: Rules,
  radius: number,
  state: Int32Array,
  offset: number,
  observer: number,
  planes: Uint8Array,
  row: number,
): void {
  const { agents, at, grid } = rules;
  const C = agents + 3;
  const side = 2 * radius + 1;
  const base = row * side * side * C;
  planes.fill(0, base, base + side * side * C);
  const own = state[offset + at.cells + observer];
  if (own === GONE) return;
  const top = Math.floor(own / grid.columns) - radius;
  const left = (own % grid.columns) - radius;

  for (let i = 0; i < side * side; i++) {
    const y = top + Math.floor(i / side);
    const x = left + (i % side);
    const pixel = base + i * C + agents;
    if (y < 0 || x < 0 || y >= grid.rows || x >= grid.columns) {
      planes[pixel] = 1;
      continue;
    }
    const cell = y * grid.columns + x;
    planes[pixel] = hasCell(state, offset + at.obstacles, cell);
    planes[pixel + 1] = hasCell(state, offset + at.stags, cell);
    planes[pixel + 2] = hasCell(state, offset + at.hares, cell);
  }
  for (let channel = 0; channel < agents; channel++) {
    const cell = state[offset + at.cells + ((observer + channel) % agents)];
    const y = Math.floor(cell / grid.columns) - top;
    const x = (cell % grid.columns) - left;
    const isVisible = cell !== GONE && y >= 0 && x >= 0 && y < side && x < side;
    if (isVisible) planes[base + (y * side + x) * C + channel] = 1;
  }
}

/** [A, K] one-hot, the observer first, the others in cyclic order; zeros for an agent that took no action. */
function writePrevious(
  { at, agents }: Rules,
  state: Int32Array,
  offset: number,
  observer: number,
  out: Float32Array,
  row: number,
): void {
  const K = ACTION_NAMES.length;
  const base = row * agents * K;
  out.fill(0, base, base + agents * K);
  for (let seat = 0; seat < agents; seat++) {
    const action = state[offset + at.previous + ((observer + seat) % agents)];
    if (action !== NO_ACTION) out[base + seat * K + action] = 1;
  }
}
