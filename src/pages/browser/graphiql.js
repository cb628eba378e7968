import { endCodeFlow } from './codeFlow.js';
import { messageOf } from './dom.js';
import { edit } from './editor.js';
import { fetcher } from './fetcher.js';
import { takeLinkedOperation } from './linkedOperation.js';
import { fittingExamples, say, showPanel } from './panel.js';
import { currentSession, sessionChanges } from './session.js';
import { settings } from './settings.js';
import { signInAsApplication, signInWithCode } from './tokens.js';

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
if (linked) void edit(linked);

/** Ends a sign-in that went through the sign-in page; else the demo signs itself in. */
async function signInAtStart() {
  try {
    const answer = endCodeFlow();
    if (answer) await signInWithCode(answer);
    else if (settings.demo && !currentSession()) {
      await signInAsApplication(settings.demo.clientId, settings.demo.clientSecret);
    }
  } catch (error) {
    say(messageOf(error));
  }
}
