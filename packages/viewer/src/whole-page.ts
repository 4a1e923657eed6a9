/** The parts of a page, as HTML, CSS and JavaScript. */
export interface PageParts {
  readonly title: string;
  readonly heading: string;
  /**
   * SHA-256 of style and script as a Content-Security-Policy has them: nothing else runs, for any content of a
   * recording
   */
  readonly hashes: { readonly style: string; readonly script: string };
  /** Further sources that the page may load and run, in the policy's syntax: `connect-src 'self'` */
  readonly sources?: { readonly script?: string; readonly more?: string };
  readonly style: string;
  /** The text that is shown without JavaScript */
  readonly noScript: string;
  readonly main: string;
  readonly script: string;
}

/** One HTML file that holds all of its scripts and styles. */
export function wholePage({ title, heading, hashes, sources = {}, style, noScript, main, script }: PageParts): string {
  const scripts = [`'${hashes.script}'`, ...(sources.script === undefined ? [] : [sources.script])].join(' ');
  const more = sources.more === undefined ? '' : `; ${sources.more}`;
  const allowed = `style-src '${hashes.style}'; script-src ${scripts}; img-src data:${more}`;
  const policy = `default-src 'none'; ${allowed}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header><h1>${heading}</h1>
<noscript><p>${noScript}</p></noscript></header>
${main}
<script>${script}</script>
</body>
</html>
`;
}
