import { fail } from '@coplay/core';
import { functions } from '@coplay/core/checks';
import { z } from 'zod';
import { type ConvStack, convStack } from '../layers';
import type { TorsoBuilder } from '../torso';
import { ownNetwork } from '../torso/own-network';

/** Options of the network that reads a grid's planes: a user's, or our convolutions. */
export interface TrunkOptions {
  readonly network?: TorsoBuilder | undefined;
  readonly filters: readonly number[];
  readonly kernelSize: number;
}

/** Schemas of these options; which of ours is left out is seen by {@link isOneTrunk}. */
export const trunkSchemas = {
  network: functions<TorsoBuilder>().optional(),
  filters: z.array(z.int().min(1)).min(1).optional(),
  kernelSize: z.int().min(1).optional(),
};

/** Whether options of our convolutions are left out next to a network. */
export function isOneTrunk({ network, filters, kernelSize }: { [Name in keyof TrunkOptions]?: unknown }): boolean {
  return network === undefined || (filters === undefined && kernelSize === undefined);
}

/** What {@link isOneTrunk} refuses, for messages. */
export const ONE_TRUNK = { path: ['network'], error: 'none next to filters or kernelSize, which it replaces' };

/** The options as JSON, for run directories. */
export function trunkConfig({ network, filters, kernelSize }: TrunkOptions) {
  return network ? { network: network.config } : { filters, kernelSize };
}

/**
 * From planes [B, H, W, C] to features of each cell [B, H W features].
 *
 * @param where  the model, for messages
 * @throws CoplayError for a network whose features can't be divided among the cells
 */
export function gridTrunk(where: string, shape: readonly number[], options: TrunkOptions): ConvStack {
  const { network, filters, kernelSize } = options;
  if (!network) return convStack({ shape, filters, kernelSize });
  const [height, width] = shape;
  const body = ownNetwork(`${where}: option network`, network, { inputs: { planes: shape } });
  if (body.outputSize % (height * width) !== 0) {
    const expected = `as many features for each of ${height} x ${width} cells, [H, W, features] flattened`;
    const remedy = "End the network with a convolution with padding 'same', flattened.";
    fail(`${where}: option network`, expected, `${body.outputSize} features`, remedy);
  }
  return {
    outputSize: body.outputSize,
    init: body.init,
    apply: (params, planes) => body.apply(params, { planes }),
  };
}
