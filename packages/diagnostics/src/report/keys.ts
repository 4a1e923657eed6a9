import type { Run } from '../runs';
import { METRIC_DOCS, type MetricDoc } from './generated/metric-docs';

/** A key of a log, taken apart. `agent_0/moa/accuracy/agent_1` is `moa/accuracy` of agent_0 about agent_1. */
export interface KeyParts {
  /** `moa/accuracy` */
  readonly metric: string;
  /** `agent_0 about agent_1`, `agent_0`, `about agent_1`, or empty */
  readonly agent: string;
}

/** Names that may stand before a key (learners) or behind it (agents), of all runs. */
export interface KnownNames {
  readonly learners: ReadonlySet<string>;
  readonly agents: ReadonlySet<string>;
}

/** Names of learners and agents as configurations and keys tell them. */
export function knownNames(runs: readonly Run[]): KnownNames {
  const learners = new Set<string>();
  const agents = new Set<string>();
  for (const { config, entries } of runs) {
    for (const name of Object.keys((config['learners'] as object | undefined) ?? {})) learners.add(name);
    for (const name of Object.keys((config['agents'] as object | undefined) ?? {})) agents.add(name);
    for (const key of Object.keys(entries.at(-1)?.metrics ?? {})) {
      const id = /^episode\/return\/(.+)$/.exec(key)?.[1];
      if (id !== undefined) agents.add(id);
    }
  }
  return { learners, agents };
}

/** Takes a key apart. */
export function partsOf(key: string, { learners, agents }: KnownNames): KeyParts {
  const words = key.split('/');
  const learner = words.length > 2 && learners.has(words[0]) ? words.shift() : undefined;
  const about = words.length > 2 && agents.has(words[words.length - 1]) ? words.pop() : undefined;
  const metric = words.join('/');
  // A fact that all agents see isn't one agent's opinion: the return of agent_0, not the return about it.
  if (learner === undefined && about !== undefined && metric.startsWith('episode/')) return { metric, agent: about };
  const parts = [learner, about && `about ${about}`].filter((part) => part !== undefined);
  return { metric, agent: parts.join(' ') };
}

const explained = new Map<string, MetricDoc | undefined>();

/** The description of a metric in docs/metrics.md (see {@link KeyParts}); undefined for a metric that isn't ours. */
export function explain(metric: string): MetricDoc | undefined {
  if (!explained.has(metric)) explained.set(metric, lookUp(metric));
  return explained.get(metric);
}

function lookUp(metric: string): MetricDoc | undefined {
  const name = metric.replace(/_p\d+$/, '_p50'); // the page tells of all quantiles in one line
  const candidates = [name, `${name}/<agent id>`];
  const exact = METRIC_DOCS.find(({ key }) => candidates.includes(key));
  return exact ?? METRIC_DOCS.find(({ key }) => key.includes('<') && patternOf(key).test(name));
}

/** `world_model/<part>_loss` as a pattern: what stands in `<>` may be anything but a slash. */
function patternOf(key: string): RegExp {
  return new RegExp(`^${key.replace(/<[^>]+>/g, '[^/]+')}$`);
}
