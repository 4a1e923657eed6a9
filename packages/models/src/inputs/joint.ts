import { allocate as allocateArray, type NamedArrays, type TypedArray } from '@coplay/core';
import { dtypeOf, sizeOf } from '@coplay/core/arrays';
import { checkArgument, checkCount, checkRecord } from '@coplay/core/checks';
import { mapColumns } from '@coplay/core/rows';
import { checkRoom, encoderSchema, type InputEncoder, type RowSource } from './input-encoder';

/**
 * The encoder of a central critic (Yu et al. 2022, MAPPO): it reads every agent's observation, the agent's own first,
 * then in cyclic order of seats. Images are joined along channels, vectors end to end.
 *
 * @param own     the encoder of one agent's view
 * @param agents  A
 */
export function jointEncoder(own: InputEncoder, agents: number): InputEncoder {
  checkArgument('jointEncoder', 'own', encoderSchema, own);
  checkCount('jointEncoder', 'agents', agents, 1);
  const shapes: Record<string, readonly number[]> = {};
  for (const [name, shape] of Object.entries(own.shapes))
    shapes[name] = [...shape.slice(0, -1), shape.at(-1)! * agents];
  const allocate = (rows: number): NamedArrays => {
    const one = own.allocate(0);
    return mapColumns(one, ({ data }, name) => {
      const shape = [rows, ...shapes[name]];
      return { data: allocateArray(dtypeOf(data), sizeOf(shape)), shape };
    });
  };
  return {
    shapes,
    kinds: own.kinds,
    measured: mapColumns(own.measured, (flags, name) => {
      const joined = new Uint8Array(sizeOf(shapes[name]));
      joinLast(new Array<typeof flags>(agents).fill(flags), joined);
      return { data: joined, shape: shapes[name] };
    }),
    allocate,
    encode: (source, into) => {
      checkRecord('jointEncoder.encode', 'source', source);
      checkCount('jointEncoder.encode', 'source.seat', source.seat);
      checkCount('jointEncoder.encode', 'source.offset', source.offset);
      const views = Array.from({ length: agents }, (_, i) => own.encode(viewOf(source, (source.seat + i) % agents)));
      if (into !== undefined) checkRoom('jointEncoder.encode', shapes, into, source.rows);
      const joined = into ?? allocate(source.rows);
      for (const name of Object.keys(own.shapes)) {
        const parts = views.map((view) => view[name]);
        joinLast(parts, joined[name].data);
      }
      return joined;
    },
  };
}

/** The rows of another seat: seats lie side by side in the arrays of an experience. */
function viewOf(source: RowSource, seat: number): RowSource {
  return { ...source, seat, offset: source.offset - source.seat + seat };
}

/** Concatenates arrays of one shape along their last dimension. */
function joinLast(parts: readonly NamedArrays[string][], joined: TypedArray): void {
  const { shape } = parts[0];
  const width = shape.at(-1)!;
  const lines = sizeOf(shape) / width;
  const total = width * parts.length;
  parts.forEach((part, i) => {
    for (let line = 0; line < lines; line++) {
      joined.set(part.data.subarray(line * width, (line + 1) * width), line * total + i * width);
    }
  });
}
