/**
 * The operation that a link has brought in the fragment of the address, as those of the documentation do; null without one.
 * It is put into the editor and never sent by itself: a link must not change anything. The address is cleaned of it.
 *
 * @returns {{ query: string, variables?: object } | null}
 */
export function takeLinkedOperation() {
  const linked = new URLSearchParams(location.hash.slice(1));
  const query = linked.get('query');
  if (!query) return null;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    return { query, variables: JSON.parse(linked.get('variables') ?? 'null') ?? undefined };
  } catch {
    return { query };
  }
}
