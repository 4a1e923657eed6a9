import { z } from 'zod';

/** Names of files and projects: small letters and digits, and dashes between words. */
export const nameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'small letters, digits and single dashes, such as my-game')
  .max(60);

/** A template's text with `my-game` and `MyGame` for its own names. */
export function named(text: string, name: string): string {
  const words = name.split('-').map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`);
  return text.replaceAll('template-name', name).replaceAll('TemplateName', words.join(''));
}
