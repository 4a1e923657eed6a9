import { namedArrays, ndarrays } from '@coplay/core/checks';
import { z } from 'zod';

/** Schemas of what several functions take, for `checkArgument`. A figure that isn't known is NaN. */

export const figure = z.custom<number>((value) => typeof value === 'number', 'a number or NaN');
const figures = z.array(figure);
const count = z.int().min(0);
const texts = z.array(z.string());

export const estimate = z.looseObject({ value: figure, lower: figure, upper: figure });

export const curve = z.looseObject({ steps: z.array(z.number()), values: figures });

export const beliefRecord = z.looseObject({ goals: texts, beliefs: z.array(figures), starts: z.array(count) });

export const beliefLine = z.looseObject({
  steps: z.array(z.number()),
  belief: figures,
  starts: z.array(z.number()).optional(),
  switches: z.array(z.number()).optional(),
});

export const openLoop = z.looseObject({
  context: z.number(),
  actual: ndarrays,
  predicted: ndarrays,
  valid: ndarrays.optional(),
});

export const openLoopArrays = z.looseObject({
  context: z.number(),
  actual: namedArrays,
  predicted: namedArrays,
  valid: ndarrays,
});

export const planesPair = z.looseObject({ channels: texts, predicted: ndarrays, actual: ndarrays });

export const logEntries = z.array(z.looseObject({ envSteps: figure, metrics: z.record(z.string(), figure) }));

export const run = z.looseObject({
  directory: z.string(),
  config: z.record(z.string(), z.unknown()),
  versions: z.record(z.string(), z.unknown()),
  entries: logEntries,
});

export const verdict = z.looseObject({ isFair: z.boolean().nullable(), suspects: texts, finding: z.string() });

export const counters = z.record(z.string(), z.record(z.string(), z.number()));

const distribution = z.looseObject({
  count,
  notFinite: count,
  mean: figure,
  variance: figure,
  min: figure,
  max: figure,
  quantiles: z.record(z.string(), figure),
  histogram: z.looseObject({ edges: figures, counts: figures }),
});

export const origins = z.looseObject({ real: distribution, imagined: distribution });

export const moaEvaluation = z
  .looseObject({
    count: figure,
    top1: figure,
    top3: figure,
    balancedAccuracy: figure,
    classes: z.array(
      z.looseObject({
        name: z.string(),
        count: figure,
        ratio: figure,
        precision: figure,
        recall: figure,
        f1: figure,
      }),
    ),
    confusion: z.array(figures),
  })
  .refine(({ classes, confusion }) => {
    return confusion.length === classes.length && confusion.every((row) => row.length === classes.length);
  }, 'an evaluation with a confusion of classes by classes');

export const moaEvaluations = z.array(moaEvaluation);

export const ablationRows = z.array(
  z.looseObject({
    label: z.string(),
    values: z.array(z.number()),
    mean: estimate,
    iqm: estimate.optional(),
    spread: figure,
    min: figure,
    max: figure,
    difference: estimate,
  }),
);

export const tableRows = z.array(
  z.record(z.string(), z.union([z.string(), figure, z.boolean(), z.null(), z.undefined(), estimate])),
);
