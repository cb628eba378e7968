import { currentSession } from './session.js';

start();

function start() {
  if (document.getElementById('graph')) return drawGraph();
  const session = currentSession();
  if (session) void unlock(session.accessToken);
  document.getElementById('token-form')?.addEventListener('submit', (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    void unlock(String(form.get('token')).trim());
  });
}

/** Voyager's own script comes before this one. */
function drawGraph() {
  const graph = document.getElementById('graph');
  const introspection = JSON.parse(document.getElementById('introspection')?.textContent ?? 'null');
  Reflect.get(globalThis, 'GraphQLVoyager').renderVoyager(graph, {
    introspection,
    hideDocs: true,
    hideVoyagerLogo: true,
    // They would cover half of a small graph.
    hideSettings: matchMedia('(max-width: 860px)').matches,
    displayOptions: { skipDeprecated: true },
  });

  // The wheel scrolls the page, as everywhere; with Ctrl it zooms the graph.
  graph?.addEventListener('wheel', (event) => event.ctrlKey || event.stopPropagation(), { capture: true });

  // A type in the graph leads to its description.
  graph?.addEventListener('click', ({ target }) => {
    const id = target instanceof Element ? target.closest('g.node')?.id : undefined;
    const name = id?.replace(/^TYPE::/, '');
    if (name && document.getElementById(name)) location.hash = name;
  });
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
  const problem = document.getElementById('problem');
  if (!response.ok) {
    if (problem) problem.textContent = 'That token is unknown, expired or revoked.';
    return;
  }
  const page = new DOMParser().parseFromString(text, 'text/html');
  document.body.replaceWith(page.body);
  drawGraph();
}
