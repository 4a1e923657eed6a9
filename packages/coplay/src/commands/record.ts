import { existsSync, realpathSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { type Agent, type AgentId, fail, type Simulator, splitSeed } from '@coplay/core';
import { writeWhole } from '@coplay/core/node';
import { addToReport, textTable, toGif, writeReport } from '@coplay/diagnostics';
import { type Recording, recordEpisode, sceneSvg, writeRecording } from '@coplay/envs';
import { isLearning, type WorldModelLearner, withInsight } from '@coplay/trainers';
import { replayPage } from '@coplay/viewer';
import { answer, command, EXIT, JSON_FLAG, textOf, wholeNumber } from '../command';
import { ALLOW_CODE } from '../configuration';
import { checkWritable } from '../writable';
import { STEP_FLAG, seedFor, type TrainedRun, trainedRun } from './trained';

/** `coplay record` */
export const recordCommand = command({
  usage: 'record RUN [--episodes N] [--out FILE] [--page FILE.html]',
  summary: 'Records episodes of a run: what agents saw, did, and told of their choices.',
  words: { least: 1, most: 1 },
  flags: {
    episodes: { value: 'N', what: 'default 1' },
    out: {
      value: 'FILE',
      what: "of the recording; default: episode.coplay in the run's directory; several are numbered",
    },
    page: { value: 'FILE', what: 'a page that replays them all, which needs no other file' },
    gif: { value: 'FILE', what: 'an animated picture of the first one, for games with a scene' },
    report: { what: "shows them in the run's report, too" },
    seed: { value: 'N', what: "of the episodes; default: a child of the run's" },
    ...STEP_FLAG,
    ...JSON_FLAG,
    ...ALLOW_CODE,
  },
  async run([directory], flags, terminal) {
    const episodes = wholeNumber(flags, 'episodes', 1) ?? 1;
    const seed = wholeNumber(flags, 'seed');
    const files = filesOf(textOf(flags, 'out') ?? join(directory, 'episode.coplay'), episodes);
    const [page, gif] = [textOf(flags, 'page'), textOf(flags, 'gif')];
    const trained = await trainedRun(directory, flags, terminal);
    try {
      checkPlaces(files, page);
      if (gif !== undefined) checkWritable('--gif', gif);
      const recordings = await record(trained, episodes, seed ?? seedFor('record', trained));
      for (const [i, recording] of recordings.entries()) await writeRecording(files[i], recording);
      const rows = recordings.map((recording, i) => rowOf(files[i], recording));
      const title = `${trained.game.name} after ${trained.envSteps} steps`;
      if (page !== undefined) {
        await writeWhole(page, await replayPage(recordings, { title }), { where: '--page' });
      }
      if (gif !== undefined) {
        await writeWhole(gif, await animated(trained.game.name, recordings[0]), { where: '--gif' });
      }
      const shown = flags['report'] ? report(directory, title, recordings) : undefined;
      answer(terminal, flags, { episodes: rows, page, gif, report: shown }, () => {
        const places = [page && `Page: ${page}`, gif && `GIF: ${gif}`, shown && `Report: ${shown}`];
        return [textTable(rows), ...places.filter((line) => line !== undefined)].join('\n');
      });
      return EXIT.ok;
    } finally {
      trained.dispose();
    }
  },
});

async function record({ game, agents: trained }: TrainedRun, episodes: number, seed: number): Promise<Recording[]> {
  const agents = trained.map(withInsight);
  const simulator = simulatorOf(trained);
  const recordings: Recording[] = [];
  for (let i = 0; i < episodes; i++) {
    const options = { seed: splitSeed(seed, i), observations: true, ...(simulator && { simulator }) };
    recordings.push(await recordEpisode(game, agents, options));
  }
  return recordings;
}

/** The world model of the first agent that has one, as a simulator; HOP and HOP+ may have one. */
function simulatorOf(agents: readonly Agent[]): Simulator | undefined {
  const models = agents.map((agent) => {
    const setup = isLearning(agent) ? (agent.learner as { setup?: { worldModel?: unknown } }).setup : undefined;
    return setup?.worldModel;
  });
  const model = models.find((one): one is WorldModelLearner => typeof one === 'object' && one !== null);
  return model?.simulator({ sample: false });
}

/** Where recordings go: one as it was asked for, or `episode-1.coplay`, `episode-2.coplay` of `episode.coplay`. */
function filesOf(out: string, episodes: number): string[] {
  const { dir, name, ext } = parse(out);
  return episodes === 1 ? [out] : Array.from({ length: episodes }, (_, i) => join(dir, `${name}-${i + 1}${ext}`));
}

/** Before anything is played: a recording must not be lost. */
function checkPlaces(files: readonly string[], page: string | undefined): void {
  for (const file of files) checkWritable('--out', file);
  if (page === undefined) return;
  checkWritable('--page', page);
  if (!files.some((file) => placeOf(file) === placeOf(page))) return;
  fail('--page', 'another file than the recording', page, 'Give --out and --page different names.');
}

/** One for each place, also where a link leads there. */
function placeOf(file: string): string {
  return existsSync(file) ? realpathSync(file) : resolve(file);
}

/** Pictures of all states of an episode. */
function animated(name: string, { frames }: Recording): Promise<Uint8Array> {
  const scenes = frames.map(({ scene }) => scene);
  if (scenes.every((scene) => scene !== undefined)) return toGif(scenes.map((scene) => sceneSvg(scene, name)));
  const remedy = "Give the game a scene: docs/writing-an-environment.md, 'Optional parts'.";
  return fail('--gif', 'a game with a scene', name, remedy);
}

/** The returns of all agents. */
function rowOf(file: string, { agents, steps }: Recording): Record<string, string | number> {
  const sum = (seat: number) => steps.reduce((total, { rewards }) => total + rewards[seat], 0);
  const returns: [AgentId, number][] = agents.map((id, seat) => [id, sum(seat)]);
  return { file, steps: steps.length, ...Object.fromEntries(returns) };
}

function report(directory: string, title: string, recordings: readonly Recording[]): string {
  const replays = Object.fromEntries(recordings.map((recording, i) => [`${title}, episode ${i + 1}`, recording]));
  const file = join(directory, 'report.html');
  addToReport(directory, { replays });
  writeReport(file, [directory]);
  return file;
}
