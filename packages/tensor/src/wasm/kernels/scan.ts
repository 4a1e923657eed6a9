import type { Node, Value } from '../../graph';
import type { Lowering } from '../lowering';
import { isInOrder, type View } from '../views';
import { copyStep } from './copies';

/**
 * A loop over a graph: a value carried from turn to turn has one place, into which each turn copies its result at the
 * end; a turn's own inputs and outputs are copied from and to their places among all turns.
 */
export function addScan(node: Node, lowering: Lowering): void {
  const body = node.body!;
  const each = node.attributes['num_scan_inputs'] as number;
  const inputAxes = node.attributes['scan_input_axes'] as readonly number[] | undefined;
  const outputAxes = node.attributes['scan_output_axes'] as readonly number[] | undefined;
  const carried = node.inputs.length - each;
  const times = (node.inputs[carried] as Value).shape[inputAxes?.[0] ?? 0];
  const state = node.outputs.slice(0, carried).map((output, i) => {
    const place = lowering.room(output);
    lowering.add(copyStep(lowering.view(node.inputs[i] as Value), place));
    lowering.define(body.inputs[i].value, place);
    return place;
  });
  const rooms = node.outputs.slice(carried).map((output) => lowering.room(output));
  const sources = node.inputs.slice(carried).map((input) => lowering.packed(input as Value));
  lowering.loop(times, rooms, (turns) => {
    sources.forEach((source, i) => {
      const { value } = body.inputs[carried + i];
      const axis = inputAxes?.[i] ?? 0;
      turns.copy(turnOf(source, axis), lowering.room(value), 4 * source.dims[axis].stride, 0);
    });
    lowering.run(body);
    const next = body.outputs.slice(0, carried).map(({ value }) => lowering.view(value));
    const isThere = (view: View, i: number) => view.buffer === state[i].buffer && view.offset === 0 && isInOrder(view);
    // A result may be in another one's place, as when two variables are exchanged: those are set aside first.
    const places = new Set(state.map(({ buffer }) => buffer));
    const safe = next.map((view, i) => {
      return places.has(view.buffer) && !isThere(view, i) ? lowering.pack(view, node.outputs[i]) : view;
    });
    rooms.forEach((room, i) => {
      const axis = outputAxes?.[i] ?? 0;
      const { value } = body.outputs[carried + i];
      turns.copy(lowering.view(value), turnOf(room, axis), 0, 4 * room.dims[axis].stride);
    });
    safe.forEach((view, i) => {
      if (!turns.replace(state[i], view) && !isThere(view, i)) lowering.add(copyStep(view, state[i]));
    });
  });
}

/** The part of the first turn. */
function turnOf(view: View, axis: number): View {
  return { ...view, dims: view.dims.filter((_, i) => i !== axis) };
}
