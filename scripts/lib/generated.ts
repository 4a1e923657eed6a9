import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { STYLE as PLAY_STYLE } from '../../packages/viewer/src/play/style';
import { STYLE as REPLAY_STYLE } from '../../packages/viewer/src/replay/style';
import { CARDS } from '../../packages/zoo/src/generated/cards';
import { fillResults } from './result-values';
import { resultsPage } from './results-page';
import { filesUnder, root } from './workspaces';

const FOLDER = 'packages/diagnostics/src/report/generated';
const HEAD = '// Made by `npm run generate`: edit what it is made of instead.\n';

const ZOO_PAGE = 'packages/zoo/README.md';

/** A file that is made of other files. */
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
    { path: `${FOLDER}/replay-script.ts`, text: await replayScript() },
    {
      path: 'packages/viewer/src/replay/generated/replay-script.ts',
      text: `${await replayScript()}${await hashes('REPLAY_HASHES', 'packages/viewer/page/replay/main.ts', REPLAY_STYLE)}`,
    },
    { path: 'packages/viewer/src/play/generated/play-script.ts', text: await playScript() },
    { path: 'python/coplay/generated/server.mjs', text: await serverProgram() },
    { path: 'docs/results.md', text: await resultsPage() },
    { path: ZOO_PAGE, text: zooPage(readFileSync(join(root, ZOO_PAGE), 'utf8')) },
    ...pagesWithResults(),
  ];
}

/** The pages that quote results, with the values as they are now. */
function pagesWithResults(): Generated[] {
  const paths = [
    'README.md',
    ...['docs', 'packages', 'studies', 'bench'].flatMap((top) => filesUnder(join(root, top), '.md')),
  ];
  return paths.flatMap((path) => {
    const relative = path.replace(`${root}/`, '');
    const page = readFileSync(join(root, relative), 'utf8');
    return /^docs\/api\/|\/results\//.test(relative) || !/<!-- (table )?= /.test(page)
      ? []
      : [{ path: relative, text: fillResults(relative, page) }];
  });
}

/** The zoo's page with a table of its cards. */
function zooPage(page: string): string {
  const rows = CARDS.map(({ name, envSteps, return: { mean, lower, upper }, bytes, commit }) => {
    const [value, from, to] = [mean, lower, upper].map((number) => number.toFixed(2));
    const steps = envSteps.toLocaleString('en-US');
    return `| \`${name}\` | ${steps} | ${value} [${from}, ${to}] | ${Math.round(bytes / 1000)} | ${commit} |`;
  });
  const head = ['| name | steps | return, 95 % interval | kB | commit |', '| --- | ---: | ---: | ---: | --- |'];
  const table = `<!-- zoo -->\n\n${[...head, ...rows].join('\n')}\n\n<!-- / -->`;
  return page.replace(/<!-- zoo -->[\s\S]*?<!-- \/ -->/, () => table);
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
  const script = await bundled('packages/diagnostics/page/main.ts');
  return `${HEAD}
/**
 * The script of a report's page: packages/diagnostics/page, bundled with d3-scale and d3-shape (ISC licence, Mike
 * Bostock).
 */
export const PAGE_SCRIPT = ${JSON.stringify(script)};\n`;
}

/** The script that shows replays, bundled for a page. */
async function replayScript(): Promise<string> {
  const script = await bundled('packages/viewer/page/replay/main.ts');
  return `${HEAD}
/**
 * The script of replays: packages/viewer/page/replay, bundled with modern-gif and modern-palette (MIT licence, wxm).
 */
export const REPLAY_SCRIPT = ${JSON.stringify(script)};\n`;
}

/** The script of the page on which a person plays. */
async function playScript(): Promise<string> {
  const script = await bundled('packages/viewer/page/play/main.ts');
  return `${HEAD}
/**
 * The script of the page on which a person plays: packages/viewer/page/play, bundled with zod (MIT licence, Colin
 * McDonnell).
 */
export const PLAY_SCRIPT = ${JSON.stringify(script)};
${await hashes('PLAY_HASHES', 'packages/viewer/page/play/main.ts', PLAY_STYLE)}`;
}

/** Hashes for the page's content policy. Made here, since a browser has no function for them that answers at once. */
async function hashes(name: string, entry: string, style: string): Promise<string> {
  const hash = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
  return `
/** SHA-256 of script and style sheet, as a Content-Security-Policy has them. */
export const ${name} = {
  script: '${hash(await bundled(entry))}',
  style: '${hash(style)}',
} as const;\n`;
}

/** The program that plays games for the Python package, which brings it along. */
async function serverProgram(): Promise<string> {
  return `${HEAD}// Bundled with zod (MIT licence, Colin McDonnell).\n${await bundledFor('python/server.ts', 'node')}`;
}

/** A page's script with all that it imports, as one text. */
async function bundled(entry: string): Promise<string> {
  // Within HTML, nothing may end the script element.
  return (await bundledFor(entry, 'browser')).replaceAll('</script', '<\\/script');
}

async function bundledFor(entry: string, platform: 'browser' | 'node'): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    minify: true,
    platform,
    format: platform === 'browser' ? 'iife' : 'esm',
    target: 'es2022',
    conditions: ['@coplay/source'],
    plugins: [englishOnly],
    charset: 'ascii',
    legalComments: 'none',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

/** Leaves out zod's messages in 50 other languages, half of a page's script: our own messages are English. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup(bundler) {
    bundler.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
