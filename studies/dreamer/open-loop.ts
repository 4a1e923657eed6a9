import { createGenerator, type Game, type Metrics, type NDArray, ndarray } from '@coplay/core';
import { openLoopFigure, openLoopMetrics } from '@coplay/diagnostics/world-model';
import type { DreamerAgent } from '@coplay/trainers';
import type { Context } from '../../bench/harness';

/** A world model's predictions of recorded sequences, as JSON. */
export interface KeptOpenLoop {
  readonly metrics: Metrics;
  /** Steps that it saw */
  readonly context: number;
  /** Of each observation: [B, T, ...] */
  readonly observations: Readonly<Record<string, Recorded>>;
  /** [B, T] */
  readonly valid: readonly number[];
}

interface Recorded {
  readonly shape: readonly number[];
  readonly actual: readonly number[];
  readonly predicted: readonly number[];
}

/** The numbers of sequences that are measured, and that are kept to be drawn. */
const MEASURED = 64;
const KEPT = 2;

/** Shows recorded sequences to an agent's world model. */
export async function keepOpenLoop({ learner }: DreamerAgent, context: number, seed: number): Promise<KeptOpenLoop> {
  const open = await learner.openLoop(createGenerator(seed), { batch: MEASURED, context });
  const first = ({ data, shape }: NDArray) => Array.from(data.subarray(0, (data.length / shape[0]) * KEPT));
  const names = Object.keys(open.actual).filter((name) => name.startsWith('obs/'));
  const observations = names.map((name) => {
    const [actual, predicted] = [open.actual[name], open.predicted[name]];
    return [
      name.slice('obs/'.length),
      { shape: [KEPT, ...actual.shape.slice(1)], actual: first(actual), predicted: first(predicted) },
    ];
  });
  const kept = Object.fromEntries(observations) as Record<string, Recorded>;
  return { metrics: openLoopMetrics(open), context, observations: kept, valid: first(open.valid) };
}

/** Draws the sequences that were kept, a figure for each of the grids that are observed. */
export async function drawOpenLoop(context: Context, game: Game, kept: KeptOpenLoop): Promise<void> {
  for (const [name, { shape, actual, predicted }] of Object.entries(kept.observations)) {
    const field = game.observation[name];
    if (!field?.channels) continue;
    const prediction = {
      context: kept.context,
      actual: ndarray(Float32Array.from(actual), [...shape]),
      predicted: ndarray(Float32Array.from(predicted), [...shape]),
      valid: ndarray(Uint8Array.from(kept.valid), shape.slice(0, 2)),
    };
    for (let sample = 0; sample < KEPT; sample++) {
      const title = `${game.name}: what came, what was seen in it or imagined, and the difference`;
      await context.figure(
        `open-loop-${name}-${sample + 1}`,
        await openLoopFigure(prediction, sample, { field, title }),
      );
    }
  }
}
