import { escapeMarkup } from '@coplay/core/checks';

/**
 * Text for HTML or SVG, also inside of quoted attributes, and where a type promised a string and a file held something
 * else.
 */
export function escapeHtml(text: string): string {
  return escapeMarkup(String(text));
}

/** The same, with `code` between backticks. */
export function withCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** JSON that can't end the script element it stands in, nor begin a comment there. */
export function embeddedJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/** HTML of our own making. Nothing that was read from a file is an instance, so it can't be taken for one. */
export class Markup {
  constructor(readonly html: string) {}
}

/** The content of a table's cell: text, which is escaped, or HTML of our own. */
export type HtmlCell = string | Markup;

function cellHtml(cell: HtmlCell): string {
  return cell instanceof Markup ? cell.html : escapeHtml(cell);
}

/** A table that scrolls by itself on a narrow screen. The first cell of a row is its heading. */
export function htmlTable(caption: string, header: readonly string[], rows: readonly (readonly HtmlCell[])[]): string {
  const head = header.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`).join('');
  const body = rows.map(([first, ...rest]) => {
    const cells = rest.map((cell) => `<td>${cellHtml(cell)}</td>`).join('');
    return `<tr><th scope="row">${cellHtml(first)}</th>${cells}</tr>`;
  });
  const label = escapeHtml(caption);
  return `<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table><caption>${label}</caption><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`;
}
