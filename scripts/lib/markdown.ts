/** A fenced block of code in a page. */
export interface CodeBlock {
  /** `ts` */
  readonly language: string;
  /** The words after the language: `run`, `fragment`. */
  readonly words: readonly string[];
  readonly code: string;
  /** Of the first line of code, from 1. */
  readonly line: number;
}

/** A link in a page: its target as written, and its line from 1. */
export interface Link {
  readonly target: string;
  readonly line: number;
}

/** The fenced blocks of a Markdown page, in order. */
export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; words: string[]; line: number; lines: string[] } | undefined;
  page.split('\n').forEach((text, index) => {
    const fence = /^```\s*(.*)$/.exec(text.trimEnd());
    if (!fence) open?.lines.push(text);
    else if (open) {
      blocks.push({ language: open.language, words: open.words, code: `${open.lines.join('\n')}\n`, line: open.line });
      open = undefined;
    } else {
      const [language = '', ...words] = fence[1]!.trim().split(/\s+/);
      open = { language, words, line: index + 2, lines: [] };
    }
  });
  return blocks;
}

/** The links of a Markdown page, those in code left out. */
export function links(page: string): Link[] {
  const found: Link[] = [];
  let inCode = false;
  page.split('\n').forEach((text, index) => {
    if (text.startsWith('```')) inCode = !inCode;
    if (inCode) return;
    const prose = text.replace(/`[^`]*`/g, '');
    for (const match of prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g)) found.push({ target: match[1]!, line: index + 1 });
  });
  return found;
}

/** The anchors that GitHub makes of a page's headings. */
export function anchors(page: string): Set<string> {
  const headings = page.split('\n').filter((text) => /^#{1,6} /.test(text));
  return new Set(headings.map((text) => anchorOf(text.replace(/^#+ /, ''))));
}

function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
