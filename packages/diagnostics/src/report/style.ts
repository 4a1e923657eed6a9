/**
 * Colours of lines on light and on dark ground: each has a contrast of 3 or more with it; dashes tell lines apart as
 * well.
 */
const LIGHT = ['#0072b2', '#b34700', '#00704f', '#a8487c', '#7a5c00', '#5b4bb5', '#333333'];
const DARK = ['#56b4e9', '#ff9a4d', '#3ddba8', '#ef9fca', '#f0c040', '#b3a6ff', '#e6e6e6'];

const variables = (colours: readonly string[]) => colours.map((colour, i) => `--c${i}:${colour}`).join(';');
const light = `--ink:#1b1b1b;--faint:#595959;--paper:#ffffff;--card:#f6f6f4;--rule:#d0d0cc;--link:#005a9c;--fault:#a4161a;--warning:#7a4b00;--note:#005a9c;${variables(LIGHT)}`;
const dark = `--ink:#ececec;--faint:#b0b0b0;--paper:#141414;--card:#1f1f1f;--rule:#454545;--link:#8cc8ff;--fault:#ff9b9b;--warning:#ffc66b;--note:#8cc8ff;${variables(DARK)}`;

/** The style sheet of a report. */
export const STYLE = `
:root{color-scheme:light;${light}}
:root[data-theme=dark]{color-scheme:dark;${dark}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;${dark}}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header,main,footer,.controls{max-width:1200px;margin:0 auto;padding:0 16px}
header{padding-top:16px}
h1{font-size:1.6rem;margin:.2em 0}h2{font-size:1.3rem;margin:1.6em 0 .5em;border-bottom:1px solid var(--rule)}h3{font-size:1.1rem;margin:1.4em 0 .4em}
h4{font-size:1rem;margin:0}
a{color:var(--link)}code{font:.92em ui-monospace,monospace;overflow-wrap:anywhere}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;background:var(--paper);padding:4px 8px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.controls{position:sticky;top:0;z-index:2;background:var(--paper);display:flex;flex-wrap:wrap;gap:8px 16px;align-items:center;padding:8px 16px;border-bottom:1px solid var(--rule)}
.controls label{display:inline-flex;gap:6px;align-items:center;max-width:100%;white-space:nowrap}
input,select,button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--faint);border-radius:4px;padding:4px 8px;min-height:36px}
input[type=checkbox]{min-height:20px;width:20px;height:20px}
input[type=search]{width:240px;min-width:0;flex:0 1 auto}
.finding{border:1px solid var(--rule);border-left:6px solid var(--note);background:var(--card);padding:10px 14px;margin:10px 0;border-radius:4px}
.finding.fault{border-left-color:var(--fault)}.finding.warning{border-left-color:var(--warning)}
.finding h3{margin:0}.finding p{margin:.4em 0}.level{font-weight:700;text-transform:uppercase;font-size:.8rem;letter-spacing:.04em}
.fault .level{color:var(--fault)}.warning .level{color:var(--warning)}.note .level{color:var(--note)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem}caption{text-align:left;color:var(--faint);padding:4px 0;max-width:calc(100vw - 60px)}
th,td{text-align:left;padding:4px 10px;border-bottom:1px solid var(--rule);vertical-align:top}td{font-variant-numeric:tabular-nums}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,460px),1fr));gap:16px}
.panel{border:1px solid var(--rule);border-radius:4px;background:var(--card);padding:10px 12px;min-width:0;scroll-margin-top:120px}
.panel p{margin:.2em 0;color:var(--faint);font-size:.9rem}
.panel table{width:100%}
.chart{min-height:220px}.chart svg{display:block;width:100%;height:auto}
.legend{display:flex;flex-wrap:wrap;gap:2px 12px;margin:4px 0 0;padding:0;list-style:none;font-size:.85rem;font-variant-numeric:tabular-nums}
.legend svg{width:28px;height:10px;vertical-align:middle;display:inline-block}
/* Of charts: boards in replays have colours of their own. */
.panel svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .grid{stroke:var(--rule);stroke-width:1}svg .axis{stroke:var(--faint)}
svg .line{fill:none;stroke-width:2}svg .single{fill:none;stroke-width:1;opacity:.45}svg .band{opacity:.18;stroke:none}svg .cursor{stroke:var(--faint);stroke-dasharray:2 2}
${LIGHT.map((_, i) => `.k${i}{stroke:var(--c${i})}.f${i}{fill:var(--c${i})}`).join('')}
.none{color:var(--faint)}pre{overflow:auto;background:var(--card);padding:10px;font:13px/1.4 ui-monospace,monospace}
.bar{margin-right:6px}.bar rect{fill:var(--c0)}
[hidden]{display:none!important}
@media (max-width:600px){body{font-size:15px}.controls{position:static}h1{font-size:1.35rem}th,td{padding:4px 6px}.panel svg text{font-size:16px}}
@media print{.controls{display:none}.panel,.finding{break-inside:avoid}}
`;
