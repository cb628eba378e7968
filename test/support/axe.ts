import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Expects that a page breaks no rule of axe-core, for WCAG 2.2 AA and its best practices, and that nothing is wider than the window.
 *
 * @param parts what is judged, by selectors; the whole page unless given
 */
export async function expectAccessible(
  page: Page,
  parts?: { include: readonly string[]; exclude?: readonly string[] },
): Promise<void> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(await source);
  const { violations, passes } = (await page.evaluate(`axe.run(${JSON.stringify(parts) ?? 'document'})`)) as AxeResults;
  expect(violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) }))).toEqual([]);
  // It has judged something.
  expect(passes.length).toBeGreaterThan(5);
  if (!parts)
    expect(passes.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['color-contrast', 'document-title', 'html-has-lang']),
    );
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
}

let source: Promise<string> | undefined;
