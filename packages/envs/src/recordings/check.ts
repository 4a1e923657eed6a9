import { fail, show } from '@coplay/core';
import { z } from 'zod';
import { misfit } from './fit';
import type { Recording } from './recording';

/** Cells of a board in each direction, and numbers of an observation: a page draws each of them. */
const MOST_CELLS = 1000;
const MOST_NUMBERS = 1_000_000;

const numbers = z.array(z.number());
const cells = z.int().min(1).max(MOST_CELLS);
const shape = z
  .array(z.int().min(1))
  .refine(
    (sizes) => sizes.reduce((product, size) => product * size, 1) <= MOST_NUMBERS,
    `at most ${MOST_NUMBERS} numbers`,
  );
const observation = z.record(z.string(), numbers);
const scene = z.looseObject({
  rows: cells,
  columns: cells,
  items: z.array(z.looseObject({ kind: z.string(), symbol: z.string(), row: z.int(), column: z.int() })),
});
const frame = z.looseObject({
  state: numbers,
  layout: z.string().optional(),
  scene: scene.optional(),
  observations: z.array(observation.nullable()).optional(),
});
const insight = z.looseObject({
  policy: numbers.optional(),
  value: z.number().optional(),
  beliefs: z.record(z.string(), numbers).optional(),
  visits: numbers.optional(),
});
const bounds = z.array(z.number().nullable());
const space = z.union([
  z.int().min(1),
  z.looseObject({ kind: z.literal('box'), shape, low: bounds, high: bounds }),
  z.looseObject({ kind: z.literal('multi-discrete'), counts: z.array(z.int().min(1)).min(1) }),
]);
const step = z.looseObject({
  actions: z.array(z.union([z.int(), numbers]).nullable()),
  rewards: numbers,
  terminated: z.array(z.boolean()),
  truncated: z.array(z.boolean()),
  insights: z.array(insight.nullable()).optional(),
  predicted: frame.extend({ rewards: numbers, terminated: z.array(z.boolean()) }).optional(),
});
const schema = z.looseObject({
  game: z.string(),
  options: z.record(z.string(), z.unknown()),
  agents: z.array(z.string()).min(1),
  players: z.array(z.string()),
  actionNames: z.array(z.string()),
  spaces: z.array(space).optional(),
  goals: z.array(z.string()).optional(),
  observation: z.record(z.string(), z.looseObject({ shape, channels: z.array(z.string()).optional() })).optional(),
  generator: z.array(z.number()).length(4),
  frames: z.array(frame),
  steps: z.array(step),
});

/**
 * Whether something is a recording of this version, whole, whose parts fit each other.
 *
 * @param where  for the message: `readRecording(episode.coplay)`
 * @throws CoplayError that names the fault
 */
export function checkRecording(where: string, value: unknown): Recording {
  const { format, version } = (value ?? {}) as Partial<Record<'format' | 'version', unknown>>;
  if (format !== 'coplay-episode' || (version !== 1 && version !== 2)) {
    const got = format === 'coplay-episode' ? `version ${show(version)}` : `format ${show(format)}`;
    fail(
      where,
      'a recording: coplay-episode, version 1 or 2',
      got,
      'Give what recordEpisode() or writeRecording() made.',
    );
  }
  const { success, error } = schema.safeParse(value);
  const issue = success ? undefined : error.issues[0];
  const problem = issue
    ? `${issue.path.join('.')}: ${issue.message}`
    : (oddName(value as Recording) ?? misfit(value as Recording));
  if (problem !== undefined) fail(where, 'a whole recording', problem, 'It is damaged: record the episode again.');
  return value as Recording;
}

/** No field of a game has the name `__proto__`, and a schema of records doesn't look at what stands there. */
function oddName({ observation }: Recording): string | undefined {
  return Object.hasOwn(observation ?? {}, '__proto__') ? 'observation: the name "__proto__"' : undefined;
}
