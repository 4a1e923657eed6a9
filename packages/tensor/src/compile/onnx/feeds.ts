import type { NDArray } from '@coplay/core';
import type { Graph } from '../../graph';
import type { HostArrays } from '../host-arrays';
import type { VariableStore } from '../variables';
import { inputType } from './record';
import type { Runtime, RuntimeTensor } from './runtime';

type Feeds = Record<string, RuntimeTensor>;

/** Where a graph's inputs come from and its new state goes to, worked out once. */
export class StateBinding {
  private readonly reads: readonly Place[];
  private readonly writes: readonly Place[];

  constructor(
    private readonly runtime: Runtime,
    private readonly state: Readonly<Record<string, VariableStore>>,
    graph: Graph,
  ) {
    this.reads = graph.inputs.flatMap(({ name }) => placeOf(name, 'state') ?? []);
    this.writes = graph.outputs.flatMap(({ name }) => placeOf(name, 'next') ?? []);
  }

  /** Adds the present state. */
  feed(feeds: Feeds): void {
    for (const place of this.reads) feeds[place.graphName] = this.tensor(place, this.state[place.group].host());
  }

  /** Adds where the next state is written to. */
  fetch(fetches: Record<string, RuntimeTensor | null>): void {
    for (const place of this.writes) fetches[place.graphName] = this.tensor(place, this.state[place.group].spare());
  }

  private tensor({ group, variable }: Place, host: HostArrays): RuntimeTensor {
    const cached = tensorsOf(host);
    cached[variable] ??= this.make(this.state[group], variable, host);
    return cached[variable];
  }

  private make(store: VariableStore, variable: string, host: HostArrays): RuntimeTensor {
    if (variable === FLAT) return new this.runtime.Tensor('float32', host.flat, [host.flat.length]);
    return new this.runtime.Tensor(store.dtypes[variable], host.views[variable], store.shapes[variable]);
  }
}

/** The name that stands for all float32 variables of a group as one vector; no variable has it. */
export const FLAT = '';

interface Place {
  readonly graphName: string;
  readonly group: string;
  readonly variable: string;
}

/** `state/GROUP/NAME` taken apart. */
function placeOf(graphName: string, side: 'state' | 'next'): Place | undefined {
  const [first, group] = graphName.split('/', 2);
  if (first !== side) return undefined;
  return { graphName, group, variable: graphName.slice(side.length + group.length + 2) };
}

const cache = new WeakMap<HostArrays, Feeds>();

function tensorsOf(host: HostArrays): Feeds {
  const known = cache.get(host);
  if (known) return known;
  const fresh: Feeds = {};
  cache.set(host, fresh);
  return fresh;
}

/** An input array as a tensor: over the caller's memory where its dtype allows it. */
export function inputTensor(runtime: Runtime, array: NDArray): RuntimeTensor {
  const type = inputType(array);
  const { data } = array;
  const fits = data instanceof Float32Array || data instanceof Int32Array || data instanceof Uint8Array;
  return new runtime.Tensor(type, fits ? data : new Float32Array(data), array.shape);
}
