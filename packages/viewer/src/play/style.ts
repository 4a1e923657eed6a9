/**
 * The style sheet of the page; colours follow the device, and words or shapes carry all information as well. After a
 * change: `npm run generate`.
 */
export const STYLE = `
:root{color-scheme:light dark;--paper:light-dark(#fff,#141414);--ink:light-dark(#1b1b1b,#ececec);--faint:light-dark(#595959,#b0b0b0);--card:light-dark(#f6f6f4,#1f1f1f);--rule:light-dark(#d0d0cc,#454545);--bar:light-dark(#0072b2,#56b4e9);--focus:light-dark(#005a9c,#8cc8ff)}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1100px;padding:8px 16px 32px;background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,sans-serif}
h1{font-size:1.4rem;margin:.3em 0}h2{font-size:1.1rem;margin:.2em 0 .4em}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
button,select,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--faint);border-radius:4px;min-height:44px;padding:4px 8px;max-width:100%}
button{min-width:44px;cursor:pointer}button:disabled{color:var(--faint);border:1px dashed var(--rule);cursor:default}
button.main{border:2px solid var(--ink);font-weight:700}
input[type=checkbox]{width:22px;height:22px;min-height:22px;margin:0}input[type=number]{width:8em}
form{display:flex;flex-wrap:wrap;gap:10px 16px;align-items:end;border:1px solid var(--rule);border-radius:4px;background:var(--card);padding:10px 12px;margin-bottom:12px}
label{display:inline-flex;flex-direction:column;gap:2px;font-size:.92rem}label.check{flex-direction:row;align-items:center;gap:8px;min-height:44px}
fieldset{border:1px solid var(--rule);border-radius:4px;margin:0;padding:4px 10px 8px;display:flex;flex-wrap:wrap;gap:8px 14px;width:100%}
.table{display:grid;grid-template-columns:minmax(0,1.1fr) minmax(0,1fr);gap:8px 24px;align-items:start}
.board svg{display:block;width:100%;max-width:min(100%,80vh);height:auto}
.status{min-height:1.5em;margin:.4em 0;font-weight:600}
.pad{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:6px;max-width:420px}
.pad button{min-height:52px;line-height:1.15}
.pad button[data-move=up]{grid-column:2}.pad button[data-move=left]{grid-column:1;grid-row:2}.pad button[data-move=stay]{grid-column:2;grid-row:2}.pad button[data-move=right]{grid-column:3;grid-row:2}.pad button[data-move=down]{grid-column:2;grid-row:3}
.pad .deeds{grid-column:1/-1;display:flex;gap:6px}.pad .deeds button{flex:1}
kbd{display:inline-block;font:.85em ui-monospace,monospace;border:1px solid currentColor;border-radius:3px;padding:0 4px}
.after{display:flex;flex-wrap:wrap;gap:8px;margin:8px 0}
table{width:100%;border-collapse:collapse;font-size:.94rem}caption{text-align:left;color:var(--faint)}
th,td{text-align:left;padding:3px 8px 3px 0;border-bottom:1px solid var(--rule);font-weight:400;vertical-align:top}th[scope=row]{font-weight:600}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
.badge{display:inline-block;min-width:1.5em;text-align:center;border-radius:1em;font-weight:700}
section.card{border:1px solid var(--rule);border-radius:4px;background:var(--card);padding:8px 12px;margin-top:12px}
.beliefs{display:grid;gap:8px 16px;grid-template-columns:repeat(auto-fill,minmax(min(100%,200px),1fr))}
.beliefs h3{font-size:.95rem;margin:0}.beliefs p{margin:0;font-size:.9rem}
.track{display:block;height:8px;border:1px solid var(--faint)}.track i{display:block;height:100%;background:var(--bar)}
ul.games{list-style:none;margin:0;padding:0}ul.games li{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:center;border-bottom:1px solid var(--rule);padding:4px 0}
.note{color:var(--faint);font-size:.9rem;margin:.3em 0}
[hidden]{display:none!important}
@media (max-width:760px){.table{grid-template-columns:minmax(0,1fr)}body{padding:4px 10px 24px}.board svg{max-width:min(100%,52vh);margin:0 auto}.pad{max-width:none}}
`;
