import { fail } from '@coplay/core';
import type { ZooCard } from './card';

/**
 * The bytes of a file, which is in a module as base64: bundlers and Node load modules equally.
 *
 * @throws CoplayError where the bytes aren't those of the card
 */
export async function bytesOf(card: ZooCard, base64: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const sum = await sha256(bytes);
  if (sum === undefined || sum === card.sha256) return bytes;
  const remedy = 'Install @coplay/zoo again: its file is damaged.';
  return fail(`zoo: ${card.name}`, `a file with the SHA-256 ${card.sha256}`, sum, remedy);
}

/** Undefined in a page that isn't served by HTTPS or from this machine: browsers have no SHA-256 there. */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const digest = await globalThis.crypto?.subtle?.digest('SHA-256', bytes);
  if (digest === undefined) return undefined;
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
