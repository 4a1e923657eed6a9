import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGenerator, type Game, vectorEnv } from '@coplay/core';
import * as envs from '@coplay/envs';
import { type Doors, door } from './doors';
import { firstInput, firstStep } from './inputs';

const folder = mkdtempSync(join(tmpdir(), 'coplay-arguments-'));
const path = (name: string) => join(folder, name);

const game = envs.stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const drifts = envs.snowdrift({ size: 4, agents: 2 });
const id = 'agent_0';
const agents = () => game.agents.map((name) => envs.randomAgent({ game, id: name }));
const state = () => vectorEnv(game, { envs: 1 }).states;
const recording = await envs.recordEpisode(game, agents());
const bytes = await envs.encodeRecording(recording);
await envs.writeRecording(path('episode.coplay'), recording);
const scene = () => ({ rows: 1, columns: 1, items: [{ kind: 'agent', symbol: '1', row: 0, column: 0 }] });
const acts = (played: Game = game, state?: () => unknown) => ({
  initialState: door(() => [1], [['2**33']]),
  act: door(() => [firstInput(played), state?.(), createGenerator(1)], ['nothing', state ? 'nothing' : 'anything']),
});
const switching = () => ({ game, id, first: agents()[0], second: agents()[0], episodes: 1 });
const maker = door(() => [{}], ['options']);

/** The public functions of envs, with valid arguments. */
export const envsDoors: Doors = {
  actionText: door(() => [recording, 0]),
  agentColor: door(() => [0], [['2**33']]),
  cartPole: maker,
  pendulum: maker,
  catchGame: maker,
  clipActions: door(() => [envs.pendulum()]),
  checkRecording: door(() => ['checkRecording', recording], ['anything']),
  decodeRecording: door(() => [bytes, 'decodeRecording'], [['longer'], 'anything']),
  encodeRecording: door(() => [recording]),
  flattenObservations: door(() => [game]),
  frameStack: door(() => [game, 2]),
  freeRider: door(() => [{ game: drifts, id }], [], acts(drifts)),
  gymEscalation: maker,
  gymHarvest: maker,
  gymHunt: maker,
  levelForaging: maker,
  limitedView: door(() => [game, 1, {}], ['nothing', 'nothing', 'options']),
  matrixGame: maker,
  mixed: door(
    () => [{ game, id, p: 0.5 }],
    [],
    acts(game, () => envs.mixed({ game, id, p: 0.5 }).initialState(1)),
  ),
  nearestDrift: door(() => [{ game: drifts, id }], [], acts(drifts)),
  nearestHare: door(() => [{ game, id }], [], acts()),
  nearestStag: door(() => [{ game, id }], [], acts()),
  noOpAfterEnd: door(() => [game]),
  optimisticPartners: door(() => [game, { chance: 0.5, lacksPartners: () => false, join() {} }]),
  overcooked: maker,
  permuteSeats: door(() => [game]),
  randomAgent: door(() => [{ game, id }], [], acts()),
  readRecording: door(() => [path('episode.coplay')], ['path']),
  recordEpisode: door(() => [game, agents(), {}], ['nothing', 'nothing', 'options']),
  remakeGame: door(() => [{ name: 'stag-hunt', options: {} }], [], {}, ['stagHunt']),
  remakeRule: door(() => [{ game, id, name: 'Random', options: {} }], [], {}, ['randomAgent']),
  renderReplay: door(() => [recording, {}], ['nothing', 'options']),
  renderSvg: door(() => [game, state(), 0, {}], ['nothing', ['longer'], ['undefined'], 'options']),
  renderText: door(() => [game, state(), 0, {}], ['nothing', ['longer'], ['undefined'], 'options']),
  replayEpisode: door(() => [game, recording]),
  rescaleActions: door(() => [envs.pendulum(), {}], ['nothing', 'options']),
  scaleRewards: door(() => [game, 2], ['nothing', 'number']),
  sceneSvg: door(() => [scene(), 'a scene', 40], ['nothing', ["''", "'x'"], ['undefined', '1.5', '2**33']]),
  simpleSpeakerListener: maker,
  simpleSpread: maker,
  simpleTag: maker,
  snowdrift: maker,
  stagHunt: maker,
  stickyActions: door(() => [game, 0.25]),
  switcher: door(() => [switching()], [], {
    ...acts(game, () => envs.switcher(switching()).initialState(1)),
    observe: door(() => [firstStep(game)]),
    restore: door(() => [envs.switcher(switching()).save?.()]),
  }),
  timeLimit: door(() => [game, 2]),
  titForTat: door(() => [{ game, id }], [], {
    ...acts(),
    observe: door(() => [firstStep(game)]),
    restore: door(() => [envs.titForTat({ game, id }).save?.()]),
  }),
  withAgentId: door(() => [game]),
  withPreviousActions: door(() => [game]),
  writeRecording: door(() => [path('written.coplay'), recording], ['path']),
};
