import { edited, isReady, run } from './editor.js';
import { say } from './notice.js';

/**
 * Lets the first click on GraphiQL's button run the query, however early: GraphiQL ignores those that come before its editors have loaded.
 * Control and Enter run it from the page as well, which has the focus at first: GraphiQL hears them in its editors only.
 *
 * @param {Promise<void> | null} shown when the operation of a link is in the editor
 */
export function runEarly(shown) {
  let isWaiting = false;
  const runLater = async () => {
    if (isWaiting) return;
    isWaiting = true;
    say('The query runs as soon as the editor has loaded.');
    await shown;
    await edited();
    isWaiting = false;
    run();
  };

  addEventListener(
    'click',
    (event) => {
      if (isReady() || !isIn(event, '.graphiql-execute-button')) return;
      event.stopPropagation();
      void runLater();
    },
    { capture: true },
  );
  addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    if (!isReady() && !isIn(event, 'dialog')) void runLater();
    else if (event.target === document.body) run();
  });
}

/** @type {(event: Event, selector: string) => boolean} */
const isIn = ({ target }, selector) => target instanceof Element && target.closest(selector) !== null;
