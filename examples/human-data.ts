/**
 * Games of a person as data: a model of a co-player learns from them, and is judged on games that it hasn't seen.
 *
 *   npm run play                                                                       # play and save a few games
 *   npx tsx --conditions=@coplay/source examples/human-data.ts games/*.coplay
 *
 * Without files, a rule plays in the person's seat: it walks to the nearest hare and hunts it.
 */
import { concatExperience, moaRows } from '@coplay/buffers';
import { type Agent, createGenerator, type Experience } from '@coplay/core';
import { moaEvaluation, textTable } from '@coplay/diagnostics';
import { nearestHare, nearestStag, type Recording, readRecording, recordEpisode, stagHunt } from '@coplay/envs';
import { createMoa } from '@coplay/trainers';
import { gameOfRecording, recordedExperience } from '@coplay/viewer';

const files = process.argv.slice(2);
const recordings = files.length > 0 ? await Promise.all(files.map(readRecording)) : await standIn();
const game = gameOfRecording(recordings[0]);
const person = recordings[0].agents[recordings[0].players.indexOf('Person')];
const seat = game.agents.indexOf(person);

// Every game is played again by the rules, and must lead to the recorded states: then it's a real episode like any
// other.
const episodes: Experience[] = [];
for (const recording of recordings) episodes.push(await recordedExperience(game, recording));
const unseen = moaRows(concatExperience(episodes.slice(0, Math.ceil(episodes.length / 4))), seat, {
  goals: game.goals,
});
const seen = concatExperience(episodes.slice(Math.ceil(episodes.length / 4)));

// An agent in another seat, which models the person; networks of the other co-players learn as well.
const observer = game.agents.find((id) => id !== person)!;
const moa = createMoa({ game, id: observer, centred: true });
await moa.initialise(createGenerator(1));
const judge = async (model: string) => {
  const scores = await moa.predictRows(person, unseen);
  const labels = unseen['actions'].data as Int32Array;
  const { top1, top3 } = moaEvaluation({ classes: game.actionNames, scores, labels });
  return { model, 'top-1': top1, 'top-3': top3 };
};
const before = await judge('untrained');
await moa.pretrain(seen, {
  generator: createGenerator(2),
  epochs: process.env['COPLAY_QUICK'] ? 2 : 30,
  learningRate: 2e-3,
});
console.log(`${recordings.length} games of ${game.name}; the person is ${person}.`);
console.log(textTable([before, await judge('taught by the games')]));
moa.dispose();

/** Games as the page saves them, here with a rule as the person. */
async function standIn(): Promise<Recording[]> {
  const rules = stagHunt({ size: 4, agents: 3, stags: 1, hares: 3 });
  const somebody: Agent = { ...nearestHare({ game: rules, id: 'agent_0' }), name: 'Person' };
  const others = [nearestStag({ game: rules, id: 'agent_1' }), nearestHare({ game: rules, id: 'agent_2' })];
  const games: Recording[] = [];
  for (let seed = 0; seed < (process.env['COPLAY_QUICK'] ? 20 : 120); seed++) {
    games.push(await recordEpisode(rules, [somebody, ...others], { seed }));
  }
  return games;
}
