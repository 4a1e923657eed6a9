import { type AgentId, fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';
import { mostCommon, type Verdict } from './verdict';

/** A setting in which agents differ. */
export interface ConfigurationDifference {
  /** Such as `learningRate.from`. */
  readonly path: string;
  /** Each agent's value as JSON; `(none)` where an agent doesn't have the setting. */
  readonly values: Readonly<Record<AgentId, string>>;
}

/** What {@link configurationAudit} found. */
export interface ConfigurationReport extends Verdict {
  readonly differences: readonly ConfigurationDifference[];
}

/**
 * Do the agents have the same settings? Suspects are agents whose settings differ from the majority's.
 *
 * @param configs  each agent's configuration, as JSON
 * @param ignore   paths that are to differ, such as the agent's own `id`
 * @throws CoplayError for fewer than two agents
 */
export function configurationAudit(
  configs: Readonly<Record<AgentId, unknown>>,
  ignore: readonly string[] = [],
): ConfigurationReport {
  checkArgument('configurationAudit', 'configs', z.record(z.string(), z.unknown()), configs);
  checkArgument('configurationAudit', 'ignore', z.array(z.string()), ignore);
  const ids = Object.keys(configs);
  if (ids.length < 2) {
    fail('configurationAudit', 'two agents or more', String(ids.length), 'Give the configuration of each agent.');
  }
  for (const id of ids) checkJson(id, configs[id]);
  const flat = new Map(ids.map((id) => [id, flatten(configs[id])]));
  const paths = new Set(ids.flatMap((id) => [...(flat.get(id)?.keys() ?? [])]));
  const differences = [...paths]
    .filter((path) => !ignore.includes(path))
    .map((path) => ({ path, values: Object.fromEntries(ids.map((id) => [id, flat.get(id)?.get(path) ?? '(none)'])) }))
    .filter(({ values }) => new Set(Object.values(values)).size > 1);
  const suspects = ids.filter((id) => differences.some(({ values }) => isOdd(values, id)));
  return { isFair: differences.length === 0, suspects, finding: describe(differences), differences };
}

function isOdd(values: Readonly<Record<AgentId, string>>, id: AgentId): boolean {
  return values[id] !== mostCommon(Object.values(values));
}

function describe(differences: readonly ConfigurationDifference[]): string {
  if (differences.length === 0) return 'All agents have the same settings.';
  const sentences = differences.map(({ path, values }) => {
    const common = mostCommon(Object.values(values));
    const odd = Object.keys(values).filter((id) => isOdd(values, id));
    return `${path} is ${odd.map((id) => `${values[id]} for ${id}`).join(', ')} where the others have ${common}`;
  });
  return `Settings differ: ${sentences.join('; ')}.`;
}

function checkJson(id: AgentId, config: unknown): void {
  try {
    JSON.stringify(config);
  } catch (error) {
    const got = `${show(config)}: ${(error as Error).message}`;
    fail(`configurationAudit: configs.${id}`, 'a configuration as JSON', got, 'Give plain records, lists and values.');
  }
}

/** Leaves of a JSON value by their paths. A record may say less than its defaults, so an empty one is a leaf too. */
function flatten(value: unknown, path = '', leaves = new Map<string, string>()): Map<string, string> {
  const isBranch = value !== null && typeof value === 'object' && Object.keys(value).length > 0;
  if (!isBranch) return leaves.set(path, JSON.stringify(value) ?? '(none)');
  for (const [key, inner] of Object.entries(value)) flatten(inner, path ? `${path}.${key}` : key, leaves);
  return leaves;
}
