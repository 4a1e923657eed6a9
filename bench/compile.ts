import { loadavg } from 'node:os';
import { type Agreement, agreement } from './compile/agreement';
import { barsOf, SPEED_BARS, speedRow, tradeRow } from './compile/figures';
import { graphs } from './compile/graphs';
import { findMachines, type Machine } from './compile/machines';
import { memory } from './compile/memory';
import { type Step, steps } from './compile/steps';
import { type Speed, timeStep } from './compile/turns';
import type { Context, Experiment } from './harness';

/** The results for one step. */
interface Found {
  readonly step: Step;
  readonly speeds: readonly Speed[];
}

/** How fast are compiled steps, compared with other ways to run the same ones? */
export const bench: Experiment = {
  name: 'compile',
  description: 'steps of learning and acting, compiled: milliseconds, compared with eager tensors, PyTorch and JAX',
  minutes: 15,
  seeds: 1,
  options: {
    rounds: { what: 'turns of each machine at each step', default: '15' },
    turn: { what: 'milliseconds of a turn, about', default: '150' },
    steps: { what: `which steps, with commas: ${steps.map(({ name }) => name).join(',')}`, default: 'all' },
    'torch-compile': { what: 'no leaves torch.compile out, which compiles for minutes', default: 'yes' },
  },
  bars: {
    ...SPEED_BARS,
    first_loss: { what: 'largest relative difference from our loss, equal parameters and inputs', atMost: 1e-4 },
    loss_after_3: { what: 'largest relative difference after three steps of Adam', atMost: 1e-3 },
  },
  async run(context) {
    const chosen = chooseSteps(context);
    const [load] = loadavg();
    // Peers whose threads wait by spinning (PyTorch, a hundred times) suffer more than ours when cores are taken.
    if (load > 1) context.say(`The machine is busy (load ${load.toFixed(1)}): ratios mean nothing now.`);
    const inspected = await graphs(context, chosen);
    const held = await memory(context, chosen);
    const machines = await findMachines(context);
    const rounds = context.isQuick ? 2 : Number(context.options['rounds']);
    const turn = context.isQuick ? 20 : Number(context.options['turn']);

    const found: Found[] = [];
    const agreements: Pick<Agreement, 'row' | 'differences'>[] = [];
    for (const step of chosen) {
      context.say(step.title);
      const { able, row, differences } = await agreement(context, machines, step);
      agreements.push({ row, differences });
      found.push({ step, speeds: await timeStep(able, step, { rounds, turn }) });
    }
    for (const machine of machines) machine.end();

    context.table(
      'Milliseconds of a step: median (shortest)',
      found.map(({ step, speeds }) => speedRow(step, speeds)),
    );
    context.table(
      'Ratios: medians over rounds',
      found.map(({ step, speeds }) => tradeRow(step, speeds)),
    );
    context.table(
      'The same computation: losses, and largest relative differences from compiled',
      agreements.map(({ row }) => row),
    );
    const worst = (key: 'first' | 'later') => Math.max(...agreements.map(({ differences }) => differences[key]));
    return {
      figures: {
        loadBefore: load,
        machines: machines.map(({ name }: Machine) => name),
        speeds: Object.fromEntries(found.map(({ step, speeds }) => [step.name, speeds])),
        graphs: inspected,
        memory: held,
      },
      bars: {
        ...barsOf(new Map(found.map(({ step, speeds }) => [step.name, speeds]))),
        first_loss: worst('first'),
        loss_after_3: worst('later'),
      },
    };
  },
};

function chooseSteps({ options }: Context): readonly Step[] {
  const wanted = options['steps'].split(',');
  return options['steps'] === 'all' ? steps : steps.filter(({ name }) => wanted.includes(name));
}
