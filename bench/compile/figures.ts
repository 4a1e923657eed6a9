import type { TableRow } from '@coplay/diagnostics';
import type { Experiment } from '../harness';
import type { MachineName } from './machines';
import type { Step } from './steps';
import { ratio, type Speed } from './turns';

const COLUMNS: readonly MachineName[] = [
  'eager wasm',
  'tfjs-node',
  'compiled',
  'generated',
  'torch eager',
  'torch.compile',
  'jax.jit',
];

/** A row of times. */
export function speedRow({ title }: Step, speeds: readonly Speed[]): TableRow {
  const cells = COLUMNS.map((name) => {
    const speed = speeds.find(({ machine }) => machine === name);
    return [name, speed ? `${digits(speed.median)} (${digits(speed.shortest)})` : '-'];
  });
  return { step: title, ...Object.fromEntries(cells) };
}

/** Three digits that count. */
function digits(milliseconds: number): string {
  return milliseconds >= 100 ? milliseconds.toFixed(0) : milliseconds.toPrecision(3);
}

/** A row of ratios: how many times as long compiled steps take as peers', and eager ones as compiled. */
export function tradeRow({ title }: Step, speeds: readonly Speed[]): TableRow {
  const own = (other: MachineName) => ratio(speeds, 'compiled', other);
  return {
    step: title,
    'compiled / torch eager': own('torch eager'),
    'compiled / torch.compile': own('torch.compile'),
    'compiled / jax.jit (goal: 1)': own('jax.jit'),
    'generated / compiled': ratio(speeds, 'generated', 'compiled'),
    'eager wasm / compiled': ratio(speeds, 'eager wasm', 'compiled'),
    'tfjs-node / compiled': ratio(speeds, 'tfjs-node', 'compiled'),
  };
}

interface SpeedBar {
  readonly steps: readonly string[];
  readonly one: MachineName;
  readonly other: MachineName;
  /** The ratio is to be at most, or at least, this. */
  readonly atMost?: number;
  readonly atLeast?: number;
}

const GRUS = ['gru-16-256', 'gru-64-256', 'gru-64-64'];

const ratios: Readonly<Record<string, SpeedBar>> = {
  ppo_by_torch: { steps: ['ppo'], one: 'compiled', other: 'torch eager', atMost: 1 },
  act_by_torch: { steps: ['act'], one: 'compiled', other: 'torch eager', atMost: 1 },
  gru_by_torch: { steps: GRUS, one: 'compiled', other: 'torch eager', atMost: 0.9 },
  gru_by_jax: { steps: GRUS, one: 'compiled', other: 'jax.jit', atMost: 1.2 },
  conv_by_torch: { steps: ['conv'], one: 'compiled', other: 'torch eager', atMost: 1.6 },
  tfjs_node_by_ppo: { steps: ['ppo'], one: 'tfjs-node', other: 'compiled', atLeast: 5 },
  tfjs_node_by_gru: { steps: GRUS, one: 'tfjs-node', other: 'compiled', atLeast: 5 },
};

/** Bars of speed, for the experiment. */
export const SPEED_BARS: Experiment['bars'] = Object.fromEntries(
  Object.entries(ratios).map(([key, { steps, one, other, atMost, atLeast }]) => {
    const what = `${steps.join(', ')}: time of ${one} / ${other}${steps.length > 1 ? ', the worst' : ''}`;
    return [key, atMost === undefined ? { what, atLeast: atLeast! } : { what, atMost }];
  }),
);

/** The worst ratio for each bar of speed; null where a machine isn't there. */
export function barsOf(speeds: ReadonlyMap<string, readonly Speed[]>): Record<string, number | null> {
  return Object.fromEntries(
    Object.entries(ratios).map(([key, { steps, one, other, atMost }]) => {
      const values = steps.flatMap((step) => ratio(speeds.get(step) ?? [], one, other) ?? []);
      if (values.length < steps.length) return [key, null];
      return [key, atMost === undefined ? Math.min(...values) : Math.max(...values)];
    }),
  );
}
