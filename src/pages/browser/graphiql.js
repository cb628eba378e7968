import { endCodeFlow } from './codeFlow.js';
import { createFetcher } from './fetcher.js';
import { showPanel } from './panel.js';
import { currentSession, sessionChanges } from './session.js';
import { readSettings } from './settings.js';
import { Tokens } from './tokens.js';

/**
 * @typedef {object} Settings
 * @property {string} issuer
 * @property {string} endpoint
 * @property {string} oauthPath
 * @property {string} ruruPath
 * @property {boolean} publicIntrospection
 * @property {Record<string, import('./panel.js').Example[]>} examples by kind of token
 * @property {{ clientId: string, clientSecret: string } | null} demo
 */

/** @type {Settings} */
const settings = readSettings();
const tokens = new Tokens(settings);

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

const panel = showPanel(settings, tokens);
const [{ React, createRoot, Ruru }] = await Promise.all([import(`${settings.ruruPath}ruru.js`), signInAtStart()]);
const root = createRoot(document.getElementById('ruru-root'));
const fetcher = createFetcher(settings, tokens, panel.explain);
const { query } = panel.firstExample();

/** @param {string} key another one starts GraphiQL anew, which reads the schema again */
const render = (key) =>
  root.render(
    React.createElement(Ruru, {
      key,
      fetcher,
      defaultQuery: query,
      debugTools: [],
      // Nothing typed into the headers section, a token perhaps, outlives the page.
      showPersistHeadersSettings: false,
    }),
  );

const schemaReader = () => (settings.publicIntrospection ? 'public' : (currentSession()?.id ?? 'none'));
render(schemaReader());
sessionChanges.addEventListener('change', () => render(schemaReader()));

/** Ends a sign-in that went through the sign-in page; else the demo signs itself in. */
async function signInAtStart() {
  try {
    const answer = endCodeFlow(settings.issuer);
    if (answer) await tokens.signInWithCode(answer);
    else if (settings.demo && !currentSession()) {
      await tokens.signInAsApplication(settings.demo.clientId, settings.demo.clientSecret);
    }
  } catch (error) {
    panel.say(error instanceof Error ? error.message : String(error));
  }
}
