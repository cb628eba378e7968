import { endCodeFlow } from './codeFlow.js';
import { element, messageOf } from './dom.js';
import { runEarly } from './earlyRuns.js';
import { fittingExamples, show } from './examples.js';
import { fetcher } from './fetcher.js';
import { takeLinkedOperation } from './linkedOperation.js';
import { say } from './notice.js';
import { showPanel } from './panel.js';
import { signInFirst } from './principals.js';
import { chooseSession, currentSession, sessionChanges } from './session.js';
import { settings } from './settings.js';
import { signInBy } from './tokens.js';

// Monaco, the editor, reads this when it is imported; with `globalAPI` the panel reaches its texts.
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: true,
    getWorker: (/** @type {unknown} */ _, /** @type {string} */ label) =>
      new Worker(`${settings.ruruPath}${workers[label] ?? 'editorWorker.js'}`, { type: 'module' }),
  },
});

/** @type {Record<string, string>} */
const workers = { json: 'jsonWorker.js', graphql: 'graphqlWorker.js' };

const linked = takeLinkedOperation();
showPanel();
runEarly(linked && show(linked));
const [{ React, createRoot, Ruru }] = await Promise.all([import(`${settings.ruruPath}ruru.js`), signInAtStart()]);
const root = createRoot(document.getElementById('ruru-root'));
const defaultQuery = fittingExamples()[0]?.query;

/** @param {string} key another one starts GraphiQL anew, which reads the schema again */
const render = (key) =>
  root.render(
    React.createElement(Ruru, {
      key,
      fetcher,
      defaultQuery,
      debugTools: [],
      // Nothing typed into the headers section, a token perhaps, outlives the page.
      showPersistHeadersSettings: false,
    }),
  );

const schemaReader = () => (settings.publicIntrospection ? 'public' : (currentSession()?.id ?? 'none'));
render(schemaReader());
sessionChanges.addEventListener('change', () => render(schemaReader()));

/**
 * Ends a sign-in that went through the sign-in page; else the demo signs itself in.
 * Only then does the panel take clicks. Before, its buttons would do nothing, or send no token.
 */
async function signInAtStart() {
  try {
    const request = endCodeFlow();
    if (request) chooseSession((await signInBy(request)).id);
    else await signInFirst();
  } catch (error) {
    say(messageOf(error));
  }
  element('panel').inert = false;
}
