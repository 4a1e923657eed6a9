import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './workspaces';

const FOLDER = 'packages/diagnostics/src/report/generated';
const HEAD = '// Made by `npm run generate`: edit what it is made of instead.\n';

/** A file of a package that is made of other files. */
export interface Generated {
  /** From the root. */
  readonly path: string;
  readonly text: string;
}

/** All of them, as they should be. */
export async function generated(): Promise<Generated[]> {
  return [
    { path: `${FOLDER}/metric-docs.ts`, text: metricDocs(readFileSync(join(root, 'docs/metrics.md'), 'utf8')) },
    { path: `${FOLDER}/page-script.ts`, text: await pageScript() },
  ];
}

/** The tables of docs/metrics.md: an entry for each key. */
function metricDocs(page: string): string {
  let section = '';
  const entries = page.split('\n').flatMap((line) => {
    section = /^## (.*)/.exec(line)?.[1] ?? section;
    const [keys, what, unit = ''] = (/^\| (`.*)\|$/.exec(line)?.[1] ?? '').split(' |');
    const names = [...(keys ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
    return names.map((key) => JSON.stringify({ key, what: what!.trim(), unit: unit.trim(), section }));
  });
  return `${HEAD}
/** A line of docs/metrics.md. What stands in \`<>\` of a key is a name. */
export interface MetricDoc {
  readonly key: string;
  readonly what: string;
  /** Unit and range. */
  readonly unit: string;
  readonly section: string;
}

/** All metrics, in the order of the page. */
export const METRIC_DOCS: readonly MetricDoc[] = [\n  ${entries.join(',\n  ')},\n];\n`;
}

/** The report's script, bundled for a page. */
async function pageScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'packages/diagnostics/page/main.ts')],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  });
  const script = outputFiles[0]!.text;
  return `${HEAD}
/** The script of a report's page: packages/diagnostics/page, bundled with d3-scale and d3-shape (ISC licence, Mike Bostock). */
export const PAGE_SCRIPT = ${JSON.stringify(script)};\n`;
}
