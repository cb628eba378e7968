/** The samples of Prometheus' text format, by name and labels in alphabetical order; all are of one worker, which is left out. */
export function parseMetrics(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const kept = [...labels.matchAll(/\w+="[^"]*"/g)].map(([label]) => label).filter((label) => label !== 'worker="1"');
    samples.set(kept.length > 0 ? `${name}{${kept.toSorted().join(',')}}` : name, Number(value));
  }
  return samples;
}

export async function scrape(port: number): Promise<{ text: string; samples: Map<string, number> }> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The metrics were answered with ${response.status}: ${text}`);
  return { text, samples: parseMetrics(text) };
}
