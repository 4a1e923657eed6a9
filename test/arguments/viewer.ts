import { randomAgent, recordEpisode, stagHunt } from '@coplay/envs';
import { type Doors, door } from './doors';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 3 });
const id = 'agent_0';
const agents = () => game.agents.map((name) => randomAgent({ game, id: name }));
const recording = await recordEpisode(game, agents());
const session = {
  inputNames: [],
  inputMetadata: [],
  outputNames: ['logProbs'],
  run: async () => ({}),
};

/** The public functions of viewer, with valid arguments. */
export const viewerDoors: Doors = {
  createTable: door(() => [{ game, person: id, others: [agents()[1]], decide: () => 0 }]),
  gameOfRecording: door(() => [recording], [], {}, ['playableGame']),
  goalWalker: door(() => [game]),
  goalWatcher: door(() => [game, id]),
  onnxAgent: door(() => [{ game, id, session, Tensor: class {} }]),
  playPage: door(() => [{}], ['options']),
  recordedExperience: door(() => [game, recording], [], {}, ['replayEpisode']),
  replayPage: door(() => [[recording], {}], [['longer'], 'options']),
  rulesOf: door(() => [game]),
};
