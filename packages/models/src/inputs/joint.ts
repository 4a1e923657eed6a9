import { allocate, checkArgument, checkCount, checkRecord, dtypeOf, type NamedArrays, sizeOf } from '@coplay/core';
import { encoderSchema, type InputEncoder, type RowSource } from './input-encoder';

/**
 * The encoder of a central critic (Yu et al. 2022, MAPPO): what every agent sees, oneself first, then in cyclic order
 * of seats. Images are joined along channels, vectors end to end.
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
  return {
    shapes,
    kinds: own.kinds,
    encode: (source) => {
      checkRecord('jointEncoder.encode', 'source', source);
      checkCount('jointEncoder.encode', 'source.seat', source.seat);
      checkCount('jointEncoder.encode', 'source.offset', source.offset);
      const views = Array.from({ length: agents }, (_, i) => own.encode(viewOf(source, (source.seat + i) % agents)));
      const joined: NamedArrays = {};
      for (const name of Object.keys(own.shapes)) joined[name] = joinLast(views.map((view) => view[name]));
      return joined;
    },
  };
}

/** The rows of another seat: seats lie side by side in the arrays of an experience. */
function viewOf(source: RowSource, seat: number): RowSource {
  return { ...source, seat, offset: source.offset - source.seat + seat };
}

/** Concatenates arrays of one shape along their last dimension. */
function joinLast(parts: readonly NamedArrays[string][]): NamedArrays[string] {
  const { shape, data: like } = parts[0];
  const width = shape.at(-1)!;
  const lines = sizeOf(shape) / width;
  const total = width * parts.length;
  const data = allocate(dtypeOf(like), lines * total);
  parts.forEach((part, i) => {
    for (let line = 0; line < lines; line++) {
      data.set(part.data.subarray(line * width, (line + 1) * width), line * total + i * width);
    }
  });
  return { data, shape: [...shape.slice(0, -1), total] };
}
