import type { NamedArrays, NDArray } from '@coplay/core';
import type { Graph } from '../../graph';
import { encodeModel } from '../../onnx';
import { optimiseGraph } from '../../passes';
import { isArray } from '../convert';
import { leavesOf, mapTree, type Tree } from '../tree';
import type { VariableStore } from '../variables';
import { inputTensor, StateBinding } from './feeds';
import type { Recorded } from './record';
import type { Runtime, RuntimeSession, RuntimeTensor, SessionOptions } from './runtime';

/** A recorded function, ready to run. */
export class GraphSession {
  private readonly binding: StateBinding;
  private readonly wanted: ReadonlySet<string>;

  private constructor(
    private readonly runtime: Runtime,
    private readonly session: RuntimeSession,
    private readonly recorded: Recorded,
    private readonly state: Readonly<Record<string, VariableStore>>,
    graph: Graph,
  ) {
    this.binding = new StateBinding(runtime, state, graph);
    this.wanted = new Set(graph.inputs.map(({ name }) => name));
  }

  /** Optimises, emits and loads a recorded function. */
  static async create(
    runtime: Runtime,
    name: string,
    recorded: Recorded,
    state: Readonly<Record<string, VariableStore>>,
    options: SessionOptions,
  ): Promise<GraphSession> {
    const graph = optimiseGraph(recorded.graph);
    const session = await runtime.InferenceSession.create(encodeModel(graph, { name }), options);
    return new GraphSession(runtime, session, recorded, state, graph);
  }

  async run(inputs: Tree<NDArray>, acceptState: (outputs: NamedArrays) => boolean): Promise<Tree<NDArray>> {
    const feeds: Record<string, RuntimeTensor> = {};
    for (const [path, array] of leavesOf('', inputs, isArray)) {
      if (this.wanted.has(`in/${path}`)) feeds[`in/${path}`] = inputTensor(this.runtime, array);
    }
    this.binding.feed(feeds);
    const fetches: Record<string, RuntimeTensor | null> = {};
    mapTree(this.recorded.outputs, isName, (name) => {
      fetches[name] = null;
    });
    this.binding.fetch(fetches);
    const results = Object.keys(fetches).length === 0 ? {} : await this.session.run(feeds, fetches);
    const outputs = mapTree(this.recorded.outputs, isName, (name) => arrayOf(results[name]));
    if (acceptState(outputs as NamedArrays)) for (const key of this.recorded.changed) this.state[key].swap();
    return outputs;
  }

  release(): Promise<void> {
    return this.session.release();
  }
}

function isName(x: unknown): x is string {
  return typeof x === 'string';
}

function arrayOf({ data, dims }: RuntimeTensor): NDArray {
  return { data: data as NDArray['data'], shape: [...dims] };
}
