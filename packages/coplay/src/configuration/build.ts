import { type Agent, type AgentId, type Experience, fail, type Game } from '@coplay/core';
import { csv, jsonLines, progress, tensorboard } from '@coplay/diagnostics';
import { conv, mlp } from '@coplay/models';
import { ppoPresets, type SelfPlay, selfPlay } from '@coplay/trainers';
import { AGENTS, GAMES } from './kinds';
import type { AgentConfiguration, RunConfiguration } from './schema';

/** The game of a configuration. @throws CoplayError for options that it doesn't have */
function gameOf({ game: { name, ...options } }: RunConfiguration): Game {
  const make: (options: Readonly<Record<string, unknown>>) => Game = GAMES[name];
  return make(options);
}

/**
 * A run as its configuration tells it; nothing is trained or written yet.
 *
 * @param directory  where its files are
 * @param warn       is told what a person should know
 * @param onRollout  sees each rollout after it was learned from
 * @throws CoplayError for options that game or agents don't have, or seats that the game doesn't have
 */
export function runOf(
  configuration: RunConfiguration,
  directory: string,
  warn: (line: string) => void,
  onRollout: (experience: Experience) => void = () => {},
): SelfPlay {
  const { envs, steps, seed, checkpointEvery, keepCheckpoints, log } = configuration;
  const game = gameOf(configuration);
  const sinks = { progress: () => progress(), csv: () => csv(directory), tensorboard: () => tensorboard(directory) };
  return selfPlay({
    game,
    agents: agentsOf(configuration, game),
    envs,
    steps,
    seed,
    directory,
    checkpointEvery,
    keepCheckpoints,
    log: [jsonLines(directory), ...log.map((name) => sinks[name]())],
    warn,
    onRollout,
  });
}

/** `seats` by their ids, `agents` for all others. */
function agentsOf({ agents, seats }: RunConfiguration, game: Game): Agent[] {
  const unknown = Object.keys(seats).find((id) => !game.agents.includes(id));
  if (unknown !== undefined) {
    fail('seats', `ids of ${game.name}: ${game.agents.join(', ')}`, JSON.stringify(unknown), 'Name seats of the game.');
  }
  const others = game.agents.filter((id) => seats[id] === undefined);
  const own = Object.entries(seats).flatMap(([id, one]) => makeAgents(one, game, [id]));
  return others.length > 0 ? [...own, ...makeAgents(agents, game, others)] : own;
}

function makeAgents({ kind, preset, network, ppo, ...rest }: AgentConfiguration, game: Game, ids: AgentId[]): Agent[] {
  const numbers = { ...(preset && ppoPresets[preset]), ...ppo };
  return AGENTS[kind](game, ids, {
    ...rest,
    ...(Object.keys(numbers).length > 0 && { ppo: numbers }),
    ...(network && { network: networkOf(network) }),
  });
}

function networkOf({ kind, ...options }: NonNullable<AgentConfiguration['network']>) {
  return kind === 'mlp' ? mlp(options) : conv(options);
}
