/** The style sheet of replays; `light-dark` follows the colour scheme of the page they are on. */
const STYLE = `
.coplay-replay{--ink:light-dark(#1b1b1b,#ececec);--faint:light-dark(#595959,#b0b0b0);--card:light-dark(#f6f6f4,#1f1f1f);--rule:light-dark(#d0d0cc,#454545);--bar:light-dark(#0072b2,#56b4e9);--differs:light-dark(#b3005e,#ff8ac0);--focus:light-dark(#005a9c,#8cc8ff);color:var(--ink);font:16px/1.4 system-ui,sans-serif}
.coplay-replay *{box-sizing:border-box}
.coplay-replay :focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.coplay-replay .replay-controls,.coplay-replay .replay-more{display:flex;flex-wrap:wrap;gap:6px;align-items:center;padding:8px 0;background:light-dark(#fff,#141414)}
.coplay-replays[data-keys=page] .replay-controls{position:sticky;top:0;z-index:1}
.coplay-replay button,.coplay-replay select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--faint);border-radius:4px;min-width:44px;min-height:44px;padding:4px 8px}
.coplay-replay input[type=range]{flex:1 1 140px;min-width:100px;min-height:44px;padding:0;border:0;background:none;accent-color:var(--bar)}
.coplay-replay .play{min-width:4.5em}
.coplay-replay .place{min-width:5em;font-variant-numeric:tabular-nums}
.coplay-replay .help,.coplay-replay .told,.coplay-replay .note,.coplay-replay .player{color:var(--faint);font-size:.9rem;margin:.2em 0}
.coplay-replay .told{min-height:1.4em}
.coplay-replay .scene{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1.4fr);gap:16px;align-items:start}
.coplay-replay .boards{display:grid;gap:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,240px),1fr))}
.coplay-replay figure{margin:0}.coplay-replay figcaption{font-weight:600;margin-bottom:4px}
.coplay-replay .board svg{display:block;width:100%;max-width:480px;height:auto;background:#fff}
.coplay-replay pre{overflow:auto;margin:0;font:16px/1.3 ui-monospace,monospace}
.coplay-replay .agents{display:grid;gap:12px;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));align-items:start}
.coplay-replay .agent{border:1px solid var(--rule);border-radius:4px;background:var(--card);padding:8px 12px;min-width:0;content-visibility:auto;contain-intrinsic-size:auto 400px}
.coplay-replay h3{font-size:1rem;margin:0 0 .2em}.coplay-replay .player{font-weight:400}
.coplay-replay .badge{display:inline-block;min-width:1.5em;text-align:center;border-radius:1em;font-weight:700}
.coplay-replay .doing{margin:.2em 0}
.coplay-replay table{width:100%;table-layout:fixed;border-collapse:collapse;font-size:.88rem;margin-top:6px}
.coplay-replay caption{text-align:left;color:var(--faint)}
.coplay-replay th,.coplay-replay td{padding:1px 6px 1px 0;border:0;text-align:left;font-weight:400;vertical-align:middle}
.coplay-replay thead th{color:var(--faint)}
.coplay-replay .chosen th,.coplay-replay .chosen td{font-weight:700}
.coplay-replay .mark{display:inline-block;width:1.1em}
.coplay-replay td.share{white-space:nowrap}
.coplay-replay .track{display:inline-block;width:calc(100% - 3.4em);min-width:20px;height:.7em;border:1px solid var(--rule);vertical-align:middle;background:linear-gradient(var(--bar) 0 0) no-repeat;background-size:0 100%}
.coplay-replay .number{display:inline-block;width:3.2em;text-align:right;font-variant-numeric:tabular-nums}
.coplay-replay details{margin-top:6px}.coplay-replay summary{min-height:28px;cursor:pointer}
.coplay-replay .planes{display:flex;flex-wrap:wrap;gap:8px}
.coplay-replay .plane{contain:content;padding:3px;border:2px solid transparent}.coplay-replay .plane.differs{border:2px dashed var(--differs)}
.coplay-replay .plane figcaption{font-size:.8rem;font-weight:400;margin:2px 0 0;max-width:16em}
.coplay-replay .pair{display:flex;gap:4px}.coplay-replay .pair .none{display:none}.coplay-replay .pair svg{display:block;width:98px;max-width:48%;height:auto;background:#fff;border:1px solid var(--faint)}
.coplay-replay .vector{font-size:.85rem;margin:.3em 0;overflow-wrap:anywhere}
.coplay-replay [hidden]{display:none!important}
@media (max-width:800px){.coplay-replay .scene{grid-template-columns:minmax(0,1fr)}}
`;

let sheet: CSSStyleSheet | undefined;

/**
 * Adds the style sheet to the page, once. As an object: the content policy of a page may forbid style elements that a
 * script makes.
 */
export function addStyle(): void {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
}
