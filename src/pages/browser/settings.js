/**
 * What the server tells the page's scripts.
 *
 * @template T
 * @returns {T}
 */
export function readSettings() {
  return JSON.parse(document.getElementById('settings')?.textContent ?? '{}');
}
