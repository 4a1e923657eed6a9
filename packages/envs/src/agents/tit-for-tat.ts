import { type Agent, type AgentStep, fail } from '@coplay/core';
import { memoryPerRow } from './memory';
import { nearestHareRule, nearestStagRule } from './nearest';
import { actionNamed, checkNoOptions, type RuleAgentOptions, recordOf, seatOf } from './options';
import { actionsBy } from './rule';

/**
 * TitForTat: plays NearestStag if, in the last episode, at least one other agent hunted a stag (legally: on its
 * cell), else NearestHare. It begins with NearestStag.
 *
 * It remembers that for each row, so for each set of co-players that it meets in one of B parallel games, beyond
 * episodes; `save` gives the memory out.
 */
export function titForTat(options: RuleAgentOptions): Agent<null> {
  const { game, id, ...others } = recordOf('titForTat', options);
  const seat = seatOf('titForTat', game, id);
  checkNoOptions('titForTat', others);
  if (!game.infos.includes('illegal')) {
    fail('titForTat', 'a game with the info illegal', `${game.name}: ${game.infos.join(', ')}`, 'Use it in stagHunt.');
  }
  const stag = nearestStagRule('titForTat', game);
  const hare = nearestHareRule('titForTat', game);
  const hunt = actionNamed('titForTat', game, 'hunt stag');
  // [B] each: whether others hunted a stag in the last episode, and whether they have in this one.
  const memory = memoryPerRow('titForTat', { lastEpisode: 1, thisEpisode: 0 });
  const A = game.agents.length;

  const othersHunted = (step: AgentStep, row: number): boolean => {
    for (let other = 0; other < A; other++) {
      const at = row * A + other;
      const hunted = step.actions[at] === hunt && step.active[at] === 1 && step.infos['illegal'][at] === 0;
      if (hunted && other !== seat) return true;
    }
    return false;
  };

  return {
    id,
    name: 'TitForTat',
    initialState(rows) {
      memory.rows(rows);
      return null;
    },
    act(input, state, generator) {
      const { lastEpisode, thisEpisode } = memory.rows(input.rows);
      // An episode that was broken off by a reset counts for nothing.
      for (let row = 0; row < input.rows; row++) if (input.isFirst[row] === 1) thisEpisode[row] = 0;
      return { actions: actionsBy((row) => (lastEpisode[row] === 1 ? stag : hare), input, generator), state };
    },
    observe(step) {
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
