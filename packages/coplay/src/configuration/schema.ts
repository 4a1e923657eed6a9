import { readFileSync } from 'node:fs';
import { checkOptions, fail } from '@coplay/core';
import { ppoPresets } from '@coplay/trainers';
import { z } from 'zod';
import { AGENTS, GAMES, namesOf } from './kinds';

/** Options as the library's functions take them; those check them. */
const options = z.record(z.string(), z.unknown());
const logs = ['progress', 'csv', 'tensorboard'] as const;

/** A game by its name, with its options: those of `stagHunt()`, `snowdrift()` and so on. */
const gameSchema = z.looseObject({
  name: z.enum(namesOf(GAMES)),
});

/** Who plays: an algorithm or a rule, with its options. */
const agentSchema = z.looseObject({
  kind: z.enum(namesOf(AGENTS)),
  preset: z.enum(namesOf(ppoPresets)).optional(),
  network: z.looseObject({ kind: z.enum(['mlp', 'conv']) }).optional(),
  ppo: options.optional(),
});

const schema = z.strictObject({
  game: gameSchema,
  agents: agentSchema.default({ kind: 'ppo' }),
  seats: z.record(z.string(), agentSchema).default({}),
  envs: z.int().min(1).default(32),
  steps: z.int().min(1).default(32),
  seed: z.int().min(0).default(1),
  envSteps: z.int().min(1),
  directory: z.string().min(1).optional(),
  checkpointEvery: z.union([z.int().min(1), z.literal(false)]).default(50),
  keepCheckpoints: z.int().min(1).default(3),
  log: z.array(z.enum(logs)).default(['progress']),
});

/** A training as a file tells it, with defaults filled in. Options of the game and of agents are checked where they are used. */
export type RunConfiguration = z.infer<typeof schema>;

/** One entry of `agents` or `seats`. */
export type AgentConfiguration = z.infer<typeof agentSchema>;

/**
 * Checks a configuration and fills in defaults.
 *
 * @param where  of what, for messages: the path of the file
 * @throws CoplayError that names the first thing that is wrong
 */
export function checkConfiguration(where: string, configuration: unknown): RunConfiguration {
  return checkOptions(where, schema, configuration) as RunConfiguration;
}

/**
 * Reads a file of JSON.
 *
 * @throws CoplayError if it isn't there or isn't JSON
 */
export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return fail('coplay', 'a file of JSON', (error as Error).message, 'Give the path of a configuration.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    return fail(path, 'JSON', (error as Error).message, 'Mend the file: names and texts stand in double quotes.');
  }
}
