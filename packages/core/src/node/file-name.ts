import { createHash } from 'node:crypto';

/** Names that Windows keeps for devices, with any ending. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)($|\.)/i;
/**
 * With a file's prefix and ending, and with the ending that {@link writeWhole} adds, it is short enough for every file
 * system.
 */
const LONGEST = 80;

/**
 * A part of a file's name made of any text, such as an agent's id. Letters, digits, `_`, `-` and single dots stay;
 * other characters are written as `%` and the hexadecimal digits of their bytes. Different texts have different names,
 * also on file systems that ignore capitals: if a text has capitals, is too long, or is a reserved name of a system,
 * its name ends with digits that the text determines.
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
