import { element } from './dom.js';

/** @typedef {[place: string, name: string, text: string]} Entry */

/**
 * Search as you type: `/` focuses it, the arrow keys walk through what is found, Enter opens the first, Escape closes it.
 * The index is loaded when it is first needed.
 *
 * @param {string} [token] that the schema is read with, where it is not public
 */
export function offerSearch(token) {
  const input = /** @type {HTMLInputElement} */ (element('search'));
  const form = /** @type {HTMLFormElement} */ (input.form);
  /** @type {Promise<Entry[]> | null} */
  let index = null;
  const load = () => (index ??= loadIndex(input.dataset.path ?? '', token));

  input.addEventListener('focus', load);
  input.addEventListener('input', async () => show(input, await load()));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    show(input, await load());
    element('found').querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close(input);
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') step(input, event);
  });
  // A click elsewhere, a link that leads within the page, and Tab past the last one close it.
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(/** @type {Node | null} */ (relatedTarget))) element('results').hidden = true;
  });
  // Safari gives no focus to a link that is clicked: the list would be closed before the click.
  element('results').addEventListener('mousedown', (event) => event.preventDefault());
  element('found').addEventListener('click', () => {
    element('results').hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.select();
  });
  // Typed before this script was there.
  if (input.value !== '') void load().then((entries) => show(input, entries));
}

/** @type {(path: string, token: string | undefined) => Promise<Entry[]>} */
async function loadIndex(path, token) {
  const headers = token === undefined ? undefined : { Authorization: `Bearer ${token}` };
  const response = await fetch(`${path}/search.json`, { credentials: 'omit', ...(headers && { headers }) });
  return response.ok ? response.json() : [];
}

/** @type {(input: HTMLInputElement, index: Entry[]) => void} */
function show(input, index) {
  const words = input.value.trim().toLowerCase();
  const found = words === '' ? [] : search(index, words);
  element('found').replaceChildren(
    ...found.slice(0, maxShown).map((entry) => renderEntry(input.dataset.path ?? '', entry)),
  );
  element('found-count').textContent = words && `${found.length} found`;
  element('results').hidden = words === '';
}

const maxShown = 12;

/** Names before sentences; of names, the whole one before its end, its beginning and its middle. */
function search(/** @type {Entry[]} */ index, /** @type {string} */ words) {
  const ranked = index.flatMap((entry) => {
    const [, name, text] = entry;
    const lower = name.toLowerCase();
    const tests = [lower === words, lower.endsWith(`.${words}`), begins(lower, words), lower.includes(words)];
    const rank = [...tests, text.toLowerCase().includes(words)].indexOf(true);
    return rank === -1 ? [] : [{ entry, rank }];
  });
  return ranked.sort((one, other) => one.rank - other.rank).map(({ entry }) => entry);
}

/** @type {(name: string, words: string) => boolean} */
const begins = (name, words) => name.startsWith(words) || name.includes(`.${words}`);

/** @type {(path: string, entry: Entry) => HTMLLIElement} */
function renderEntry(path, [place, name, text]) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const title = document.createElement('b');
  link.href = `${path}/${place}`;
  title.textContent = name;
  link.append(title, ' ', text.replaceAll('`', ''));
  item.append(link);
  return item;
}

/** @type {(input: HTMLInputElement, event: KeyboardEvent) => void} */
function step(input, event) {
  const stops = [input, ...element('found').querySelectorAll('a')];
  const next =
    stops.indexOf(/** @type {HTMLInputElement} */ (document.activeElement)) + (event.key === 'ArrowDown' ? 1 : -1);
  event.preventDefault();
  stops[Math.max(0, Math.min(next, stops.length - 1))]?.focus();
}

/** @param {HTMLInputElement} input */
function close(input) {
  input.value = '';
  element('results').hidden = true;
  input.focus();
}
