import { fail, type SavedState, show } from '@coplay/core';
import type { TorsoBuilder } from '@coplay/models';
import { z } from 'zod';
import { differences } from './differences';

/** Schema of an option that takes a network of one's own. */
export const ownNetwork = z.custom<TorsoBuilder>(
  (value) => typeof value === 'function' && typeof (value as Partial<TorsoBuilder>).config === 'object',
  { error: 'a network: mlp(), conv(), layersModel(() => yourModel), or torsoBuilder(config, build)' },
);

/** The networks that are given, by option. */
export function givenNetworks(
  options: Readonly<Record<string, TorsoBuilder | undefined>>,
): Readonly<Record<string, TorsoBuilder>> {
  const given = Object.entries(options).filter(([, network]) => network !== undefined);
  return Object.fromEntries(given) as Record<string, TorsoBuilder>;
}

/** Descriptions of networks, as JSON: for run directories and saved states. */
export function networkConfigs(networks: Readonly<Record<string, TorsoBuilder>>): Record<string, SavedState> {
  const configs = Object.fromEntries(Object.entries(networks).map(([name, { config }]) => [name, config]));
  return JSON.parse(JSON.stringify(configs));
}

/**
 * Refuses the state of a learner with other networks: of equal shapes, their weights would give wrong numbers.
 *
 * @param configs  of the learner's own networks, of {@link networkConfigs}
 * @param saved    these of the saved state; none where all networks were ours
 */
export function checkNetworks(where: string, configs: Record<string, SavedState>, saved: unknown): void {
  const [first] = differences(saved ?? {}, configs);
  if (!first) return;
  const [ours, theirs] = [first.ours, first.theirs].map((value) => (value === undefined ? 'none' : show(value)));
  const remedy = 'Make the learner with the networks that it was saved with.';
  fail(`${where}: saved.networks.${first.path}`, ours, theirs, remedy);
}
