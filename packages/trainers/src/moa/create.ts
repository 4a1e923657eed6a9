import { createMoaBuffer } from '@coplay/buffers';
import { inputEncoder, moaNet } from '@coplay/models';
import type { MoaLearner } from './contract';
import { MoaModels } from './learner';
import { type MoaOptions, resolveMoaOptions } from './options';

/**
 * Models of all co-players of one agent: each predicts its co-player's actions from the co-player's own view and, where
 * the game names goals, its goal (Huang et al. 2024). An observer without co-players has none, and all of this is
 * empty.
 *
 * @throws CoplayError for unknown options, an id that the game doesn't have, or goals of a game without any
 */
export function createMoa(options: MoaOptions): MoaLearner {
  const resolved = resolveMoaOptions(options);
  const { game, id } = options;
  const coPlayers = game.agents.filter((other) => other !== id);
  const goals = resolved.goals === 'hindsight' ? game.goals : undefined;
  const { capacity, keep, caughtOnly, roomPerGoal, attempts, previousActions, unknownShare, network, recurrent } =
    resolved;
  const encoder = inputEncoder(game, { previousActions, centred: resolved.centred });
  const net = moaNet({
    inputs: encoder.shapes,
    actions: game.actions,
    goals: goals?.names.length ?? 0,
    unknownGoal: unknownShare > 0,
    network,
    recurrent,
  });
  const buffer = createMoaBuffer({ coPlayers, capacity, keep, goals, caughtOnly, roomPerGoal, attempts });
  const { executor: _, network: __, ...numbers } = resolved;
  const config = { ...numbers, network: network.config, game: game.name };
  return new MoaModels({ game, id, coPlayers, options: resolved, encoder, net, buffer, config });
}
