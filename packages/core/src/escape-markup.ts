import { checkText } from './check-values';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * A text in which characters that XML can't hold (control characters other than tabs and line ends, halves of surrogate
 * pairs) are U+FFFD: a reader of XML would refuse the whole file.
 */
export function xmlCharacters(text: string): string {
  if (text !== '') checkText('xmlCharacters', 'text', text);
  return text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, (character) =>
    '\t\n\r'.includes(character) ? character : '\ufffd',
  );
}

/**
 * Text for HTML, XML or SVG, also inside of quoted attributes, of characters that XML can hold ({@link xmlCharacters}).
 */
export function escapeMarkup(text: string): string {
  if (text !== '') checkText('escapeMarkup', 'text', text);
  return xmlCharacters(text.replace(/[&<>"']/g, (character) => ENTITIES[character]));
}
