import type { HistoryStore } from '@coplay/buffers';
import { type ActionSpaces, type AgentId, type AnyGame, fail, type Game, show } from '@coplay/core';
import { checkExperienceOf, checkFunction, checkGenerator, checkNumber, checkRecord } from '@coplay/core/checks';
import type { LearnerData } from './learner';

/**
 * Refuses the data of an update if a part is missing or belongs to another game, before anything has changed. It reads
 * no values of arrays.
 *
 * @param where   the learner and its method, for the message: `PPO (agent_0).update`
 * @param spaces  the actions that the learner takes. Default `discrete`
 */
export function checkLearnerData(
  where: string,
  game: AnyGame,
  data: LearnerData<ActionSpaces>,
  spaces: 'discrete' | 'any' = 'discrete',
): void {
  checkRecord(where, 'data', data);
  const { experience, imagined = [], progress, generator, warn = () => {} } = data;
  checkExperienceOf(where, game, experience, 'experience', spaces);
  if (!Array.isArray(imagined)) {
    fail(`${where}: imagined`, 'a list of experience', show(imagined), 'Leave it out where nothing was imagined.');
  }
  imagined.forEach((one, i) => void checkExperienceOf(where, game, one, `imagined[${i}]`, spaces));
  checkNumber(where, 'progress', progress, { min: 0, max: 1 });
  checkGenerator(where, generator);
  checkFunction(where, 'warn', warn);
}

/** Refuses a store of another observer or another game. */
export function checkStore(where: string, store: HistoryStore, game: Game, id: AgentId): void {
  const nameOf = (played: Game) => `${played.name} with ${JSON.stringify(played.options)}`;
  const isSame = store.game === game || nameOf(store.game) === nameOf(game);
  if (store.id === id && isSame) return;
  const got = isSame ? `that of ${show(store.id)}` : `one of ${nameOf(store.game)}`;
  const expected = isSame ? `the store of ${id}` : `a store of ${nameOf(game)}`;
  fail(`${where}: option store`, expected, got, 'Make one store for each observer, with the same game.');
}

/** Refuses a store of histories for the models inside an agent, which keep memories of their own. */
export function refuseStore(where: string, models: object): void {
  if (!('store' in models) || models.store === undefined) return;
  const remedy = 'Leave store out; createMoa and createOmg take one ("One store with MOA" in docs/omg.md).';
  fail(`${where}.store`, 'no store: models inside an agent have memories of their own', 'a store', remedy);
}
