import { type ActionSpaces, CoplayError, type Experience, ndarray } from '@coplay/core';
import { checkArgument, checkExperience, checkText, parseJson, typedArrays } from '@coplay/core/checks';
import { decodeNpz, encodeNpz, loadNpz, type StoredArrays, saveNpz } from '../npz';
import { type ExperienceAbout, experienceArrays, experienceFrom } from './arrays';

/** Fields of zeros and ones, which numpy is shown as booleans. */
const FLAGS = new Set(['masks', 'active', 'terminated', 'truncated', 'isFirst', 'ended', 'isImagined', 'cuts/masks']);

/**
 * Experience as a .npz file: one array for each field, named as here (`rewards`, `observations/grid`,
 * `extras/logProbs`, `cuts/env`), flags as booleans, and `about`, UTF-8 JSON in bytes, with agents and observation.
 */
export function encodeExperience(experience: Experience<ActionSpaces>): Uint8Array {
  checkExperience('encodeExperience', experience, 'experience', 'any');
  return encodeNpz(storedExperience(experience));
}

/** Reads what {@link encodeExperience} wrote. */
export function decodeExperience<Spaces extends ActionSpaces = number>(bytes: Uint8Array): Experience<Spaces> {
  checkArgument('decodeExperience', 'bytes', typedArrays('uint8'), bytes);
  return readExperience(decodeNpz(bytes, 'decodeExperience'), 'decodeExperience') as unknown as Experience<Spaces>;
}

/**
 * Writes a .npz file (see {@link encodeExperience}), whole or not at all. Node only.
 *
 * @throws CoplayError naming the path, where it can't be written
 */
export async function saveExperience(path: string, experience: Experience<ActionSpaces>): Promise<void> {
  checkText('saveExperience', 'path', path);
  checkExperience('saveExperience', experience, 'experience', 'any');
  await saveNpz(path, storedExperience(experience));
}

/**
 * Reads what {@link saveExperience} wrote. Node only.
 *
 * @throws CoplayError naming the path and the fault
 */
export async function loadExperience<Spaces extends ActionSpaces = number>(path: string): Promise<Experience<Spaces>> {
  checkText('loadExperience', 'path', path);
  return readExperience(await loadNpz(path), `loadExperience(${path})`) as unknown as Experience<Spaces>;
}

function storedExperience(experience: Experience<ActionSpaces>): StoredArrays {
  const { about, arrays } = experienceArrays(experience);
  const fields = Object.entries(arrays).map(([name, array]) => [
    name,
    FLAGS.has(name) ? { ...array, isBool: true } : array,
  ]);
  return { about: ndarray(new TextEncoder().encode(JSON.stringify(about))), ...Object.fromEntries(fields) };
}

function readExperience({ about, ...arrays }: StoredArrays, where: string): Experience<ActionSpaces> {
  return experienceFrom({ about: parseAbout(about?.data as Uint8Array | undefined, where), arrays }, where);
}

function parseAbout(bytes: Uint8Array | undefined, where: string): ExperienceAbout {
  try {
    return parseJson(where, new TextDecoder().decode(bytes)) as ExperienceAbout;
  } catch (error) {
    const complaint = { where, expected: 'JSON in the array about', got: bytes ? 'something else' : 'no such array' };
    throw new CoplayError({ ...complaint, remedy: 'Give what saveExperience wrote.' }, { cause: error });
  }
}
