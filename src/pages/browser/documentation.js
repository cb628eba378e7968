import { createButton, element } from './dom.js';
import { currentSession } from './session.js';

if (document.getElementById('graph')) showPage();
else askForToken();

function askForToken() {
  const session = currentSession();
  if (session) void unlock(session.accessToken);
  element('token-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    void unlock(String(form.get('token')).trim());
  });
}

function showPage() {
  // It changes its size also when the fonts have come, and with the fields that are shown.
  new ResizeObserver(drawLines).observe(element('columns'));
  for (const code of document.querySelectorAll('.code')) addCopyButton(code);
  offerSearch();
}

/** Draws each line of the diagram, from a field to the title of its type. */
function drawLines() {
  const origin = element('columns').getBoundingClientRect();
  const lines = [...document.querySelectorAll('#columns [data-to]')].flatMap((row) =>
    (row.getAttribute('data-to') ?? '').split(' ').map((name) => {
      const title = element(`TYPE::${name}`).firstElementChild ?? row;
      const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      line.setAttribute('d', pathBetween(row.getBoundingClientRect(), title.getBoundingClientRect(), origin));
      return line;
    }),
  );
  element('lines').replaceChildren(...lines);
}

/** @type {(from: DOMRect, to: DOMRect, origin: DOMRect) => string} */
function pathBetween(from, to, origin) {
  const isForwards = to.left > from.right;
  const isBackwards = to.right < from.left;
  const start = { x: (isBackwards ? from.left : from.right) - origin.x, y: from.y + from.height / 2 - origin.y };
  const end = { x: (isForwards ? to.left : to.right) - origin.x, y: to.y + to.height / 2 - origin.y };
  const across = (end.x - start.x) / 2;
  // Within a column it goes out on the right, and comes back.
  const around = 24 + Math.min(40, Math.abs(end.y - start.y) / 4);
  const [leaving, arriving] = isForwards || isBackwards ? [across, -across] : [around, around];
  return `M${start.x} ${start.y}C${start.x + leaving} ${start.y} ${end.x + arriving} ${end.y} ${end.x} ${end.y}`;
}

/** @param {Element} code */
function addCopyButton(code) {
  const button = createButton('Copy', async () => {
    const text = code.querySelector('pre') ?? code;
    getSelection()?.selectAllChildren(text);
    // Without TLS there is no clipboard, but for pages of this machine.
    await (navigator.clipboard?.writeText(text.textContent ?? '') ?? document.execCommand('copy'));
    button.textContent = 'Copied';
  });
  button.addEventListener('blur', () => {
    button.textContent = 'Copy';
  });
  code.querySelector('figcaption')?.append(button);
}

/** Finds sections, types and fields by a part of their names, those that begin so first. */
function offerSearch() {
  const input = /** @type {HTMLInputElement} */ (element('search'));
  const found = element('found');
  const targets = [...document.querySelectorAll('.written :is(h2, h3, article, dt)[id]')].map((target) => {
    const label = target.matches('h2, h3') ? (target.textContent ?? '') : target.id;
    return { id: target.id, label, text: label.toLowerCase() };
  });
  input.addEventListener('input', () => {
    const words = input.value.trim().toLowerCase();
    const matches = targets.filter(({ text }) => words && text.includes(words));
    /** @param {string} text */
    const rank = (text) => [text === words, text.endsWith(`.${words}`), text.startsWith(words), true].indexOf(true);
    matches.sort((one, other) => rank(one.text) - rank(other.text));
    found.replaceChildren(...matches.slice(0, 20).map(renderMatch));
    element('found-count').textContent = words && `${matches.length} found`;
    element('contents').hidden = words !== '';
  });
  input.form?.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
}

/** @param {{ id: string, label: string }} match */
function renderMatch({ id, label }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `#${id}`;
  // Where it is too long it breaks between type and field.
  link.append(...label.split(/(?<=\.)/).flatMap((part) => [part, document.createElement('wbr')]));
  item.append(link);
  return item;
}

/**
 * Gets this page again, with a token, and shows it in place of the question for one.
 *
 * @param {string} token
 */
async function unlock(token) {
  const response = await fetch(location.pathname, {
    credentials: 'omit',
    headers: { Authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (!response.ok) {
    element('problem').textContent = 'That token is unknown, expired or revoked.';
    return;
  }
  const page = new DOMParser().parseFromString(text, 'text/html');
  document.body.replaceWith(page.body);
  showPage();
}
