import type { NamedArrays, NDArray } from '@coplay/core';
import { inThisRealm } from '@coplay/core/arrays';
import type { Graph, NamedValue } from '../../graph';
import { isAccepted } from '../checks';
import { type HostArrays, noteWrite } from '../host-arrays';
import type { VariableStore } from '../variables';
import { inputType } from './record';
import type { Runtime, RuntimeTensor } from './runtime';

export type Feeds = Record<string, RuntimeTensor>;

/** Where a graph's state comes from and its new state goes to. */
export interface Binding {
  /** Adds the present state. */
  feed(feeds: Feeds): void;
  /** Adds where the next state is written to. */
  fetch(fetches: Record<string, RuntimeTensor | null>): void;
  /** Makes the next state the present one, if the outputs are accepted. */
  commit(outputs: NamedArrays): void;
}

/** The state of one function. */
export class StateBinding implements Binding {
  private readonly reads: readonly Place[];
  private readonly writes: readonly Place[];
  private readonly changed: readonly VariableStore[];

  constructor(
    private readonly runtime: Runtime,
    private readonly state: Readonly<Record<string, VariableStore>>,
    graph: Graph,
    private readonly acceptState: (outputs: NamedArrays) => boolean,
  ) {
    this.reads = placesOf(graph.inputs, 'state');
    this.writes = placesOf(graph.outputs, 'next');
    this.changed = [...new Set(this.writes.map(({ group }) => state[group]))];
  }

  feed(feeds: Feeds): void {
    for (const place of this.reads) {
      const store = this.state[place.group];
      feeds[place.graphName] = this.tensor(place, place.variable === FLAT ? store.flatHost() : store.host());
    }
  }

  fetch(fetches: Record<string, RuntimeTensor | null>): void {
    for (const place of this.writes) {
      const store = this.state[place.group];
      if (place.variable === FLAT) store.flatHost();
      const tensor = this.tensor(place, store.spare());
      noteWrite(tensor.data);
      fetches[place.graphName] = tensor;
    }
  }

  commit(outputs: NamedArrays): void {
    if (isAccepted(this.acceptState(outputs))) for (const store of this.changed) store.swap();
  }

  private tensor({ group, variable }: Place, host: HostArrays): RuntimeTensor {
    const cached = tensorsOf(host);
    cached[variable] ??= this.make(this.state[group], variable, host);
    return cached[variable];
  }

  private make(store: VariableStore, variable: string, host: HostArrays): RuntimeTensor {
    if (variable === FLAT) return new this.runtime.Tensor('float32', host.flat!, [host.flat!.length]);
    return new this.runtime.Tensor(store.dtypes[variable], host.views[variable], store.shapes[variable]);
  }
}

/** The name that stands for all float32 variables of a group as one vector; no variable has it. */
export const FLAT = '';

/** A variable, or all of a group, as an input or an output of a graph. */
export interface Place {
  readonly graphName: string;
  readonly group: string;
  readonly variable: string;
}

/** The places of a group's variables among inputs (`state`) or outputs (`next`) of a graph. */
export function placesOf(values: readonly NamedValue[], side: 'state' | 'next'): Place[] {
  return values.flatMap(({ name }) => placeOf(name, side) ?? []);
}

/** `state/GROUP/NAME` taken apart; NAME may hold slashes, and is FLAT for the whole group. */
function placeOf(graphName: string, side: 'state' | 'next'): Place | undefined {
  const [first, group] = graphName.split('/', 2);
  if (first !== side) return undefined;
  return { graphName, group, variable: graphName.slice(side.length + group.length + 2) };
}

const cache = new WeakMap<HostArrays, Feeds>();

function tensorsOf(host: HostArrays): Feeds {
  const known = cache.get(host);
  if (known) return known;
  const fresh: Feeds = Object.create(null); // a variable may be called `constructor`
  cache.set(host, fresh);
  return fresh;
}

/** An input array as a tensor: over the caller's memory where its dtype allows it. */
export function inputTensor(runtime: Runtime, array: NDArray): RuntimeTensor {
  const type = inputType(array);
  const data = inThisRealm(array.data);
  const fits = data instanceof Float32Array || data instanceof Int32Array || data instanceof Uint8Array;
  const own = fits && isShared(data) ? data.slice() : data; // a session doesn't take memory that threads share
  return new runtime.Tensor(type, fits ? (own as typeof data) : new Float32Array(data), array.shape);
}

function isShared({ buffer }: ArrayBufferView): boolean {
  return typeof SharedArrayBuffer !== 'undefined' && buffer instanceof SharedArrayBuffer;
}
