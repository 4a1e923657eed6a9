/**
 * The style sheet of a page of replays; that of the replays themselves comes with their script. After a change:
 * `npm run generate`.
 */
export const STYLE = `
:root{color-scheme:light dark}
body{margin:0 auto;max-width:1400px;padding:8px 16px 32px;background:light-dark(#fff,#141414);color:light-dark(#1b1b1b,#ececec);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;margin:.3em 0}
.coplay-episodes select{font:inherit;color:inherit;background:light-dark(#f6f6f4,#1f1f1f);border:1px solid light-dark(#595959,#b0b0b0);border-radius:4px;min-height:44px;padding:4px 8px;max-width:100%}
`;
