import { elements, type Graph } from '../../graph';
import { coreCount } from '../environment';
import { explainRun, explainSession } from './errors';
import type { Feeds } from './feeds';
import type { Runtime, RuntimeSession, SessionOptions } from './runtime';
import { type MemorySetting, sessionOptions } from './session-options';
import { noteThreads, type ThreadSetting, threadsOf } from './threads';
import { fastestThreads } from './trial';
import { isWorthThreads } from './work';

/** What the sessions of one function have in common. */
export interface SessionSetup {
  readonly runtime: Runtime;
  readonly name: string;
  /** The function's name as messages say it. */
  readonly where: string;
  /** The function's own choice. */
  readonly threads?: ThreadSetting | undefined;
  /** The most threads that a trial tries. Default: one for each core */
  readonly cores?: number | undefined;
  /** Default `system` */
  readonly memory?: MemorySetting | undefined;
  /** Where times of operations go, if they're asked for. */
  readonly profileFolder?: string | undefined;
}

/** A session and how it was made. */
export interface OpenedSession {
  readonly session: RuntimeSession;
  /** Of the graph, in {@link threadsOf}. */
  readonly key: string;
  readonly threads: number;
}

/**
 * Loads a graph with the threads that were asked for or remembered, or else with those that a trial finds fastest: one trial for
 * each function, on the first of its graphs for which threads may pay. A trial
 * runs the graph with these feeds and writes into no state.
 *
 * @param model  the graph as an ONNX file
 */
export async function openSession(
  setup: SessionSetup,
  graph: Graph,
  model: Uint8Array,
  feeds: Feeds,
): Promise<OpenedSession> {
  const key = `${setup.name}#${hashOf(model)}`;
  const ofFunction = `${setup.name}#`;
  const known = threadsOf(key, setup.threads) ?? (isWorthThreads(graph) ? threadsOf(ofFunction, setup.threads) : 1);
  if (known !== undefined) return opened(setup, model, key, known, resultsOf(graph));
  const { threads, session } = await tryThreads(setup, graph, model, feeds);
  noteThreads(ofFunction, threads); // the function's other large graphs take the same: a trial for each size would cost more than it gains
  if (setup.profileFolder === undefined) return note({ session, key, threads });
  await session.release(); // the trial's runs are none of the function's
  return opened(setup, model, key, threads, resultsOf(graph));
}

async function opened(
  setup: SessionSetup,
  model: Uint8Array,
  key: string,
  threads: number,
  results: number,
): Promise<OpenedSession> {
  const profiling =
    setup.profileFolder === undefined
      ? {}
      : { enableProfiling: true, profileFilePrefix: `${setup.profileFolder}/${profileCount++}` };
  const session = await load(setup, model, { ...sessionOptions(threads, setup.memory, results), ...profiling });
  return note({ session, key, threads });
}

function resultsOf({ nodes }: Graph): number {
  return nodes.reduce((sum, { outputs }) => sum + outputs.reduce((numbers, value) => numbers + elements(value), 0), 0);
}

/** Tells files of sessions of one second apart. */
let profileCount = 0;

function note(session: OpenedSession): OpenedSession {
  noteThreads(session.key, session.threads);
  return session;
}

async function tryThreads(setup: SessionSetup, graph: Graph, model: Uint8Array, feeds: Feeds) {
  const fetches = Object.fromEntries(graph.outputs.map(({ name }) => [name, null]));
  const { threads, runner } = await fastestThreads(
    async (count) => {
      const session = await load(setup, model, sessionOptions(count, setup.memory, resultsOf(graph)));
      return { session, run: () => tryRun(setup, session, feeds, fetches), release: () => session.release() };
    },
    { cores: setup.cores ?? (await coreCount()), clock: () => performance.now() },
  );
  return { threads, session: runner.session };
}

async function tryRun({ where }: SessionSetup, session: RuntimeSession, feeds: Feeds, fetches: Record<string, null>) {
  try {
    return await session.run(feeds, fetches);
  } catch (error) {
    throw explainRun(where, error);
  }
}

async function load({ runtime, where }: SessionSetup, model: Uint8Array, options: SessionOptions) {
  try {
    return await runtime.InferenceSession.create(model, options);
  } catch (error) {
    throw explainSession(where, error);
  }
}

/** FNV-1a, 32 bits, in hexadecimal digits: tells the graphs of one function apart. */
function hashOf(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
