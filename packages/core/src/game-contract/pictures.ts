import { show } from '../errors';
import { createGenerator } from '../generator';
import { firstDifference } from './guarded';
import type { Probe } from './probe';

/** Checks that a first state's map reads back, and gives the same state in an array of any content. */
export function checkLayout(probe: Probe, seed: number): void {
  const { findings, game } = probe;
  if (!game.readLayout || !game.writeLayout) return;
  probe.reset(createGenerator(seed));
  findings.moment = 'with the map of a first state';
  const map = probe.writeLayout();
  probe.readLayout(map);
  const state = probe.save();
  const again = probe.writeLayout();
  if (again !== map) {
    const remedy = 'Let writeLayout() write everything that readLayout() needs.';
    findings.add('layout', 'readLayout', `the map that was written, ${show(map)}`, show(again), remedy);
  }
  const absent = game.agents.findIndex((_, agent) => !probe.isActive(agent));
  if (probe.elapsed() !== 0 || absent >= 0) {
    const got = absent >= 0 ? `${game.agents[absent]} inactive` : `${probe.elapsed()} steps done`;
    findings.add('layout', 'readLayout', 'the start of an episode with everyone in it', got, 'Start as reset() does.');
  }
  probe.readLayout(map, 42);
  const left = firstDifference(state, probe.save());
  if (left < 0) return;
  const expected = 'the same state for any previous content of the array';
  findings.add('reset', 'readLayout', expected, `value ${left} left over`, 'Write all values of the state.');
}

/** Checks that everything in the picture of the present state lies inside it. */
export function checkScene(probe: Probe): void {
  const { findings } = probe;
  const scene = probe.scene();
  if (!scene) return;
  const { rows, columns, items } = scene;
  const isInside = (at: number, size: number) => Number.isInteger(at) && at >= 0 && at < size;
  const stray = items.find(({ row, column }) => !isInside(row, rows) || !isInside(column, columns));
  if (stray) {
    const got = `${stray.kind} in row ${stray.row}, column ${stray.column}`;
    findings.add(
      'scene',
      'scene',
      `items inside ${rows} rows and ${columns} columns`,
      got,
      'Leave out items that have left the map.',
    );
  }
  const odd = items.find(({ symbol }) => [...symbol].length !== 1);
  if (odd) findings.add('scene', 'scene', 'symbols of one character', show(odd.symbol), 'Shorten the symbol.');
}
