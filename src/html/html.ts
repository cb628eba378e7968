/** Markup that is put into a page unescaped. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A template for markup: every value in it is escaped, except `Html` and lists of it. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(strings.reduce((markup, part, index) => markup + toMarkup(values[index - 1]) + part));
}

export const renderDocument = (title: string, head: Html, body: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Graph Query Service</title>
${head}
</head>
<body>
${body}
</body>
</html>
`.markup;

/** An absent value is left out, and so is the `false` of a condition. */
export type HtmlValue = string | number | Html | readonly Html[] | false | null | undefined;

function toMarkup(value: HtmlValue): string {
  if (value === false || value === null || value === undefined) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(toMarkup).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
