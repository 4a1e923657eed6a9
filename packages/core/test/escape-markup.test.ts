import { escapeMarkup } from '@coplay/core/checks';
import fc from 'fast-check';
import { expect, it } from 'vitest';

/** XML 1.0, production [2] Char. */
function isXmlChar(code: number): boolean {
  if (code === 0x9 || code === 0xa || code === 0xd) return true;
  return (code >= 0x20 && code <= 0xd7ff) || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}

it.each([
  ['<img src=x onerror="alert(1)">', '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;'],
  ["a & b's", 'a &amp; b&#39;s'],
  ['&lt;', '&amp;lt;'],
  ['\u0000\u001b[31m\u007f', '\ufffd\ufffd[31m\ufffd'],
  ['\ud800x\udc00', '\ufffdx\ufffd'],
  ['\ufffe\uffff', '\ufffd\ufffd'],
  ['tab\tline\r\n', 'tab\tline\r\n'],
  ['\u2028 \u{1f98c} é', '\u2028 \u{1f98c} é'],
  ['', ''],
])('%j becomes %j', (text, escaped) => {
  expect(escapeMarkup(text)).toBe(escaped);
});

it('leaves nothing of any text that ends an element or an attribute, or that XML cannot hold', () => {
  const unit = fc.oneof(fc.constantFrom('<', '>', '"', "'", '&', '\u0000', '\ud800', '\udfff', '\uffff'), fc.string());
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const escaped = escapeMarkup(units.join(''));
      expect(escaped).not.toMatch(/[<>"']/);
      expect(escaped.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      for (const character of escaped) expect(isXmlChar(character.codePointAt(0) as number)).toBe(true);
    }),
  );
});
