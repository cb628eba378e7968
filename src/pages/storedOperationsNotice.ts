import type { Config } from '../config.ts';
import { type Html, html } from '../html/html.ts';
import type { Site } from './site.ts';

/** A notice above an editor that only stored operations are answered; null if all are. */
export function storedOperationsNotice({ persistedOperations }: Config, { basePath }: Site): Html | null {
  if (!persistedOperations) return null;
  return html`<p class="subbar notice">This service answers its stored operations only. Any other is refused, also that by which this page
asks for the schema; the <a href="${basePath}/documentations/graphql">documentation</a> shows it.</p>`;
}
