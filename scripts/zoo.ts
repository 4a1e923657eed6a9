/**
 * Makes the agents of `@coplay/zoo`: trains the configurations in packages/zoo/runs one after the other, measures 1,000
 * episodes of each, and writes their files and cards:
 *
 *   npm run zoo                        all of them; a run in runs/zoo that ended already isn't trained again
 *   npm run zoo -- stag-hunt-4x4/ppo   some of them; cards of the others stay
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { evaluate } from '@coplay/core';
import { writeWholeSync } from '@coplay/core/node';
import { bootstrap, mean } from '@coplay/diagnostics/statistics';
import { remakeGame } from '@coplay/envs';
import { packAgents, unpackAgents } from '@coplay/trainers';
import { LIBRARY_VERSION, latestCheckpoint } from '@coplay/trainers/checkpoint';
import { commit } from '../bench/harness/machine';
import type { ZooCard } from '../packages/zoo/src/card';
import { CARDS } from '../packages/zoo/src/generated/cards';
import { mustRun } from './lib/run';
import { filesUnder, root } from './lib/workspaces';

const EPISODES = 1000;
const RUNS = join(root, 'packages/zoo/runs');
const GENERATED = join(root, 'packages/zoo/src/generated');
const HEAD = '// Made by `npm run zoo`.\n';

/** Before any file is written: each card changes the tree. */
const AT = commit() ?? 'unknown';

const all = filesUnder(RUNS, '.json').map((path) => relative(RUNS, path).replace('.json', ''));
const asked = process.argv.slice(2);
for (const name of asked) if (!all.includes(name)) throw new Error(`There is no ${name}; there are ${all.join(', ')}.`);
const cards = new Map(CARDS.filter(({ name }) => all.includes(name)).map((card) => [card.name, card]));
for (const name of asked.length > 0 ? asked : all) {
  cards.set(name, await make(name));
  writeIndex();
}

/** Trains agents, unless their run has ended already, and writes their file. @returns their card */
async function make(name: string): Promise<ZooCard> {
  const configuration = JSON.parse(readFileSync(join(RUNS, `${name}.json`), 'utf8'));
  const directory = join(root, 'runs/zoo', name);
  const trained = await train(name, directory);
  const bytes = await packAgents(directory);
  const config = JSON.parse(readFileSync(join(directory, 'config.json'), 'utf8'));
  const { checkpoint } = await latestCheckpoint(join(directory, 'checkpoints'));
  const learners = Object.values(config.learners) as { algorithm: string }[];
  const { name: game, options } = config.game;
  const card = {
    ...{ name, game: { name: game, options }, algorithm: learners[0]!.algorithm, configuration },
    ...{ command: `npm run zoo -- ${name}`, commit: trained, version: LIBRARY_VERSION },
    ...{ seed: configuration.seed, envSteps: checkpoint!.step },
    ...(await measure(bytes, { name: game, options })),
    ...{ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
  };
  const text = `${HEAD}export const BASE64 = '${Buffer.from(bytes).toString('base64')}';\n`;
  writeWholeSync(join(GENERATED, `${fileOf(name)}.ts`), text, { makeFolder: true });
  console.log(`${name}: return ${card.return.mean.toFixed(3)}, ${Math.round(bytes.length / 1024)} kB`);
  return card;
}

/** @returns the commit at the training */
async function train(name: string, directory: string): Promise<string> {
  const note = join(directory, 'commit.txt');
  if (existsSync(note)) return readFileSync(note, 'utf8').trim();
  console.log(`${name}: training ...`);
  const coplay = ['--conditions=@coplay/source', '--import', 'tsx', join(root, 'packages/coplay/src/bin.ts')];
  const begun = existsSync(join(directory, 'coplay.json'));
  const args = begun ? ['resume', directory] : ['train', join(RUNS, `${name}.json`), '--directory', directory];
  await mustRun(process.execPath, [...coplay, ...args], { cwd: root, limit: 7200 });
  writeWholeSync(note, `${AT}\n`);
  return AT;
}

/** Plays with the agents of the file, not with those of the run: its numbers are shorter. */
async function measure(bytes: Uint8Array, description: ZooCard['game']): Promise<Pick<ZooCard, 'return' | 'byAgent'>> {
  const game = remakeGame(description);
  const { agents, dispose } = await unpackAgents(bytes, { game });
  const { returns, returnMean } = await evaluate(game, agents as never, { episodes: EPISODES });
  dispose();
  const A = game.agents.length;
  const ofEpisodes = Array.from({ length: EPISODES }, (_, i) => mean(returns.subarray(i * A, (i + 1) * A)));
  const { value, lower, upper } = bootstrap(ofEpisodes);
  return { return: { mean: value, lower, upper, episodes: EPISODES }, byAgent: returnMean };
}

function writeIndex(): void {
  const sorted = [...cards.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const loaders = sorted.map(({ name }) => `  '${name}': () => import('./${fileOf(name)}'),`);
  const list = JSON.stringify(sorted, null, 2);
  const type = "import type { ZooCard } from '../card';\n";
  writeWholeSync(join(GENERATED, 'cards.ts'), `${HEAD}${type}\nexport const CARDS: readonly ZooCard[] = ${list};\n`);
  writeWholeSync(join(GENERATED, 'agents.ts'), `${HEAD}export const AGENTS = {\n${loaders.join('\n')}\n};\n`);
}

/** `stag-hunt-4x4/ppo`: `stag-hunt-4x4-ppo` */
function fileOf(name: string): string {
  return name.replaceAll('/', '-');
}
