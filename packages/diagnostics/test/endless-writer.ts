import { csv, jsonLines, tensorboard } from '@coplay/diagnostics';

// A process of its own for kill.test.ts: logs until it is killed. Argument: the directory.
const directory = process.argv[2];
const logs = [jsonLines(directory), csv(directory), tensorboard(directory)];
for (const log of logs) log.start({ name: 'endless', config: {}, envSteps: 1e9, startedAt: 0 });
process.stdout.write('started\n');
for (let update = 1; ; update++) {
  const late = update > 50 ? { 'evaluation/return': update } : {};
  const metrics = { 'policy/loss': 1 / update, 'value/mse': update / 3, ...late };
  for (const log of logs) log.write({ envSteps: update, update, metrics });
}
