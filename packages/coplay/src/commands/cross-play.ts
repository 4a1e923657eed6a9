import { join, resolve } from 'node:path';
import { fail } from '@coplay/core';
import {
  addToReport,
  type CrossPlaySummary,
  crossPlayHeatMap,
  crossPlaySummary,
  crossPlayTable,
  textTable,
  writeReport,
} from '@coplay/diagnostics';
import { crossPlay, exploitability, type LoadedRun, loadRun } from '@coplay/trainers';
import { answer, command, EXIT, JSON_FLAG, type Terminal, textOf, wholeNumber } from '../command';
import { ALLOW_CODE, trustOf } from '../configuration';
import { STEP_FLAG, stepOf } from './trained';

/** `coplay cross-play` */
export const crossPlayCommand = command({
  usage: 'cross-play RUN RUN... [--episodes N]',
  summary: 'Plays the agents of runs with and against each other: returns of pairs, self-play gap, ratings.',
  words: { least: 1, most: Number.POSITIVE_INFINITY },
  flags: {
    episodes: { value: 'N', what: 'of each seating; default 200' },
    seats: { value: 'ID,ID', what: "seats in which a run's agent plays among others; default: all" },
    seed: { value: 'N', what: 'of the episodes, which are the same for all; default 0' },
    report: { value: 'FILE', what: 'writes a report of the runs there, with the matrix as a heat map' },
    ...STEP_FLAG,
    ...JSON_FLAG,
    ...ALLOW_CODE,
  },
  async run(directories, flags, terminal) {
    const episodes = wholeNumber(flags, 'episodes', 1) ?? 200;
    const seed = wholeNumber(flags, 'seed') ?? 0;
    const seats = textOf(flags, 'seats')?.split(',');
    const file = textOf(flags, 'report');
    checkOnce(directories);
    const runs: LoadedRun[] = [];
    try {
      for (const directory of directories) {
        const step = stepOf(directory, flags);
        const options = { ...trustOf(flags), ...(step !== undefined && { step }), warn: terminal.err };
        runs.push(await loadRun(directory, options));
      }
      checkGames(directories, runs);
      const [{ game }] = runs;
      const policies = Object.fromEntries(directories.map((directory, i) => [directory, runs[i].agents]));
      const plays = await crossPlay({ game, policies, episodes, seed, ...(seats && { seats }) });
      const summary = crossPlaySummary(plays);
      const nashConv = await exploited(directories, runs, terminal);
      const step = stepOf(directories[0], flags);
      const chosen = { ...(step !== undefined && { step }), episodes, seed };
      const result = { game: game.name, ...chosen, ...summary, ...(nashConv && { nashConv }) };
      answer(terminal, flags, result, () => textOfSummary(summary, nashConv));
      if (file !== undefined) {
        const title = `Cross-play on ${game.name}: returns in one seat (rows) among agents of the columns`;
        addToReport(directories[0], { heatMaps: { [title]: crossPlayHeatMap(summary) } });
        writeReport(file, directories);
        terminal.err(`Report: ${join(file)}`);
      }
      return EXIT.ok;
    } finally {
      for (const run of runs) run.dispose();
    }
  },
});

/** A game's name, agents and options. */
interface PlayedGame {
  readonly name: string;
  readonly [option: string]: unknown;
}

/** A policy's name is its directory. */
function checkOnce(directories: readonly string[]): void {
  const places = directories.map((directory) => resolve(directory));
  const again = places.findIndex((place, i) => places.indexOf(place) < i);
  if (again < 0) return;
  const remedy = 'Leave it out: each run meets itself as well as the others.';
  fail('coplay cross-play', 'each run once', `${directories[again]} twice`, remedy);
}

/** Refuses runs of different games, whose agents can't meet. */
function checkGames(directories: readonly string[], runs: readonly LoadedRun[]): void {
  const games = runs.map(({ game: { name, options, agents } }): PlayedGame => ({ agents, ...options, name }));
  const [first] = games;
  const at = games.findIndex((game) => JSON.stringify(game) !== JSON.stringify(first));
  if (at < 0) return;
  const other = games[at];
  const remedy = 'Agents can meet in one game only: give runs of the same game with the same options.';
  const expected = `${textOfGame(first, other)}, as in ${directories[0]}`;
  fail('coplay cross-play', expected, `${textOfGame(other, first)} in ${directories[at]}`, remedy);
}

/** A game by its name, with the options that another game of this name has with other values. */
function textOfGame(game: PlayedGame, other: PlayedGame): string {
  if (game.name !== other.name) return game.name;
  const names = [...new Set([...Object.keys(game), ...Object.keys(other)])].sort();
  const differing = names.filter((name) => JSON.stringify(game[name]) !== JSON.stringify(other[name]));
  return `${game.name} with ${differing.map((name) => `${name} ${JSON.stringify(game[name]) ?? 'absent'}`).join(', ')}`;
}

/** Exact, where all agents of a run play a matrix game without a memory. */
async function exploited(
  directories: readonly string[],
  runs: readonly LoadedRun[],
  { err }: Terminal,
): Promise<Record<string, number> | undefined> {
  if (!runs[0].game.name.startsWith('matrix')) return undefined;
  const found: Record<string, number> = {};
  for (const [i, { game, agents }] of runs.entries()) {
    try {
      found[directories[i]] = (await exploitability({ game, agents })).nashConv;
    } catch (error) {
      err((error as Error).message);
    }
  }
  return found;
}

function textOfSummary(summary: CrossPlaySummary, nashConv: Record<string, number> | undefined): string {
  const rows = crossPlayTable(summary).map((row) => {
    const own = nashConv?.[String(row['policy'])];
    return own === undefined ? row : { ...row, exploitability: own };
  });
  const { selfPlay, crossPlay: others, gap } = summary;
  if (!others || !gap) return textTable(rows);
  const text = ({ value, lower, upper }: typeof gap) =>
    `${value.toFixed(3)} (${lower.toFixed(3)} to ${upper.toFixed(3)})`;
  const line = `Self-play ${text(selfPlay)}, cross-play ${text(others)}, gap ${text(gap)}; intervals are over runs.`;
  return `${textTable(rows)}\n${line}`;
}
