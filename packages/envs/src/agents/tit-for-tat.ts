import { type Agent, type AgentId, type AgentStep, checkOptions, fail, show } from '@coplay/core';
import { checkAct, checkAgentStep, checkCount } from '@coplay/core/checks';
import { z } from 'zod';
import { memoryPerRow } from './memory';
import { nearestHareRule, nearestStagRule } from './nearest';
import { actionNamed, type RuleAgentOptions, recordOf, seatOf } from './options';
import { actionsBy } from './rule';

/** Options of {@link titForTat}. */
export interface TitForTatOptions extends RuleAgentOptions {
  /** The other agents whose hunting it answers; at least one. Default: all others */
  readonly watches?: readonly AgentId[];
}

const schema = z.object({ watches: z.array(z.string()).min(1).optional() }).strict();

/**
 * TitForTat: plays NearestStag if, in the last episode, at least one of the agents that it watches hunted a stag
 * (legally: on its cell), else NearestHare. It begins with NearestStag. If all agents are TitForTat and watch all
 * others, they hunt stags in every episode, as NearestStag does. With `watches: [id]` it answers the hunting of that
 * agent only.
 *
 * It remembers that for each row, so for each set of co-players that it meets in one of B parallel games, beyond
 * episodes; `save` gives the memory out.
 */
export function titForTat(options: TitForTatOptions): Agent<null> {
  const { game, id, ...others } = recordOf('titForTat', options);
  seatOf('titForTat', game, id);
  const { watches = game.agents.filter((other) => other !== id) } = checkOptions('titForTat', schema, others);
  const stranger = watches.find((other) => other === id || !game.agents.includes(other));
  if (stranger !== undefined) {
    const expected = `other agents of ${game.name} than ${id}: ${game.agents.filter((other) => other !== id).join(', ')}`;
    fail('titForTat: option watches', expected, show(stranger), 'Name agents of game.agents that are not itself.');
  }
  const isWatched = game.agents.map((other) => watches.includes(other));
  if (!game.infos.includes('illegal')) {
    fail('titForTat', 'a game with the info illegal', `${game.name}: ${game.infos.join(', ')}`, 'Use it in stagHunt.');
  }
  const stag = nearestStagRule('titForTat', game);
  const hare = nearestHareRule('titForTat', game);
  const hunt = actionNamed('titForTat', game, 'hunt stag');
  // [B] each: whether one of them hunted a stag in the last episode, and whether one has in this one.
  const memory = memoryPerRow('titForTat', { lastEpisode: 1, thisEpisode: 0 });
  const A = game.agents.length;

  const othersHunted = (step: AgentStep, row: number): boolean => {
    for (let other = 0; other < A; other++) {
      const at = row * A + other;
      const hunted = step.actions[at] === hunt && step.active[at] === 1 && step.infos['illegal'][at] === 0;
      if (hunted && isWatched[other]) return true;
    }
    return false;
  };

  return {
    id,
    name: 'TitForTat',
    options: others,
    initialState(rows) {
      checkCount(`TitForTat (${id}).initialState`, 'rows', rows);
      memory.rows(rows);
      return null;
    },
    act(input, state, generator) {
      checkAct(`TitForTat (${id}).act`, game, input, generator);
      const { lastEpisode, thisEpisode } = memory.rows(input.rows);
      // An episode that was broken off by a reset counts for nothing.
      for (let row = 0; row < input.rows; row++) if (input.isFirst[row] === 1) thisEpisode[row] = 0;
      return { actions: actionsBy((row) => (lastEpisode[row] === 1 ? stag : hare), input, generator), state };
    },
    observe(step) {
      checkAgentStep(`TitForTat (${id}).observe`, game, step);
      const { lastEpisode, thisEpisode } = memory.rows(step.rows);
      for (let row = 0; row < step.rows; row++) {
        if (othersHunted(step, row)) thisEpisode[row] = 1;
        if (step.ended[row] === 0) continue;
        lastEpisode[row] = thisEpisode[row];
        thisEpisode[row] = 0;
      }
    },
    save: memory.save,
    restore: memory.restore,
  };
}
