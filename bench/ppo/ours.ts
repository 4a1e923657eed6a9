/**
 * Our side of `bench -- ppo`, a process of its own: does the task that is its argument, as JSON, and sends a `Run` to
 * its parent.
 */
import type { Log, Metrics } from '@coplay/core';
import { median } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import { ppoAgent, selfPlay, sharedPpoAgents } from '@coplay/trainers';
import { watchActing } from './stopwatch';
import type { Run, Split, Task, Update } from './trial';

process.send?.(await train(JSON.parse(process.argv[2]) as Task));
process.disconnect();

async function train(task: Task): Promise<Run> {
  const { size, agents: count, hares, envs, steps, seed, ppo } = task;
  // From here on everything counts: tracing and compiling happen during the run.
  const start = performance.now();
  const game = stagHunt({ size, agents: count, stags: 1, hares });
  const agents =
    task.weights === 'own' ? game.agents.map((id) => ppoAgent({ game, id, ppo })) : sharedPpoAgents({ game, ppo });
  const acting = watchActing(agents);
  const updates: Update[] = [];
  const splits: Split[] = [];
  let before = 0;
  const log: Log = {
    start: () => {},
    close: () => {},
    write({ metrics }) {
      const seconds = (performance.now() - start) / 1000;
      const episodes = metrics['episode/count'];
      updates.push({ seconds, episodes, meanReturn: episodes > 0 ? metrics['episode/return_mean'] : null });
      splits.push(splitOf(seconds - before, acting.take(), metrics));
      before = seconds;
    },
  };
  const run = selfPlay({ game, agents, envs, steps, seed, log: [log] });
  await run.train({ envSteps: task.envSteps });
  run.dispose();
  const of = (part: keyof Split) => median(splits.map((split) => split[part]));
  const split = { environment: of('environment'), acting: of('acting'), learning: of('learning'), rest: of('rest') };
  return { name: 'coplay', compileSeconds: 0, updates, split };
}

/** Learning includes the critic's values of the rollout; the rest is statistics of episodes and logging. */
function splitOf(seconds: number, acting: number, metrics: Metrics): Split {
  const collecting = metrics['time/collect_seconds'];
  const learning = metrics['time/learn_seconds'];
  return {
    environment: (collecting - acting) / seconds,
    acting: acting / seconds,
    learning: learning / seconds,
    rest: 1 - (collecting + learning) / seconds,
  };
}
