import type { NamedArrays, NDArray } from '@coplay/core';
import type { Graph } from '../../graph';
import { isAccepted } from '../checks';
import { isArray } from '../convert';
import { noteWrite } from '../host-arrays';
import { type Binding, type Feeds, FLAT, type Place, placesOf } from '../onnx/feeds';
import type { Runtime, RuntimeTensor } from '../onnx/runtime';
import { mapTree, type Tree } from '../tree';
import type { StackedStore } from './stacked-variables';

/** Whether one member's outputs let its new state be taken. */
export type AcceptMember = (outputs: NamedArrays, member: number) => boolean;

/** The state of a function over members. */
export class StackBinding implements Binding {
  private readonly reads: readonly Place[];
  private readonly writes: readonly Place[];
  private readonly changed: readonly StackedStore[];
  private readonly tensors = new WeakMap<object, RuntimeTensor>();

  constructor(
    private readonly runtime: Runtime,
    private readonly state: Readonly<Record<string, StackedStore>>,
    graph: Graph,
    private readonly acceptState: AcceptMember,
  ) {
    this.reads = placesOf(graph.inputs, 'state');
    this.writes = placesOf(graph.outputs, 'next');
    this.changed = [...new Set(this.writes.map(({ group }) => state[group]))];
  }

  feed(feeds: Feeds): void {
    const sides = Object.fromEntries(Object.entries(this.state).map(([key, store]) => [key, store.present()]));
    for (const place of this.reads) feeds[place.graphName] = this.tensor(place, sides[place.group].arrays);
  }

  fetch(fetches: Record<string, RuntimeTensor | null>): void {
    for (const place of this.writes) {
      const tensor = this.tensor(place, this.state[place.group].spare().arrays);
      noteWrite(tensor.data);
      fetches[place.graphName] = tensor;
    }
  }

  commit(outputs: NamedArrays): void {
    if (this.changed.length === 0) return;
    const members = this.changed[0].members.length;
    const accepted = Array.from({ length: members }, (_, i) =>
      isAccepted(this.acceptState(memberOf(outputs, i, members), i)),
    );
    for (const store of this.changed) store.swap((member) => accepted[member]);
  }

  private tensor({ group, variable }: Place, arrays: Readonly<Record<string, Float32Array | Int32Array>>) {
    const data = arrays[variable];
    const known = this.tensors.get(data);
    if (known) return known;
    const { members } = this.state[group];
    const shape = variable === FLAT ? [data.length / members.length] : members[0].shapes[variable];
    const type = data instanceof Int32Array ? 'int32' : 'float32';
    const made = new this.runtime.Tensor(type, data, [members.length, ...shape]);
    this.tensors.set(data, made);
    return made;
  }
}

/** One member's part of arrays [A, ...]: a view. */
export function memberOf<Arrays extends Tree<NDArray>>(arrays: Arrays, member: number, members: number): Arrays {
  return mapTree(arrays as Tree<NDArray>, isArray, ({ data, shape }) => {
    const size = data.length / members;
    return { data: data.subarray(member * size, (member + 1) * size) as NDArray['data'], shape: shape.slice(1) };
  }) as Tree<NDArray> as Arrays;
}
