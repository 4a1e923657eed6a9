import { elements, type Graph } from '../../graph';
import { encodeModel } from '../../onnx';
import { coreCount } from '../environment';
import { explainRun, explainSession } from './errors';
import type { Feeds } from './feeds';
import type { Runtime, RuntimeSession, SessionOptions } from './runtime';
import { type MemorySetting, sessionOptions } from './session-options';
import { noteThreads, type ThreadSetting, threadsOf } from './threads';
import { fastestThreads } from './trial';
import { fixedThreads, isWorthThreads } from './work';

/** The common settings of one function's sessions. */
export interface SessionSetup {
  readonly runtime: Runtime;
  readonly name: string;
  /** The function's name as messages say it. */
  readonly where: string;
  /** The function's own choice. */
  readonly threads?: ThreadSetting | undefined;
  /** The most threads that the graph may get. Default: one for each core */
  readonly cores?: number | undefined;
  /** Default `system` */
  readonly memory?: MemorySetting | undefined;
  /** Where times of operations go, if they're asked for. */
  readonly profileFolder?: string | undefined;
}

/** A session and how it was made. */
export interface OpenedSession {
  readonly session: RuntimeSession;
  readonly threads: number;
  /** Whether the graph would get as many threads now. */
  isCurrent(): boolean;
}

/**
 * Loads a graph with the threads that it should have. Where a trial must find them, there is one for each function, on
 * the first of its graphs for which threads may pay. A trial runs the graph with these feeds and writes into no state.
 */
export async function openSession(setup: SessionSetup, graph: Graph, feeds: Feeds): Promise<OpenedSession> {
  const isTimed = setup.profileFolder !== undefined && setup.runtime.whole !== undefined;
  const generated = isTimed ? undefined : await setup.runtime.generate?.(setup.where, graph);
  if (generated) return { session: generated, threads: 1, isCurrent: () => true };
  const model = encodeModel(graph, { name: setup.name });
  const cores = setup.cores ?? (await coreCount());
  const key = `${setup.name}#${hashOf(model)}`;
  const ofFunction = `${setup.name}#`;
  const wanted = (): number | undefined => {
    const fixed = () => fixedThreads(graph, cores);
    return (
      threadsOf(key, setup.threads, fixed) ?? (isWorthThreads(graph) ? threadsOf(ofFunction, setup.threads, fixed) : 1)
    );
  };
  const opened = (session: RuntimeSession, threads: number): OpenedSession => {
    noteThreads(key, threads);
    return { session, threads, isCurrent: () => wanted() === threads };
  };
  const known = wanted();
  if (known !== undefined) return opened(await loadOwn(setup, graph, model, known), known);
  const { threads, session } = await tryThreads({ ...setup, cores }, graph, model, feeds);
  // The function's other large graphs use the same number: a trial for each size would cost more than it gains.
  noteThreads(ofFunction, threads);
  if (setup.profileFolder === undefined) return opened(session, threads);
  await session.release(); // the trial's runs are none of the function's
  return opened(await loadOwn(setup, graph, model, threads), threads);
}

/** The session that the function's calls run in, which keeps times if they're asked for. */
function loadOwn(setup: SessionSetup, graph: Graph, model: Uint8Array, threads: number): Promise<RuntimeSession> {
  const profiling =
    setup.profileFolder === undefined
      ? {}
      : { enableProfiling: true, profileFilePrefix: `${setup.profileFolder}/${profileCount++}` };
  return load(setup, model, { ...sessionOptions(threads, setup.memory, resultsOf(graph)), ...profiling });
}

function resultsOf({ nodes }: Graph): number {
  return nodes.reduce((sum, { outputs }) => sum + outputs.reduce((numbers, value) => numbers + elements(value), 0), 0);
}

/** Tells files of sessions of one second apart. */
let profileCount = 0;

async function tryThreads(
  setup: SessionSetup & { readonly cores: number },
  graph: Graph,
  model: Uint8Array,
  feeds: Feeds,
) {
  const fetches = Object.fromEntries(graph.outputs.map(({ name }) => [name, null]));
  const { threads, runner } = await fastestThreads(
    async (count) => {
      const session = await load(setup, model, sessionOptions(count, setup.memory, resultsOf(graph)));
      return { session, run: () => tryRun(setup, session, feeds, fetches), release: () => session.release() };
    },
    { cores: setup.cores, clock: () => performance.now() },
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
