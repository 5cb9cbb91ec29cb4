import {
  bodyOf,
  failureOf,
  inPath,
  isObject,
  isValid,
  type Json,
  json,
  listOf,
  operation,
  parameter,
  readBody,
  ref,
  replyOf,
} from './document.ts';
import { failure, listenerOf, type Received, type Routes, type Sent } from './http.ts';

export const TOKENS = { ann: 'token-of-ann', bob: 'token-of-bob' };

const SETTINGS = {
  theme: { type: 'string', enum: ['light', 'dark', 'system'], default: 'system' },
  nickname: { type: ['string', 'null'], maxLength: 30 },
  quiet: {
    type: 'object',
    properties: {
      from: { type: 'integer', minimum: 0, maximum: 23, default: 22 },
      sound: { type: ['string', 'null'], maxLength: 20 },
    },
  },
};
const SETTINGS_PATCH = {
  ...SETTINGS,
  theme: { type: ['string', 'null'], enum: ['light', 'dark', 'system', null] },
  quiet: {
    type: 'object',
    properties: {
      from: { type: ['integer', 'null'], minimum: 0, maximum: 23 },
      sound: { type: ['string', 'null'], maxLength: 20 },
    },
  },
};
const ACCOUNT = {
  owner: { type: 'string', minLength: 1, maxLength: 40 },
  remark: { type: 'string', maxLength: 300 },
  ceiling: { type: 'integer', minimum: 0, maximum: 100_000 },
  tags: { type: 'array', maxItems: 4, items: { type: 'string', minLength: 1, maxLength: 12 } },
  address: {
    type: 'object',
    properties: {
      city: { type: 'string', maxLength: 30 },
      country: { type: 'string', maxLength: 30 },
    },
  },
  hint: { type: ['string', 'null'], maxLength: 30 },
};
const CARD = {
  holder: { type: 'string', minLength: 1, maxLength: 40 },
  brand: { type: 'string', enum: ['visa', 'amex'] },
  endsAt: { type: 'string', format: 'date-time' },
};
const TRANSFER = {
  accountId: { type: 'string', minLength: 1 },
  amount: { type: 'number', minimum: 0.01, maximum: 1_000_000, multipleOf: 0.01 },
};
const ARTICLE = { title: { type: 'string', minLength: 1, maxLength: 60 } };
const ACCOUNT_ID = inPath('accountId');
const CARD_ID = inPath('cardId');
const KEY = parameter('header', 'Idempotency-Key', { type: 'string', format: 'uuid' });
const LIMIT = parameter('query', 'limit', {
  ...{ type: 'integer', minimum: 1, maximum: 50, default: 20 },
});
const CURSOR = parameter('query', 'cursor', { type: 'string', minLength: 1 });
const conflict = (description: string) => ({ 409: failureOf(description) });
const ETAG = { headers: { ETag: { required: true, schema: { type: 'string' } } } };
const shown = (members: Json, others: Json = {}) => ({
  ...{ type: 'object', required: ['id'] },
  properties: { id: { type: 'string' }, ...members, ...others },
});

/**
 * Accounts of two callers with entity tags, idempotency keys and pages in `Link`. Cards below
 * accounts with a cursor, a total, an action and a batch. Transfers that an account lists. Articles
 * with a slug. Settings of the caller. Terms in plain text.
 */
export const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Bank', version: '1.0.0' },
  security: [{ token: [] }],
  paths: {
    '/settings': {
      get: operation('getSettings', { 200: replyOf(ref('Settings')) }),
      put: operation(
        'putSettings',
        { 200: replyOf(ref('Settings')) },
        { ...bodyOf('Settings'), summary: 'Replaces the settings of the caller.' },
      ),
      patch: operation(
        'patchSettings',
        { 200: replyOf(ref('Settings')) },
        {
          requestBody: {
            required: true,
            content: { 'application/merge-patch+json': { schema: ref('SettingsPatch') } },
          },
        },
      ),
    },
    '/labels/{key}': {
      parameters: [inPath('key', { type: 'string', pattern: '^[a-z]{1,8}$' })],
      get: operation('getLabel', { 200: replyOf(ref('NewArticle')) }),
      put: operation(
        'putLabel',
        { 200: replyOf(ref('NewArticle')), 201: replyOf(ref('NewArticle')) },
        bodyOf('NewArticle'),
      ),
    },
    '/accounts': {
      get: operation(
        'listAccounts',
        {
          200: {
            ...replyOf(listOf('Account')),
            headers: { Link: { schema: { type: 'string' } } },
          },
        },
        {
          parameters: [
            LIMIT,
            CURSOR,
            parameter('query', 'owner', { type: 'string', minLength: 1 }),
            parameter('query', 'tag', { type: 'string', minLength: 1 }),
            parameter('query', 'sort', { type: 'string', enum: ['ceiling', '-ceiling', 'owner'] }),
          ],
        },
      ),
      post: operation(
        'openAccount',
        { 201: { ...replyOf(ref('Account')), ...ETAG } },
        { ...bodyOf('NewAccount'), parameters: [KEY] },
      ),
    },
    '/accounts/{accountId}': {
      parameters: [ACCOUNT_ID],
      get: operation('getAccount', { 200: { ...replyOf(ref('Account')), ...ETAG } }),
      put: operation(
        'replaceAccount',
        { 200: { ...replyOf(ref('Account')), ...ETAG } },
        {
          ...bodyOf('NewAccount'),
          parameters: [parameter('header', 'If-Match', { type: 'string' })],
        },
      ),
      delete: operation('closeAccount', {
        ...{ 204: { description: 'Closed.' } },
        ...conflict('The account has cards.'),
      }),
    },
    '/accounts/{accountId}/terms': {
      parameters: [ACCOUNT_ID],
      get: operation('getTerms', {
        200: { description: 'The terms.', content: { 'text/plain': {} } },
      }),
      put: operation(
        'putTerms',
        { 204: { description: 'Stored.' } },
        {
          requestBody: {
            required: true,
            content: { 'text/plain': { schema: { type: 'string', minLength: 1 } } },
          },
        },
      ),
    },
    '/accounts/{accountId}/cards': {
      parameters: [ACCOUNT_ID],
      get: operation(
        'listCards',
        {
          200: replyOf({
            type: 'object',
            required: ['cards', 'total'],
            properties: {
              ...{ cards: listOf('Card'), total: { type: 'integer' } },
              totalPages: { type: 'integer' },
              next: { type: 'string' },
            },
          }),
        },
        {
          parameters: [
            LIMIT,
            CURSOR,
            parameter('query', 'brand', { type: 'array', items: CARD.brand }),
            parameter('query', 'endsAfter', CARD.endsAt),
          ],
        },
      ),
      post: operation(
        'orderCard',
        { 201: replyOf(ref('Card')) },
        { ...bodyOf('NewCard'), parameters: [KEY] },
      ),
    },
    '/accounts/{accountId}/cards/batch': {
      parameters: [ACCOUNT_ID],
      post: operation(
        'orderCards',
        { 204: { description: 'Ordered.' } },
        {
          requestBody: {
            required: true,
            ...json({ type: 'array', minItems: 1, maxItems: 5, items: ref('NewCard') }),
          },
        },
      ),
    },
    '/accounts/{accountId}/cards/{cardId}': {
      parameters: [ACCOUNT_ID, CARD_ID],
      get: operation('getCard', { 200: replyOf(ref('Card')) }),
      patch: operation(
        'changeCard',
        { 200: replyOf(ref('Card')) },
        {
          requestBody: {
            required: true,
            content: { 'application/merge-patch+json': { schema: ref('CardPatch') } },
          },
        },
      ),
      delete: operation('returnCard', { 204: { description: 'Returned.' } }),
    },
    '/accounts/{accountId}/cards/{cardId}/block': {
      parameters: [ACCOUNT_ID, CARD_ID],
      post: operation('blockCard', {
        ...{ 200: replyOf(ref('Card')) },
        ...conflict('The card is already blocked.'),
      }),
    },
    '/accounts/{accountId}/transfers': {
      parameters: [ACCOUNT_ID],
      get: operation('listTransfers', { 200: replyOf(listOf('Transfer')) }),
    },
    '/transfers': {
      post: operation('transfer', { 201: replyOf(ref('Transfer')) }, bodyOf('NewTransfer')),
    },
    '/articles': {
      get: operation('listArticles', { 200: replyOf(listOf('Article')) }),
      post: operation('addArticle', { 201: replyOf(ref('Article')) }, bodyOf('NewArticle')),
    },
    '/articles/{slug}': {
      parameters: [inPath('slug')],
      get: operation('getArticle', { 200: replyOf(ref('Article')) }),
    },
    '/articles/{slug}/readers': {
      parameters: [inPath('slug')],
      get: operation('listReaders', {
        200: replyOf({
          ...{ type: 'array', uniqueItems: true },
          items: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
        }),
      }),
    },
    '/articles/{slug}/readers/{accountId}': {
      parameters: [inPath('slug'), ACCOUNT_ID],
      put: operation('addReader', { 204: { description: 'Added.' } }),
      delete: operation('removeReader', { 204: { description: 'Removed.' } }),
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    responses: { Failure: failureOf('It failed.') },
    schemas: {
      Settings: { type: 'object', properties: SETTINGS },
      SettingsPatch: { type: 'object', minProperties: 1, properties: SETTINGS_PATCH },
      NewAccount: { type: 'object', required: ['owner'], properties: ACCOUNT },
      Account: shown(ACCOUNT),
      NewCard: { type: 'object', required: ['holder'], properties: CARD },
      CardPatch: { type: 'object', minProperties: 1, properties: CARD },
      Card: shown(CARD, {
        accountId: { type: 'string' },
        state: { type: 'string', enum: ['active', 'blocked'] },
      }),
      NewTransfer: { type: 'object', required: ['accountId', 'amount'], properties: TRANSFER },
      Transfer: shown(TRANSFER),
      NewArticle: { type: 'object', required: ['title'], properties: ARTICLE },
      Article: {
        type: 'object',
        required: ['slug', 'title'],
        properties: { slug: { type: 'string' }, ...ARTICLE },
      },
    },
  },
});

interface Account {
  readonly owner: string;
  value: Json;
  version: number;
  cards: Json[];
  terms?: string;
}

const NATURAL = new Intl.Collator(undefined, { numeric: true });

const cutAtBytes = (text: string, size: number): string =>
  Buffer.from(text)
    .subarray(0, size)
    .toString()
    .replace(/\ufffd$/, '');

/** Creates a service with one fault or one habit, or a plain one. */
export function createBank(fault = '') {
  const has = (name: string): boolean => fault === name;
  const does = has;
  const accounts = new Map<string, Account>();
  const settings = new Map<string, Json>();
  const articles = new Map<string, Json>();
  const readers = new Map<string, string[]>();
  const labels = new Map<string, Json>();
  const keys = new Map<string, Sent>();
  const transfers: Json[] = [];
  let count = 0;

  const callerOf = ({ authorization }: Received['headers']): string | undefined =>
    Object.entries(TOKENS).find(([, token]) => authorization === `Bearer ${token}`)?.[0];

  const secured =
    (route: (request: Received, caller: string) => Sent) =>
    (request: Received): Sent => {
      const caller = callerOf(request.headers);
      return caller === undefined ? failure(401) : route(request, caller);
    };

  const own = (route: (request: Received, account: Account, caller: string) => Sent) =>
    secured((request, caller) => {
      const account = accounts.get(request.ids[0] ?? '');
      if (account === undefined || account.owner !== caller) {
        if (has('a 404 deletes the last account'))
          accounts.delete([...accounts.keys()].at(-1) ?? '');
        return failure(404);
      }
      return route(request, account, caller);
    });

  const withCard = (route: (request: Received, card: Json, account: Account) => Sent) =>
    own((request, account) => {
      const card = account.cards.find(({ id }) => id === request.ids[1]);
      return card === undefined ? failure(404) : route(request, card, account);
    });

  /** Runs a POST once for each key of a caller. */
  const once =
    (route: (request: Received, caller: string) => Sent) =>
    (request: Received, caller: string): Sent => {
      const key = request.headers['idempotency-key'];
      if (key === undefined) return route(request, caller);
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(key))) return failure(400);
      const place = has('a key is shared by accounts') ? request.ids.length : request.path;
      const parts = [has('a key is shared by operations') ? '' : place, caller, key];
      const known = keys.get(parts.join());
      if (known !== undefined) return known;
      const sent = route(request, caller);
      if (sent.status < 300) keys.set(parts.join(), sent);
      return sent;
    };

  const etagOf = ({ value, version }: Account): string => {
    const { address: _address, tags: _tags, ...flat } = value;
    return has('an ETag ignores nested members')
      ? `"${Buffer.from(JSON.stringify(flat)).toString('base64url')}"`
      : `"v${version}"`;
  };
  const answer = (status: number, account: Account): Sent => ({
    ...{ status, headers: { ETag: etagOf(account) }, body: shownMembers(account.value) },
  });
  const shownMembers = (value: Json): Json =>
    does('null members are left out')
      ? JSON.parse(JSON.stringify(value), (_, member) => member ?? undefined)
      : value;

  function pageOf(values: readonly Json[], { query }: Received) {
    const limit = Number(query.get('limit') ?? 20);
    const cursor = query.get('cursor');
    const start = cursor === null ? 0 : values.findIndex(({ id }) => id === cursor) + 1;
    if (!Number.isInteger(limit) || limit < 1 || limit > 50) return undefined;
    if (limit === 1 && has('the smallest limit is refused')) return undefined;
    if (limit === 50 && has('the largest limit is refused')) return undefined;
    const items = values.slice(start, start + limit);
    const isLast = start + limit >= values.length;
    return { items, next: isLast ? undefined : String(items.at(-1)?.id), start, limit };
  }

  function stored(body: Json): Json {
    const value = { ...body };
    const { remark, hint, address } = value;
    if (typeof remark === 'string') {
      if (has('a remark is cut at 255 bytes')) value.remark = cutAtBytes(remark, 255);
      if (has('a remark is cut at 255 units')) value.remark = remark.slice(0, 255);
      if (has('CRLF becomes LF')) value.remark = remark.replaceAll('\r\n', '\n');
    }
    if (hint === null && has('null is stored as a missing member')) delete value.hint;
    if (hint === null && has('null is stored as an empty text')) value.hint = '';
    if (isObject(address) && has('an address loses its country'))
      value.address = { city: address.city };
    return value;
  }

  const routes: Routes = {
    'GET /settings': secured((_, caller) => ({
      status: 200,
      body: shownMembers(settings.get(caller) ?? {}),
    })),
    'PUT /settings': secured((request, caller) => {
      const body = readBody(request, SETTINGS);
      if (body === undefined) return failure(400);
      const { quiet } = body;
      body.theme ??= 'system';
      if (isObject(quiet) && !has('a nested default is not applied'))
        body.quiet = { ...quiet, from: quiet.from ?? 22 };
      if (isObject(quiet) && quiet.sound === null && has('a nested null is not stored'))
        body.quiet = { from: quiet.from ?? 22 };
      settings.set(caller, body);
      return { status: 200, body: shownMembers(body) };
    }),
    'PATCH /settings': secured((request, caller) => {
      const patch = readBody(request, SETTINGS_PATCH, [], 'application/merge-patch+json');
      if (patch === undefined) return failure(400);
      const former = settings.get(caller) ?? {};
      const { quiet, ...flat } = patch;
      const quietMembers = Object.entries({ ...Object(former.quiet), ...Object(quiet) });
      const isKept = has('a nested null of a patch is ignored');
      const inner = quietMembers
        .filter(([, value]) => value !== null)
        .concat(isKept ? Object.entries(Object(former.quiet)) : []);
      const changed: Json = { ...former, ...flat };
      if (quiet !== undefined) changed.quiet = Object.fromEntries(inner);
      for (const [name, value] of Object.entries(changed)) if (value === null) delete changed[name];
      settings.set(caller, { theme: 'system', ...changed });
      return { status: 200, body: shownMembers(settings.get(caller) ?? {}) };
    }),
    'GET /labels/{}': secured(({ ids: [key] }, caller) => {
      if (!/^[a-z]{1,8}$/.test(String(key))) return failure(400);
      const label = labels.get(`${caller} ${key}`);
      return label === undefined ? failure(404) : { status: 200, body: label };
    }),
    'PUT /labels/{}': secured((request, caller) => {
      const [key] = request.ids;
      const body = readBody(request, ARTICLE, ['title']);
      if (body === undefined || !/^[a-z]{1,8}$/.test(String(key))) return failure(400);
      const name = `${caller} ${key}`;
      const status = labels.has(name) ? 200 : 201;
      labels.set(name, body);
      return { status, body };
    }),
    'GET /articles/{}/readers': secured(({ ids: [slug = ''] }) =>
      articles.has(slug)
        ? { status: 200, body: [...(readers.get(slug) ?? [])].map((id) => ({ id })) }
        : failure(404),
    ),
    'PUT /articles/{}/readers/{}': secured(({ ids: [slug = '', id = ''] }, caller) => {
      if (!articles.has(slug) || accounts.get(id)?.owner !== caller) return failure(404);
      const list = readers.get(slug) ?? [];
      if (has('a reader is listed under all articles'))
        for (const each of articles.keys())
          if (each !== slug) readers.set(each, [...(readers.get(each) ?? []), id]);
      const isNew = !list.includes(id) || has('a reader is stored twice');
      readers.set(slug, isNew ? [...list, id] : list);
      return { status: 204 };
    }),
    'DELETE /articles/{}/readers/{}': secured(({ ids: [slug = '', id = ''] }) => {
      if (!readers.get(slug)?.includes(id)) return failure(404);
      for (const [each, list] of readers)
        if (each === slug || has('DELETE removes a reader of all articles'))
          readers.set(
            each,
            list.filter((other) => other !== id),
          );
      return { status: 204 };
    }),
    'GET /accounts': secured((request, caller) => {
      const { query } = request;
      const [owner, tag, sort] = ['owner', 'tag', 'sort'].map((name) => query.get(name));
      if (owner === '' || tag === '') return failure(400);
      if (sort != null && !/^(-?ceiling|owner)$/.test(sort)) return failure(400);
      let values = [...accounts.values()]
        .filter(
          (each) =>
            each.owner === caller ||
            (tag != null && has('a filter by tag shows accounts of others')) ||
            (sort != null && has('a sorted list shows accounts of others')),
        )
        .map((account) => answer(200, account).body as Json);
      if (owner != null)
        values = values.filter(({ id, owner: current }) => {
          if (does('a filter by owner matches parts')) return String(current).includes(owner);
          return (has('a filter ignores changes') ? owners.get(id) : current) === owner;
        });
      if (tag != null)
        values = values.filter(({ tags }) => {
          const list = tags as string[] | undefined;
          if (has('a filter by tag looks at the first tag')) return list?.[0] === tag;
          return list?.includes(tag);
        });
      if (sort != null) {
        const name = sort.replace('-', '');
        const rankOf = (each: Json) =>
          has('numbers are sorted as text') ? String(each[name] ?? '') : (each[name] ?? -1);
        const sign = sort.startsWith('-') ? -1 : 1;
        values = values.toSorted((one, other) => {
          const [first, second] = [rankOf(one), rankOf(other)] as [number, number];
          if (does('texts with numbers are sorted by the numbers') && name === 'owner')
            return NATURAL.compare(`${first}`, `${second}`);
          return sign * (Number(first > second) - Number(first < second));
        });
      }
      const page = pageOf(values, request);
      if (page === undefined) return failure(400);
      const next = new URLSearchParams(query);
      next.set('cursor', page.next ?? '');
      if (has('Link loses the filters')) for (const name of ['owner', 'tag']) next.delete(name);
      if (has('Link loses the limit')) next.delete('limit');
      const link = `</accounts?${next}>; rel="next"`;
      return {
        status: 200,
        ...(page.next !== undefined && { headers: { Link: link } }),
        body: page.items,
      };
    }),
    'POST /accounts': secured(
      once((request, caller) => {
        const body = readBody(request, ACCOUNT, ['owner']);
        if (body === undefined) return failure(400);
        count += 1;
        const id = `a${count}`;
        const account = { owner: caller, value: { id, ...stored(body) }, version: 1, cards: [] };
        accounts.set(id, account);
        owners.set(id, body.owner);
        return answer(201, account);
      }),
    ),
    'GET /accounts/{}': own((_, account) => answer(200, account)),
    'PUT /accounts/{}': own((request, account) => {
      const body = readBody(request, ACCOUNT, ['owner']);
      if (body === undefined) return failure(400);
      const match = request.headers['if-match'];
      if (match !== undefined && match !== '*' && match !== etagOf(account)) {
        if (has('a 412 changes another account'))
          for (const other of accounts.values())
            if (other !== account) other.value.remark = body.owner;
        return failure(412);
      }
      account.value = { id: account.value.id, ...stored(body) };
      account.version += 1;
      return answer(200, account);
    }),
    'DELETE /accounts/{}': own(({ ids: [id = ''] }, account) => {
      if (account.cards.length > 0) {
        if (has('a 409 deletes a card')) account.cards.pop();
        return failure(409);
      }
      const names = [...accounts.keys()];
      if (has('DELETE closes the next account'))
        accounts.delete(names[names.indexOf(id) + 1] ?? '');
      accounts.delete(id);
      return { status: 204 };
    }),
    'GET /accounts/{}/terms': own((_, { terms }) =>
      terms === undefined ? failure(404) : { status: 200, type: 'text/plain', body: terms },
    ),
    'PUT /accounts/{}/terms': own(({ headers, bytes }, account) => {
      if (headers['content-type']?.split(';')[0] !== 'text/plain') return failure(415);
      const text = String(bytes);
      if (text === '') return failure(400);
      account.terms = has('a text is trimmed') ? text.trim() || text : text;
      return { status: 204 };
    }),
    'GET /accounts/{}/cards': own((request, account) => {
      const brands = request.query.getAll('brand');
      const ends = request.query.get('endsAfter');
      if (!brands.every((brand) => CARD.brand.enum.includes(brand))) return failure(400);
      if (ends !== null && !isValid(CARD.endsAt, ends)) return failure(400);
      const used = has('only the first value of a filter counts') ? brands.slice(0, 1) : brands;
      let cards = account.cards;
      if (has('cards of all accounts are listed'))
        cards = [...accounts.values()].flatMap((each) => each.cards);
      if (brands.length > 0) cards = cards.filter((each) => used.includes(String(each.brand)));
      if (ends !== null)
        cards = cards.filter(({ endsAt }) =>
          has('dates are compared as text')
            ? String(endsAt ?? '') >= ends
            : Date.parse(String(endsAt)) >= Date.parse(ends),
        );
      const page = pageOf(cards, request);
      if (page === undefined) return failure(400);
      const { items, start, limit } = page;
      const next =
        has('a cursor ends after the second page') && start >= limit ? undefined : page.next;
      if (has('the second page lacks its last card') && start > 0 && items.length > 1) items.pop();
      let total = cards.length;
      if (has('a total is that of all accounts'))
        total = [...accounts.values()].flatMap((each) => each.cards).length;
      if (has('a total counts the rest')) total -= start;
      if (has('a total is that of the page')) total = items.length;
      if (has('a total ignores deletions')) total = Math.max(total, totals.get(account) ?? 0);
      totals.set(account, total);
      const pages = cards.length / limit;
      const totalPages = has('the number of pages is rounded down')
        ? Math.floor(pages)
        : Math.ceil(pages);
      return {
        status: 200,
        body: { cards: items, total, totalPages, ...(next !== undefined && { next }) },
      };
    }),
    'POST /accounts/{}/cards': own((request, account, caller) =>
      once((each) => {
        const body = readBody(each, CARD, ['holder']);
        if (body === undefined) return failure(400);
        addCard(account, each.ids[0] ?? '', body);
        return { status: 201, body: account.cards.at(-1) };
      })(request, caller),
    ),
    'POST /accounts/{}/cards/batch': own((request, account) => {
      const { headers, json: list } = request;
      if (headers['content-type'] !== 'application/json' || !Array.isArray(list))
        return failure(400);
      if (list.length === 0 || list.length > 5) return failure(400);
      const bodies = list.map((json) => readBody({ ...request, json }, CARD, ['holder']));
      const isWrong = bodies.includes(undefined);
      if (isWrong && !has('a refused batch adds its valid cards')) return failure(400);
      for (const body of bodies)
        if (body !== undefined) addCard(account, request.ids[0] ?? '', body);
      if (has('a batch loses its last card') && bodies.length > 1) account.cards.pop();
      return isWrong ? failure(400) : { status: 204 };
    }),
    'GET /accounts/{}/cards/{}': withCard((_, card) => ({ status: 200, body: card })),
    'PATCH /accounts/{}/cards/{}': withCard((request, card, account) => {
      const body = readBody(request, CARD, [], 'application/merge-patch+json');
      if (body === undefined) {
        const [other] = account.cards.filter((each) => each !== card);
        if (has('a refused patch changes another card') && other !== undefined)
          other.holder = 'nobody';
        return failure(400);
      }
      Object.assign(card, body);
      return { status: 200, body: card };
    }),
    'DELETE /accounts/{}/cards/{}': withCard((_, card, account) => {
      account.cards = account.cards.filter((each) => each !== card);
      return { status: 204 };
    }),
    'POST /accounts/{}/cards/{}/block': withCard((_, card, account) => {
      if (card.state === 'blocked') return failure(409);
      for (const each of has('an action blocks all cards') ? account.cards : [card])
        each.state = 'blocked';
      return { status: 200, body: card };
    }),
    'GET /accounts/{}/transfers': own(({ ids: [id] }) => ({
      status: 200,
      body: transfers.filter(
        ({ accountId }) => accountId === id || has('transfers of all accounts are listed'),
      ),
    })),
    'POST /transfers': secured((request, caller) => {
      const body = readBody(request, TRANSFER, ['accountId', 'amount']);
      if (body === undefined) return failure(400);
      if (body.amount === 0.01 && has('the smallest amount is refused')) return failure(400);
      if (accounts.get(String(body.accountId))?.owner !== caller) return failure(404);
      count += 1;
      const transfer = { id: `t${count}`, ...body };
      transfers.push(transfer);
      return { status: 201, body: transfer };
    }),
    'GET /articles': secured(() => ({ status: 200, body: [...articles.values()] })),
    'POST /articles': secured((request) => {
      const body = readBody(request, ARTICLE, ['title']);
      if (body === undefined) return failure(400);
      const words = String(body.title)
        .toLowerCase()
        .match(/[a-z0-9]+/g) ?? ['article'];
      let slug = words.join('-');
      if (!has('equal slugs replace an article'))
        for (let number = 2; articles.has(slug); number += 1) slug = `${words.join('-')}-${number}`;
      const article = { slug, ...body };
      articles.set(slug, article);
      return { status: 201, body: article };
    }),
    'GET /articles/{}': secured(({ ids: [slug = ''] }) => {
      const article = articles.get(slug);
      return article === undefined ? failure(404) : { status: 200, body: article };
    }),
  };
  const totals = new Map<Account, number>();
  const owners = new Map<unknown, unknown>();

  function addCard(account: Account, accountId: string, body: Json): void {
    count += 1;
    const { endsAt } = body;
    const isShort = has('fractions of seconds are dropped') && typeof endsAt === 'string';
    const card = { id: `c${count}`, accountId, state: 'active', ...body };
    account.cards.push(isShort ? { ...card, endsAt: endsAt.replace(/\.\d+/, '') } : card);
  }

  return listenerOf(routes);
}
