/** The path and the query of a request target, also in absolute form (RFC 9112 §3.2.2), as they were sent. */
export function targetOf(url = ''): [path: string, query: string] {
  const start = url.startsWith('/') ? 0 : (/^https?:\/\/[^/?#]*/i.exec(url)?.[0].length ?? 0);
  const end = url.indexOf('#', start) < 0 ? url.length : url.indexOf('#', start);
  const mark = url.indexOf('?', start);
  if (mark < 0 || mark > end) return [url.slice(start, end) || '/', ''];
  return [url.slice(start, mark) || '/', url.slice(mark + 1, end)];
}
