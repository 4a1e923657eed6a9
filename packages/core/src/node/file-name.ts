import { createHash } from 'node:crypto';

/** Names that Windows keeps for devices, with any ending. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)($|\.)/i;
/** With what a file's name says besides, and with that of {@link writeWhole}, no file system finds it too long. */
const LONGEST = 80;

/**
 * A part of a file's name made of any text, such as an agent's id. Letters, digits, `_`, `-` and single dots stay;
 * other characters are written as `%` and the hexadecimal digits of their bytes. Different texts have different names,
 * also where capitals don't count: what has capitals, is too long, or is a name that a system keeps for itself, ends
 * with digits that its text determines.
 */
export function fileName(text: string): string {
  const encoded = [...text]
    .map((character) => (/[\w-]/.test(character) || character === '.' ? character : escaped(character)))
    .join('');
  const isPlain =
    encoded.length <= LONGEST && !/[A-Z]|^\.|\.\.|\.$/.test(encoded) && !DEVICES.test(encoded) && encoded !== '';
  if (isPlain) return encoded;
  const digits = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return `_${encoded.slice(0, LONGEST).replaceAll('.', '%2e')}-${digits}`;
}

function escaped(character: string): string {
  return [...new TextEncoder().encode(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
