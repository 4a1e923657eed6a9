import { readFileSync } from 'node:fs';
import { checkGame, checkOptions, fail, type Game } from '@coplay/core';
import { parseJson, repeatedKey } from '@coplay/core/checks';
import { gamesByName } from '@coplay/envs';
import { ppoPresets } from '@coplay/trainers';
import { type ZodType, z } from 'zod';
import type { AgentMaker, Configuration } from './define';
import { AGENTS, AROUND_PPO, EXPLORATIONS, namesOf } from './kinds';
import { isPlainRecord } from './networks';

const logs = ['progress', 'csv', 'tensorboard'] as const;

/** A game by its name, with the options of `stagHunt()`, `snowdrift()` and so on. */
const namedGame = z.looseObject(
  { name: z.enum(namesOf(gamesByName)) },
  { error: 'a game by its name, or one of your own' },
);

/** Who plays: an algorithm or a rule, with its options. The library's functions check them. */
const agentOfKind = z
  .looseObject(
    {
      kind: z.enum(namesOf(AGENTS)),
      preset: z.enum(namesOf(ppoPresets)).optional(),
      ppo: z.record(z.string(), z.unknown()).optional(),
      moa: z.union([z.record(z.string(), z.unknown()), z.literal(false)]).optional(),
    },
    { error: 'agents by their kind, or a function that makes them' },
  )
  .refine(({ kind, preset }) => preset === undefined || AROUND_PPO.includes(kind), {
    path: ['preset'],
    error: `none but for ${AROUND_PPO.join(', ')}`,
  })
  .superRefine(({ search, ...options }, context) => {
    refuseFilledIn(options, ['game', 'id', 'ids'], [], context);
    refuseFilledIn(
      search,
      ['game', 'simulator', 'gamma', 'cacheAnswers', 'networkInputs', 'truncation'],
      ['search'],
      context,
    );
  });

/** Options that are filled in here would be ignored without a word. */
function refuseFilledIn(
  options: unknown,
  names: readonly string[],
  path: string[],
  context: Pick<z.core.$RefinementCtx, 'addIssue'>,
): void {
  if (!isPlainRecord(options)) return;
  const keys = names.filter((name) => Object.hasOwn(options, name));
  if (keys.length > 0) context.addIssue({ code: 'unrecognized_keys', keys, path, input: options });
}

/** A description, or what code made. Not a union: that would complain of both where one is meant. */
function orCode<Described, Code>(description: ZodType<Described>, isCode: (value: unknown) => value is Code) {
  return z.unknown().transform((value, context): Described | Code => {
    if (isCode(value)) return value;
    const result = description.safeParse(value);
    if (result.success) return result.data;
    for (const { path, ...issue } of result.error.issues) {
      context.issues.push({ ...issue, path: [...path], input: value } as z.core.$ZodRawIssue);
    }
    return z.NEVER;
  });
}

/** Whether a game is one that code made, and no description. */
export const isGame = (value: unknown): value is Game => typeof (value as Game | undefined)?.step === 'function';
const isMaker = (value: unknown): value is AgentMaker => typeof value === 'function';

const agents = orCode(agentOfKind, isMaker);

/** A number of the rules that changes linearly during training. */
const changing = z.strictObject(
  { from: z.number(), to: z.number(), by: z.number().positive().max(1).optional() },
  { error: 'a straight line { from, to, by? }' },
);

/** Directed exploration, with the options of its function. */
const exploration = z.looseObject({ kind: z.enum(namesOf(EXPLORATIONS)) });

const schema = z.strictObject({
  game: orCode(namedGame, isGame),
  curriculum: z.record(z.string(), changing).optional(),
  exploration: exploration.optional(),
  agents: agents.default({ kind: 'ppo' }),
  seats: z.record(z.string(), agents).default({}),
  envs: z.int().min(1).default(32),
  steps: z.int().min(1).default(32),
  seed: z.int().min(0).default(1),
  envSteps: z.int().min(1),
  directory: z.string().min(1).optional(),
  checkpointEvery: z.union([z.int().min(1), z.literal(false)]).default(50),
  keepCheckpoints: z.int().min(1).default(3),
  evaluateEvery: z.union([z.int().min(1), z.literal(false)]).default(false),
  evaluateEpisodes: z.int().min(1).default(100),
  keepBest: z.boolean().default(false),
  patience: z.int().min(1).optional(),
  log: z.array(z.enum(logs)).default(['progress']),
});

/** Names of the fields of a configuration. */
export const FIELDS: ReadonlySet<string> = new Set(Object.keys(schema.shape));

/** {@link Configuration} with defaults filled in. Options of the game and of agents are checked where they are used. */
export type RunConfiguration = z.infer<typeof schema>;

/** One entry of `agents` or `seats` that isn't code. */
export type CheckedAgents = z.infer<typeof agentOfKind>;

/**
 * Checks a configuration and fills in defaults.
 *
 * @param where  of what, for messages: the path of the file
 * @throws CoplayError that names the first thing that is wrong
 */
export function checkConfiguration(where: string, configuration: unknown): RunConfiguration {
  refusePrototype(where, (configuration as { seats?: unknown } | null | undefined)?.seats);
  const checked = checkOptions(where, schema, configuration as Configuration) as RunConfiguration;
  if (isGame(checked.game)) checkGame(`${where}: option game`, checked.game, 'discrete', 'play');
  return checked;
}

/**
 * Refuses a seat with the name `__proto__`: in code it sets the prototype of `seats`. In JSON it is a name, which
 * `checkOptions` refuses.
 */
function refusePrototype(where: string, seats: unknown): void {
  if (typeof seats !== 'object' || seats === null || Array.isArray(seats)) return;
  if (isPlainRecord(seats)) return;
  fail(`${where}: option seats`, 'ids of the game', '"__proto__"', 'Name seats of the game.');
}

/**
 * Reads a file of JSON.
 *
 * @throws CoplayError if it isn't there, isn't JSON, or names a key twice
 */
export function readJsonFile(path: string, remedy = 'Mend the file: names and texts stand in double quotes.'): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return fail('coplay', 'a file of JSON', (error as Error).message, 'Give the path of a configuration.');
  }
  const value = parseJson(path, text, { remedy });
  const repeated = repeatedKey(text);
  if (repeated !== undefined) fail(path, 'each name once', `${JSON.stringify(repeated)} twice`, 'Remove one of them.');
  return value;
}
