import { renderInline } from '../../src/pages/documentation/render.ts';

test.each([
  ['A `code`, **bold**.', 'A <code>code</code>, <b>bold</b>.'],
  [
    'As in [RFC 4122](https://www.rfc-editor.org/rfc/rfc4122).',
    'As in <a href="https://www.rfc-editor.org/rfc/rfc4122">RFC 4122</a>.',
  ],
  ['See https://example.com/a.', 'See <a href="https://example.com/a">https://example.com/a</a>.'],
  ['[not](javascript:alert) <b>', '[not](javascript:alert) &#60;b&#62;'],
  ['[a](https://x/"onclick=")', '<a href="https://x/&#34;onclick=&#34;">a</a>'],
])('%s', (text, html) => {
  expect(
    renderInline(text)
      .map(({ markup }) => markup)
      .join(''),
  ).toBe(html);
});
