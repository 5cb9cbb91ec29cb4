import type { IncomingMessage, RequestListener } from 'node:http';
import { parseJson, stringifyJson } from 'openapi-document';

export const FAULTS = [
  'undeclared status',
  'wrong media type',
  'missing header',
  'wrong header',
  'wrong path in Location',
  'wrong body',
  'int64 rounded',
  'failure on long names',
  'no response',
  'valid rejected',
  'missing member accepted',
  'wrong type accepted',
  'bounds ignored',
  'int64 unbounded',
  'wrong media type accepted',
  'undeclared query accepted',
  'wrong query accepted',
  'no credentials needed',
  'any credentials accepted',
  'enum ignored',
  'date ignored',
  'old dates rejected',
  'closed object ignored',
  'empty query accepted',
] as const;

export type ShopFault = (typeof FAULTS)[number];

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const KEY = 'key-of-the-tests';

/** Makes a shop that follows `shop.yaml`, except for these faults. It only uses `node:http`. */
export function createShop(...faults: readonly ShopFault[]): RequestListener {
  const has = (fault: ShopFault) => faults.includes(fault);
  const items = new Map<bigint, unknown>();
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (has('no response') && text.includes('"price"')) return request.socket.destroy();
    const { status, body, headers } = respond(request, text);
    const type = has('wrong media type') && status === 200 ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'Content-Type': type, ...headers }).end(stringifyJson(body));
  };

  function respond({ method = '', url = '', headers }: IncomingMessage, text: string): Reply {
    const { pathname, searchParams } = new URL(url, 'http://host');
    const [, id] = /^\/v1\/items\/([^/]+)$/.exec(pathname) ?? [];
    if (id === undefined && pathname !== '/v1/items') return problem(404, 'nothing here');
    const key = headers['x-key'];
    const denied = has('any credentials accepted') ? key === undefined : key !== KEY;
    if (denied && !has('no credentials needed')) return problem(401, 'wrong key');
    const names =
      id === undefined && method === 'GET' ? ['limit', 'color', 'since', 'filter[size]'] : [];
    const undeclared = [...searchParams.keys()].filter(
      (name) =>
        !names.includes(name) && !(has('closed object ignored') && name.startsWith('filter[')),
    );
    if (undeclared.length > 0 && !has('undeclared query accepted'))
      return problem(400, 'undeclared parameter');
    if (id !== undefined) return get(decodeURIComponent(id));
    return method === 'GET' ? list(searchParams) : add(headers['content-type'], text);
  }

  function add(type: string | undefined, text: string): Reply {
    if (type !== 'application/json' && !has('wrong media type accepted'))
      return problem(415, 'not JSON');
    let item: Record<string, unknown>;
    try {
      item = Object(parseJson(text));
    } catch {
      return problem(400, 'not JSON');
    }
    const wrong = violation(item);
    if (wrong !== undefined) return problem(400, wrong);
    const { id, name } = item;
    if (has('failure on long names') && String(name).length > 15) return problem(500, 'crashed');
    if (has('undeclared status'))
      return { status: 202, body: item, headers: { 'X-Accepted': 'yes' } };
    if (has('valid rejected') && item.price === undefined) return problem(422, 'a price is needed');
    const isId = Number.isInteger(id) || typeof id === 'bigint';
    const key = BigInt(isId ? String(id) : 1);
    if (isId && items.has(key)) return problem(409, 'the id is taken');
    items.set(key, item);
    const end = has('wrong path in Location') ? '/photos' : '';
    const location = has('wrong header') ? `/items/${id}` : `/v1/items/${id}${end}`;
    return {
      status: 201,
      body: item,
      ...(!has('missing header') && { headers: { Location: location } }),
    };
  }

  function violation(item: Record<string, unknown>): string | undefined {
    const { id, name, price } = item;
    const types = !has('wrong type accepted');
    const bounds = !has('bounds ignored');
    if (Array.isArray(item)) return 'must be an object';
    if (id === undefined) return 'id is missing';
    if (types ? !Number.isInteger(id) && typeof id !== 'bigint' : id === null)
      return 'id must be an integer';
    if ((bounds && Number(id) < 1) || (!has('int64 unbounded') && isTooLarge(id)))
      return 'id is out of bounds';
    if (name === undefined) return has('missing member accepted') ? undefined : 'name is missing';
    if (typeof name !== 'string') return 'name must be a string';
    if (bounds && ([...name].length < 1 || [...name].length > 30)) return 'name is out of bounds';
    if (price === undefined) return undefined;
    if (typeof price !== 'number' && typeof price !== 'bigint') return 'price must be a number';
    return price < 0 && bounds ? 'price is out of bounds' : undefined;
  }

  function list(query: URLSearchParams): Reply {
    const limitText = query.get('limit') ?? '100';
    const isAccepted = limitText === '' && has('empty query accepted');
    const limit = isAccepted ? 100 : Number(limitText || 'none');
    const ok = Number.isInteger(limit) && limit >= 1 && limit <= 100;
    if (!ok && !has('wrong query accepted')) return problem(400, 'limit is wrong');
    const isColor = (color: string) => color === 'red' || color === 'green' || has('enum ignored');
    if (!query.getAll('color').every(isColor)) return problem(400, 'no color');
    const since = query.get('since') ?? '2026-01-01T00:00:00Z';
    const isDate =
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(since) &&
      isDay(since.slice(0, 10)) &&
      !Number.isNaN(Date.parse(since));
    if (!isDate && !has('date ignored')) return problem(400, 'since is no date');
    if (since < '1970' && has('old dates rejected')) return problem(400, 'since is too early');
    const size = query.get('filter[size]') ?? 's';
    if (size !== 's' && size !== 'l') return problem(400, 'no size');
    return {
      status: 200,
      body: has('wrong body')
        ? [{ id: 'one', name: 'cup' }]
        : [...items.values()].slice(0, ok ? limit : 3),
    };
  }

  function get(id: string): Reply {
    if (!/^\d+$/.test(id) || BigInt(id) < 1n || isTooLarge(BigInt(id)))
      return problem(400, 'id is wrong');
    const item = items.get(BigInt(id));
    if (item === undefined) return problem(404, 'no such item');
    return {
      status: 200,
      body: has('int64 rounded') ? { ...Object(item), id: 2 ** 63 } : item,
    };
  }
}

/** Rejects February 30, which `Date.parse` accepts. */
const isDay = (day: string): boolean =>
  !Number.isNaN(Date.parse(day)) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);

const isTooLarge = (id: unknown): boolean =>
  typeof id === 'number' ? id >= 2 ** 63 : typeof id === 'bigint' && id >= 2n ** 63n;

const problem = (status: number, message: string): Reply => ({ status, body: { message } });
