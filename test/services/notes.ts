import { randomUUID } from 'node:crypto';
import { isObject } from './document.ts';
import { failure, listenerOf, type Received, type Routes, type Sent } from './http.ts';

/** Notes of several owners, with bearer tokens, entity tags, merge patches and a cursor. */
export const document = `openapi: 3.1.0
info: { title: Notes, version: 1.0.0 }
security: [{ token: [] }]
paths:
  /notes:
    get:
      operationId: listNotes
      parameters:
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 50, default: 20 } }
        - { name: after, in: query, schema: { type: string } }
        - { name: kind, in: query, schema: { $ref: '#/components/schemas/Kind' } }
      responses:
        '200':
          description: A page.
          content:
            application/json:
              schema:
                type: object
                required: [notes]
                properties:
                  notes: { type: array, items: { $ref: '#/components/schemas/Note' } }
                  next: { type: string }
        '400': { $ref: '#/components/responses/Failure' }
        '401': { $ref: '#/components/responses/Failure' }
    post:
      operationId: addNote
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/NewNote' } } } }
      responses:
        '201':
          description: Added.
          headers: { Location: { required: true, schema: { type: string } }, ETag: { required: true, schema: { type: string } } }
          content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } }
        '400': { $ref: '#/components/responses/Failure' }
        '401': { $ref: '#/components/responses/Failure' }
        '415': { $ref: '#/components/responses/Failure' }
  /notes/{noteId}:
    parameters: [{ name: noteId, in: path, required: true, schema: { type: string, format: uuid } }]
    get:
      operationId: getNote
      responses:
        '200':
          description: The note.
          headers: { ETag: { required: true, schema: { type: string } } }
          content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } }
        '400': { $ref: '#/components/responses/Failure' }
        '401': { $ref: '#/components/responses/Failure' }
        '403': { $ref: '#/components/responses/Failure' }
        '404': { $ref: '#/components/responses/Failure' }
    put:
      operationId: replaceNote
      parameters: [{ name: If-Match, in: header, schema: { type: string } }]
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/NewNote' } } } }
      responses:
        '200':
          description: Replaced.
          headers: { ETag: { required: true, schema: { type: string } } }
          content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } }
        '400': { $ref: '#/components/responses/Failure' }
        '401': { $ref: '#/components/responses/Failure' }
        '403': { $ref: '#/components/responses/Failure' }
        '404': { $ref: '#/components/responses/Failure' }
        '412': { $ref: '#/components/responses/Failure' }
        '415': { $ref: '#/components/responses/Failure' }
    patch:
      operationId: changeNote
      requestBody:
        required: true
        content:
          application/merge-patch+json:
            schema:
              type: object
              minProperties: 1
              properties:
                text: { type: string, minLength: 1, maxLength: 200 }
                kind: { $ref: '#/components/schemas/Kind' }
                tags: { $ref: '#/components/schemas/Tags' }
      responses:
        '200':
          description: Changed.
          headers: { ETag: { required: true, schema: { type: string } } }
          content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } }
        '400': { $ref: '#/components/responses/Failure' }
        '401': { $ref: '#/components/responses/Failure' }
        '403': { $ref: '#/components/responses/Failure' }
        '404': { $ref: '#/components/responses/Failure' }
        '415': { $ref: '#/components/responses/Failure' }
    delete:
      operationId: deleteNote
      responses:
        '204': { description: Deleted. }
        '400': { $ref: '#/components/responses/Failure' }
        '401': { $ref: '#/components/responses/Failure' }
        '403': { $ref: '#/components/responses/Failure' }
        '404': { $ref: '#/components/responses/Failure' }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  responses:
    Failure:
      description: An error.
      content: { application/json: { schema: { type: object, required: [message], properties: { message: { type: string } } } } }
  schemas:
    Kind: { type: string, enum: [idea, task, quote] }
    Tags: { type: array, maxItems: 5, uniqueItems: true, items: { type: string, minLength: 1, maxLength: 20 } }
    NewNote:
      type: object
      required: [text]
      properties:
        text: { type: string, minLength: 1, maxLength: 200 }
        kind: { $ref: '#/components/schemas/Kind', default: idea }
        tags: { $ref: '#/components/schemas/Tags', default: [] }
    Note:
      type: object
      required: [id, text, kind, tags, createdAt]
      properties:
        id: { type: string, format: uuid }
        text: { type: string, minLength: 1, maxLength: 200 }
        kind: { $ref: '#/components/schemas/Kind' }
        tags: { $ref: '#/components/schemas/Tags' }
        createdAt: { type: string, format: date-time }
`;

export const TOKENS = { ann: 'token-of-ann', bob: 'token-of-bob' };

interface Note {
  readonly id: string;
  text: string;
  kind: string;
  tags: unknown;
  readonly createdAt: string;
}

interface Stored {
  note: Note;
  version: number;
  readonly owner: string;
}

const KINDS = ['idea', 'task', 'quote'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const lengthOf = (text: string): number => [...text].length;

/** Creates a service with one fault, or a correct one. */
export function createNotes(fault = '') {
  const has = (name: string): boolean => fault === name;
  const stored = new Map<string, Stored>();

  function isValid(value: unknown, isPatch: boolean): value is Partial<Note> {
    if (!isObject(value)) return false;
    const { text, kind, tags } = value;
    if (isPatch && Object.keys(value).length === 0) return has('empty patch is accepted');
    if (text === undefined) {
      if (!isPatch && !has('missing required member is accepted')) return false;
    } else if (typeof text !== 'string') {
      if (!has('wrong type is accepted')) return false;
    } else {
      const limit = has('valid text at the limit is rejected') ? 199 : 200;
      if (lengthOf(text) > limit && !has('too long text is accepted')) return false;
      if (text === '' && !has('too short text is accepted')) return false;
      if (has('non-ASCII text is rejected') && /[^\0-\x7f]/.test(text)) return false;
    }
    if (kind !== undefined && !KINDS.includes(String(kind)))
      if (!has('unknown enum value is accepted')) return false;
    if (has('an enum value is rejected') && kind === 'quote') return false;
    if (tags === undefined) return true;
    if (!Array.isArray(tags)) return false;
    if (tags.length > 5 && !has('too many items are accepted')) return false;
    if (new Set(tags).size < tags.length && !has('duplicate items are accepted')) return false;
    if (has('an empty list is rejected') && tags.length === 0) return false;
    return tags.every((tag) => typeof tag === 'string' && tag !== '' && lengthOf(tag) <= 20);
  }

  const etag = ({ version }: Stored): string =>
    has('ETag does not change') ? '"1"' : `"${version}"`;

  function ownerOf({ authorization }: Received['headers']): string | undefined {
    const owner = Object.entries(TOKENS).find(([, token]) => authorization === `Bearer ${token}`);
    if (owner !== undefined) return owner[0];
    if (has('no token is accepted') && authorization === undefined) return 'ann';
    return has('wrong token is accepted') && authorization !== undefined ? 'ann' : undefined;
  }

  function answer(status: number, entry: Stored, headers: Record<string, string> = {}): Sent {
    const { createdAt, ...note } = entry.note;
    const body: Record<string, unknown> = { ...note, createdAt };
    if (has('required member is missing in replies')) delete body.kind;
    if (has('wrong type in replies')) body.tags = String(body.tags);
    if (has('wrong date in replies')) body.createdAt = new Date(createdAt).toUTCString();
    if (has('null in replies')) body.text = null;
    const sent = { ...headers, ...(!has('declared ETag is missing') && { ETag: etag(entry) }) };
    const type = has('wrong media type in replies') ? 'text/html' : 'application/json';
    return { status, headers: sent, type, body };
  }

  /** Runs a route for an authenticated caller. */
  const secured =
    (route: (request: Received, owner: string) => Sent) =>
    (request: Received): Sent => {
      const owner = ownerOf(request.headers);
      return owner === undefined ? failure(401) : route(request, owner);
    };

  /** Runs a route for a note that the caller owns. */
  const own = (route: (request: Received, entry: Stored) => Sent, exception = '') =>
    secured((request, owner) => {
      const [id = ''] = request.ids;
      if (!UUID.test(id)) return failure(400);
      const entry = stored.get(id);
      if (entry === undefined) {
        if (has('unknown id is 500')) return failure(500);
        if (has('second DELETE is 500') && exception === 'DELETE') return failure(500);
        if (has('undeclared status')) return failure(418);
        return has('error body is wrong') ? { status: 404, body: { error: 'none' } } : failure(404);
      }
      if (entry.owner !== owner && !has(`${exception} of another caller succeeds`))
        return failure(403);
      return route(request, entry);
    });

  function readBody({ headers, json }: Received, isPatch = false): Partial<Note> | Sent {
    const type = isPatch ? 'application/merge-patch+json' : 'application/json';
    const isDeclared = headers['content-type']?.split(';')[0]?.trim() === type;
    if (!isDeclared && !has('wrong media type is accepted')) return failure(415);
    const value = json === undefined && has('malformed JSON is accepted') ? { text: 'x' } : json;
    if (isValid(value, isPatch)) return value;
    return failure(has('invalid body is 500') ? 500 : 400);
  }

  const isAnswer = (value: Partial<Note> | Sent): value is Sent =>
    'status' in value && !('text' in value);

  function create(body: Partial<Note>, owner: string): Stored {
    const id = randomUUID();
    const kind = body.kind ?? (has('default is not applied') ? 'task' : 'idea');
    const text = has('stored text is truncated')
      ? String(body.text).slice(0, 20)
      : String(body.text);
    const tags = has('tags are not stored') ? [] : (body.tags ?? []);
    const note = {
      id,
      text: has('stored text is trimmed') ? text.trim() || text : text,
      kind,
      tags,
    };
    const entry = { note: { ...note, createdAt: new Date().toISOString() }, version: 1, owner };
    if (!has('created note is not stored')) stored.set(id, entry);
    return entry;
  }

  const routes: Routes = {
    'GET /notes': secured(({ query }, owner) => {
      const limit = Number(query.get('limit') ?? (has('default limit is 5') ? 5 : 20));
      const isWrong = !Number.isInteger(limit) || limit < 1 || limit > 50;
      if (isWrong && !has('limit beyond its bound is accepted')) return failure(400);
      const kind = query.get('kind');
      if (kind !== null && !KINDS.includes(kind)) return failure(400);
      let notes = [...stored.values()].filter(
        (entry) => entry.owner === owner || has('list has notes of other callers'),
      );
      if (kind !== null && !has('filter is ignored'))
        notes = notes.filter(({ note }) =>
          has('filter is inverted') ? note.kind !== kind : note.kind === kind,
        );
      if (kind !== null && has('filter loses an item')) notes = notes.slice(1);
      const after = query.get('after');
      const index = after === null ? 0 : notes.findIndex(({ note }) => note.id === after) + 1;
      const start = has('pages repeat an item') ? Math.max(0, index - 1) : index;
      const skipped = has('pages skip an item') && after !== null ? 1 : 0;
      const size = has('limit is ignored') ? 50 : limit;
      const page = notes.slice(start + skipped, start + skipped + size);
      const last = page.at(-1);
      const isMore = start + skipped + size < notes.length && !has('next is missing');
      if (has('deleted notes are listed')) page.push(...[...graves].slice(0, 1));
      return {
        status: 200,
        body: { notes: page.map(({ note }) => note), ...(isMore && { next: last?.note.id }) },
      };
    }),
    'POST /notes': secured((request, owner) => {
      const body = readBody(request);
      if (isAnswer(body)) {
        if (has('rejected POST creates')) create({ text: 'rejected' }, owner);
        return body;
      }
      const entry = create(body, owner);
      const target = has('Location is of another resource') ? randomUUID() : entry.note.id;
      const headers: Record<string, string> = { Location: `/notes/${target}` };
      if (has('Location is missing')) delete headers.Location;
      return answer(has('undeclared success status') ? 200 : 201, entry, headers);
    }),
    'GET /notes/{}': own((_, entry) => {
      const [first = entry] = stored.values();
      return answer(200, has('GET returns another note') ? first : entry);
    }, 'GET'),
    'PUT /notes/{}': own((request, entry) => {
      const body = readBody(request);
      if (isAnswer(body)) return body;
      const match = request.headers['if-match'];
      const isStale = match !== undefined && match !== '*' && match !== etag(entry);
      if (isStale && !has('stale If-Match is accepted')) return failure(412);
      if (match === etag(entry) && has('right If-Match is refused')) return failure(412);
      const { text = '', kind = 'idea', tags = [] } = body;
      const changed = has('PUT changes all notes') ? [...stored.values()] : [entry];
      for (const each of has('PUT is not stored') ? [] : changed) {
        each.note = { ...each.note, text, kind, tags };
        each.version += 1;
      }
      if (has('PUT keeps old tags') && body.tags === undefined) entry.note.tags = ['old'];
      return answer(200, entry);
    }, 'PUT'),
    'PATCH /notes/{}': own((request, entry) => {
      const body = readBody(request, true);
      if (isAnswer(body)) return body;
      const base = has('PATCH resets what it does not name')
        ? { text: 'x', kind: 'idea', tags: [] }
        : {};
      const before = entry.note;
      entry.note = { ...before, ...base, ...(has('PATCH is not stored') ? {} : body) };
      entry.version += 1;
      return answer(
        200,
        has('PATCH is not stored') ? { ...entry, note: { ...before, ...body } } : entry,
      );
    }, 'PATCH'),
    'DELETE /notes/{}': own(({ ids: [id = ''] }, entry) => {
      if (has('DELETE deletes all notes')) stored.clear();
      if (!has('DELETE does nothing')) stored.delete(id);
      graves.add(entry);
      return { status: has('DELETE has a wrong status') ? 200 : 204 };
    }, 'DELETE'),
  };
  const graves = new Set<Stored>();
  return listenerOf(routes);
}
