import type { NamedArrays, NDArray } from '@coplay/core';
import type { Graph } from '../../graph';
import { type Entry, mapTree, type Tree } from '../tree';
import { explainRun } from './errors';
import { type Binding, type Feeds, inputTensor } from './feeds';
import { type OpenedSession, openSession, type SessionSetup } from './open-session';
import type { Runtime, RuntimeTensor } from './runtime';
import { threadChanges } from './threads';

/** A graph and its bindings. */
export interface BoundGraph {
  readonly graph: Graph;
  readonly outputs: Tree<string>;
  readonly binding: Binding;
}

/** The leaves of the inputs, by path. */
type Inputs = readonly Entry<NDArray>[];

type Fetches = Record<string, RuntimeTensor | null>;

/** A graph, ready to run. */
export class GraphSession {
  private readonly wanted: ReadonlySet<string>;
  private checkedAt = threadChanges();

  private constructor(
    private readonly setup: SessionSetup,
    private readonly bound: BoundGraph,
    private readonly opened: OpenedSession,
  ) {
    this.wanted = inputNames(bound.graph);
  }

  /** Emits and loads an optimised graph. Where a trial must find the number of threads, it runs with these inputs. */
  static async create(setup: SessionSetup, bound: BoundGraph, inputs: Inputs): Promise<GraphSession> {
    const feeds = feedsOf(setup.runtime, bound, inputNames(bound.graph), inputs);
    const opened = await openSession(setup, bound.graph, feeds);
    return new GraphSession(setup, bound, opened);
  }

  /** Whether it has as many threads as it should; see `useThreads`. */
  get isCurrent(): boolean {
    if (this.checkedAt === threadChanges()) return true;
    this.checkedAt = threadChanges();
    return this.opened.isCurrent();
  }

  /** Runs the graph, and makes the next state the present one. Nothing changes if it throws. */
  async run(inputs: Inputs): Promise<Tree<NDArray>> {
    const { binding, outputs: names } = this.bound;
    const feeds = feedsOf(this.setup.runtime, this.bound, this.wanted, inputs);
    const fetches: Fetches = {};
    mapTree(names, isName, (name) => {
      fetches[name] = null;
    });
    binding.fetch(fetches);
    const results = Object.keys(fetches).length === 0 ? {} : await this.fetch(feeds, fetches);
    const outputs = mapTree(names, isName, (name) => arrayOf(results[name]));
    binding.commit(outputs as NamedArrays);
    return outputs;
  }

  release(): Promise<void> {
    return this.opened.session.release();
  }

  /** Ends the file of times that a profiled session writes. */
  endProfiling(): void {
    this.opened.session.endProfiling?.();
  }

  private async fetch(feeds: Feeds, fetches: Fetches): Promise<Readonly<Record<string, RuntimeTensor>>> {
    try {
      return await this.opened.session.run(feeds, fetches);
    } catch (error) {
      throw explainRun(this.setup.where, error);
    }
  }
}

/** The inputs that the graph reads, and the present state. */
function feedsOf(runtime: Runtime, { binding }: BoundGraph, wanted: ReadonlySet<string>, inputs: Inputs): Feeds {
  const feeds: Feeds = {};
  for (const [path, array] of inputs) {
    if (wanted.has(`in/${path}`)) feeds[`in/${path}`] = inputTensor(runtime, array);
  }
  binding.feed(feeds);
  return feeds;
}

function inputNames(graph: Graph): ReadonlySet<string> {
  return new Set(graph.inputs.map(({ name }) => name));
}

function isName(x: unknown): x is string {
  return typeof x === 'string';
}

function arrayOf({ data, dims }: RuntimeTensor): NDArray {
  return { data: data as NDArray['data'], shape: [...dims] };
}
