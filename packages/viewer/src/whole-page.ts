/** What a page is made of; all of it HTML, CSS and JavaScript already. */
export interface PageParts {
  readonly title: string;
  readonly heading: string;
  /** Content-Security-Policy: what the page may load */
  readonly policy: string;
  readonly style: string;
  /** What is said without JavaScript */
  readonly noScript: string;
  readonly main: string;
  readonly script: string;
}

/** One HTML file that holds all of its scripts and styles. */
export function wholePage({ title, heading, policy, style, noScript, main, script }: PageParts): string {
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
<script>${script.replaceAll('</script', '<\\/script')}</script>
</body>
</html>
`;
}
