import { createHash } from 'node:crypto';
import { checkOptions, fail, show } from '@coplay/core';
import { checkArgument, checkText } from '@coplay/core/checks';
import { writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import { run as runSchema } from '../inputs';
import { type Run, readRun } from '../runs';
import { beliefPanels, beliefsSection } from './beliefs';
import type { PageData } from './data';
import { groupRuns, runNames } from './differences';
import { readExtras } from './extras';
import { extrasSection } from './extras-section';
import { problemsOf } from './findings';
import { PAGE_SCRIPT } from './generated/page-script';
import { embeddedJson, escapeHtml } from './html';
import { knownNames } from './keys';
import { pageMetrics, pageSteps } from './metrics';
import { replaysScripts, replaysSection } from './replays';
import { configurationSection, findingsSection, metricsSection, panelsSection, runsSection } from './sections';
import { STYLE } from './style';

/** Options of {@link report}. */
export interface ReportOptions {
  /** Heading of the page. Default: the name of the run, or how many there are */
  readonly title?: string;
  /** Seconds after which the open page loads itself again, for a run that goes on; 0 for never. Default 0 */
  readonly refreshSeconds?: number;
}

const schema = z.strictObject({
  title: z.string().optional(),
  refreshSeconds: z.number().min(0).default(0),
});

const LEARNING = [
  /^episode\/return$/,
  /^episode\/return_mean$/,
  /^value\/mse$/,
  /^value\/explained_variance$/,
  /^policy\/entropy$/,
];
const SPREAD = [
  /^(real|imagined)\/(reward|episode_return|return)_(mean|p\d+|min|max)$/,
  /^imagined\/(value_mse|value_mean)$/,
  /^(return|reward)\/(mean|min|max)$/,
];
const MODELS = [
  /^world_model\/(accuracy|accuracy_by_outcome|loss|reward_error)$/,
  /^moa\/(accuracy|loss)$/,
  /^omg\/(explained_variance|nll|vae_kl)$/,
];

/**
 * One page, as HTML that needs nothing else, of one run or of several: what looks wrong (see {@link findProblems}),
 * learning curves by agent with 95 % intervals over seeds, distributions, models, beliefs, replays, every metric with
 * its explanation and a search, settings and how they differ.
 *
 * A curve has at most 500 points, its extremes among them; fewer where a page would pass about 8 MB.
 *
 * @param runs  directories of runs, or what `readRun` gave; also runs that go on still
 * @returns the HTML
 * @throws CoplayError for no runs, a directory that is none, a damaged log, or wrong options
 */
export function report(runs: readonly (string | Run)[], options: ReportOptions = {}): string {
  return pageOf('report', runs, options);
}

/** @param where  the function that makes the page, for messages */
function pageOf(where: string, runs: readonly (string | Run)[], options: ReportOptions): string {
  const { title, refreshSeconds } = checkOptions(where, schema, options);
  if (!Array.isArray(runs) || runs.length === 0) {
    fail(where, 'one run or more', show(runs), "Give directories of runs: report(['runs/a', 'runs/b']).");
  }
  checkArgument(where, 'runs', z.array(z.union([z.string().min(1), runSchema])), runs);
  const read = runs.map((run) => (typeof run === 'string' ? readRun(run) : run));
  const names = runNames(read.map(({ directory }) => directory));
  const groups = groupRuns(read, names);
  const known = knownNames(read);
  const extras = read.map(({ directory }) => readExtras(directory));
  const subjects = read.map((run, i) => ({ name: names[i], run, names: known }));
  const data: PageData = {
    refreshSeconds,
    groups,
    runs: read.map((run, i) => ({
      name: names[i],
      group: groups.findIndex((group) => group.runs.includes(i)),
      steps: pageSteps(run),
    })),
    metrics: pageMetrics(read, groups, known),
    beliefs: beliefPanels(extras, names),
  };
  const replays = replaysSection(extras, names);
  const sections = [
    findingsSection(problemsOf(subjects, extras, groups), data.metrics),
    runsSection(read, names, groups),
    panelsSection('learning', 'Learning', LEARNING, data.metrics),
    panelsSection('spread', 'Returns and rewards, real and imagined', SPREAD, data.metrics),
    panelsSection('models', 'Models of the world and of others', MODELS, data.metrics),
    extrasSection(extras, names),
    beliefsSection(data.beliefs),
    replays,
    metricsSection(data.metrics),
    configurationSection(read, names),
  ];
  return wholePage(
    title ?? (names.length === 1 ? names[0] : `${names.length} runs`),
    data,
    sections,
    replaysScripts(replays),
  );
}

/**
 * Writes the {@link report} to a file, all at once: a reader who has the page open never loads half of it.
 *
 * @param file  its path, such as `runs/a/report.html`
 */
export function writeReport(file: string, runs: readonly (string | Run)[], options: ReportOptions = {}): void {
  checkText('writeReport', 'file', file);
  writeWholeSync(file, pageOf('writeReport', runs, options), { where: 'writeReport', makeFolder: true });
}

function wholePage(title: string, data: PageData, sections: readonly string[], more: readonly string[]): string {
  const heading = escapeHtml(title);
  const scripts = [PAGE_SCRIPT, ...more].map((script) => script.replaceAll('</script', '<\\/script'));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy([STYLE], scripts)}">
<title>${heading} - Coplay report</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><h1>${heading}</h1>
<noscript><p>Curves need JavaScript; tables and findings don’t.</p></noscript></header>
<form class="controls" aria-label="View" hidden>
<label>Search metrics <input type="search" id="search" placeholder="value mse" autocomplete="off"></label>
<label><input type="checkbox" id="apart"> agents apart</label>
<label><input type="checkbox" id="single"> single runs</label>
<label><input type="checkbox" id="log"> logarithmic</label>
<label>Colours <select id="theme"><option value="">as the system</option><option value="light">light</option><option value="dark">dark</option></select></label>
<button type="button" id="refresh" hidden>Stop refreshing</button>
<span id="found" role="status"></span>
</form>
<main id="content">
${sections.filter((part) => part !== '').join('\n')}
</main>
<footer><p class="none">Bold lines are means over up to 100 stretches and over runs; bands are 95 % bootstrap intervals over runs. Focus a chart and use the arrow keys to read its values.</p></footer>
<script type="application/json" id="coplay-data">${embeddedJson(data)}</script>
${scripts.map((script) => `<script>${script}</script>`).join('\n')}
</body>
</html>
`;
}

/**
 * The page may load and run only its own styles and scripts, identified by their hashes, and nothing that came from a
 * file.
 */
function contentPolicy(styles: readonly string[], scripts: readonly string[]): string {
  const hashes = (texts: readonly string[]) =>
    texts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ');
  const sources = `style-src ${hashes(styles)}; script-src ${hashes(scripts)}; img-src data:`;
  return `default-src 'none'; ${sources}; base-uri 'none'; form-action 'none'`;
}
