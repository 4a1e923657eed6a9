/**
 * Trains agents of PPO in the game, evaluates them, and writes a report about the run:
 *
 *   npm start              60,000 environment steps; started again, the run goes on from its checkpoint
 *   npm start -- 200000    up to so many steps
 */
import { jsonLines, progress, writeReport } from '@coplay/diagnostics';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import { createTemplateName } from '../game';

const directory = 'runs/first';
const game = createTemplateName();
const agents = game.agents.map((id) => ppoAgent({ game, id }));
const run = selfPlay({ game, agents, envs: 16, seed: 1, directory, log: [progress(), jsonLines(directory)] });
await run.resume(); // where there is a checkpoint
await run.train({ envSteps: Number(process.argv[2] ?? 60_000) });
const { byAgent } = await run.evaluate({ episodes: 200 });
console.table(byAgent);
writeReport(`${directory}/report.html`, [directory]);
console.log(`Report: ${directory}/report.html`);
run.dispose();
