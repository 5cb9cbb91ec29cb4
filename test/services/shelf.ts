import { isObject, isValid, type Json } from './document.ts';
import { failure, listenerOf, type Received, type Routes, type Sent } from './http.ts';

/**
 * Books with client-chosen ids, offset pages, a total and two filters; a profile without an id;
 * sensors and their readings; covers in bytes; two kinds of credentials.
 */
export const document = `openapi: 3.2.0
info: { title: Shelf, version: 1.0.0 }
security: [{ login: [] }, { key: [] }]
paths:
  /books:
    get:
      operationId: listBooks
      parameters:
        - { name: offset, in: query, schema: { type: integer, minimum: 0, default: 0 } }
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 30, default: 10 } }
        - { name: author, in: query, schema: { type: string, minLength: 1 } }
        - { name: isRead, in: query, schema: { type: boolean } }
      responses:
        '200':
          description: A page.
          content:
            application/json:
              schema:
                type: object
                required: [items, total]
                properties:
                  items: { type: array, items: { $ref: '#/components/schemas/Book' } }
                  total: { type: integer, minimum: 0 }
        4XX: { $ref: '#/components/responses/Failure' }
    post:
      operationId: addBook
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } }
      responses:
        '201': { description: Added., content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } }
        '409': { $ref: '#/components/responses/Failure' }
        4XX: { $ref: '#/components/responses/Failure' }
  /books/{isbn}:
    parameters: [{ name: isbn, in: path, required: true, schema: { $ref: '#/components/schemas/Isbn' } }]
    get:
      operationId: getBook
      responses:
        '200': { description: The book., content: { application/json: { schema: { $ref: '#/components/schemas/Book' } } } }
        4XX: { $ref: '#/components/responses/Failure' }
    delete:
      operationId: removeBook
      responses:
        '204': { description: Removed. }
        4XX: { $ref: '#/components/responses/Failure' }
  /books/{isbn}/cover:
    parameters: [{ name: isbn, in: path, required: true, schema: { $ref: '#/components/schemas/Isbn' } }]
    put:
      operationId: putCover
      requestBody: { required: true, content: { image/png: {} } }
      responses:
        '204': { description: Stored. }
        4XX: { $ref: '#/components/responses/Failure' }
    get:
      operationId: getCover
      responses:
        '200': { description: The cover., content: { image/png: {} } }
        4XX: { $ref: '#/components/responses/Failure' }
  /profile:
    get:
      operationId: getProfile
      responses:
        '200': { description: The profile., content: { application/json: { schema: { $ref: '#/components/schemas/Profile' } } } }
        4XX: { $ref: '#/components/responses/Failure' }
    put:
      operationId: putProfile
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Profile' } } } }
      responses:
        '200': { description: Stored., content: { application/json: { schema: { $ref: '#/components/schemas/Profile' } } } }
        4XX: { $ref: '#/components/responses/Failure' }
  /sensors/{serial}:
    parameters: [{ name: serial, in: path, required: true, schema: { type: string, pattern: '^[A-Z]{2}[0-9]{6}$' } }]
    put:
      operationId: putSensor
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Sensor' } } } }
      responses:
        '200': { description: Stored., content: { application/json: { schema: { $ref: '#/components/schemas/Sensor' } } } }
        4XX: { $ref: '#/components/responses/Failure' }
    get:
      operationId: getSensor
      responses:
        '200': { description: The sensor., content: { application/json: { schema: { $ref: '#/components/schemas/Sensor' } } } }
        4XX: { $ref: '#/components/responses/Failure' }
  /sensors/{serial}/readings:
    parameters: [{ name: serial, in: path, required: true, schema: { type: string, pattern: '^[A-Z]{2}[0-9]{6}$' } }]
    post:
      operationId: addReading
      requestBody:
        required: true
        content:
          application/json:
            schema: { type: object, required: [celsius], properties: { celsius: { type: number, minimum: -90, maximum: 60, multipleOf: 0.1 } } }
      responses:
        '201': { description: Stored., content: { application/json: { schema: { $ref: '#/components/schemas/Reading' } } } }
        4XX: { $ref: '#/components/responses/Failure' }
    get:
      operationId: streamReadings
      responses:
        '200': { description: The readings., content: { application/jsonl: { itemSchema: { $ref: '#/components/schemas/Reading' } } } }
        4XX: { $ref: '#/components/responses/Failure' }
components:
  securitySchemes:
    login: { type: http, scheme: basic }
    key: { type: apiKey, in: header, name: X-Key }
  responses:
    Failure:
      description: An error.
      content: { application/json: { schema: { type: object, required: [message], properties: { message: { type: string } } } } }
  schemas:
    Isbn: { type: string, pattern: '^[0-9]{13}$' }
    Book:
      type: object
      required: [isbn, title, author]
      properties:
        isbn: { $ref: '#/components/schemas/Isbn' }
        title: { type: string, minLength: 1, maxLength: 100 }
        author: { type: string, minLength: 1, maxLength: 60 }
        isRead: { type: boolean, default: false }
        copies: { type: integer, format: int32, minimum: 0 }
    Profile: { type: object, required: [name], properties: { name: { type: string, minLength: 1, maxLength: 50 }, language: { type: string, enum: [de, en, fr] } } }
    Sensor: { type: object, required: [place], properties: { place: { type: string, minLength: 1, maxLength: 50 }, isOn: { type: boolean } } }
    Reading: { type: object, required: [id, celsius], properties: { id: { type: integer, minimum: 1 }, celsius: { type: number } } }
`;

export const CREDENTIALS = { login: 'ann:password', key: 'key-of-ann' };

const isText = (value: unknown, maxLength: number): value is string =>
  isValid({ type: 'string', minLength: 1, maxLength }, value);

/** Creates a service with one fault, or a correct one. */
export function createShelf(fault = '') {
  const has = (name: string): boolean => fault === name;
  const books = new Map<string, Json>();
  const covers = new Map<string, Buffer>();
  const sensors = new Map<string, { value: Json; readings: Json[] }>();
  let profile: Json = { name: 'nobody' };

  function isCaller({ authorization, 'x-key': key }: Received['headers']): boolean {
    if (key !== undefined) return key === CREDENTIALS.key || has('any key is accepted');
    const [scheme, text = ''] = (authorization ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'basic') return false;
    const [user, password] = String(Buffer.from(text, 'base64')).split(':');
    return user === 'ann' && (password === 'password' || has('password is ignored'));
  }

  const secured =
    (route: (request: Received) => Sent) =>
    (request: Received): Sent => {
      if (!isCaller(request.headers)) return failure(has('401 is 403 without a body') ? 500 : 401);
      return route(request);
    };

  const jsonBody = ({ headers, json }: Received): Json | undefined =>
    /^application\/json\b/.test(headers['content-type'] ?? '') && isObject(json) ? json : undefined;

  function isBook({ isbn, title, author, isRead, copies }: Json): boolean {
    return (
      (/^\d{13}$/.test(String(isbn)) || has('pattern is not checked')) &&
      isText(isbn, 100) &&
      isText(title, 100) &&
      isText(author, 60) &&
      (isRead === undefined || typeof isRead === 'boolean') &&
      (copies === undefined ||
        (Number.isInteger(copies) &&
          Math.abs(Number(copies)) < 2 ** 31 &&
          (Number(copies) >= 0 || has('minimum is not checked'))))
    );
  }

  const withIsbn = (route: (request: Received, isbn: string) => Sent) =>
    secured((request) => {
      const [isbn = ''] = request.ids;
      return /^\d{13}$/.test(isbn) ? route(request, isbn) : failure(400);
    });

  const withSerial = (route: (request: Received, serial: string) => Sent) =>
    secured((request) => {
      const [serial = ''] = request.ids;
      return /^[A-Z]{2}\d{6}$/.test(serial) ? route(request, serial) : failure(400);
    });

  /** Returns a declared query parameter as an integer; `undefined` if it is wrong. */
  function integer(
    query: URLSearchParams,
    name: string,
    byDefault: number,
    min: number,
    max: number,
  ) {
    const text = query.get(name) ?? String(byDefault);
    const value = Number(text);
    return /^\d+$/.test(text) && value >= min && value <= max ? value : undefined;
  }

  const routes: Routes = {
    'GET /books': secured(({ query }) => {
      const offset = integer(query, 'offset', 0, 0, 1e15);
      const limit = integer(query, 'limit', 10, 1, 30);
      if (offset === undefined || limit === undefined) return failure(400);
      const author = query.get('author');
      const isRead = query.get('isRead');
      if (author === '' || (isRead !== null && isRead !== 'true' && isRead !== 'false'))
        return failure(400);
      const matches = [...books.values()].filter(
        (book) =>
          (author === null ||
            book.author === author ||
            has('author filter is ignored') ||
            (has('author filter matches a prefix') && String(book.author)[0] === author[0])) &&
          (isRead === null || String(book.isRead) === isRead || has('boolean filter is ignored')),
      );
      const total = has('total counts the page') ? Math.min(limit, matches.length) : matches.length;
      const start = has('offset is ignored')
        ? 0
        : has('offset counts pages')
          ? offset * limit
          : offset;
      const items = matches.slice(start, start + limit);
      return {
        status: 200,
        body: { items, total: has('total is a string') ? String(total) : total },
      };
    }),
    'POST /books': secured((request) => {
      const body = jsonBody(request);
      if (body === undefined || !isBook(body)) return failure(400);
      const { isbn, title, author, isRead = has('default is true') } = body;
      const id = String(isbn);
      if (books.has(id)) {
        if (has('duplicate is 500')) return failure(500);
        if (has('rejected duplicate replaces')) books.set(id, { isbn, title, author, isRead });
        if (!has('duplicate replaces')) return failure(409);
      }
      const { copies } = body;
      const counted = has('large integers are rounded') ? Math.fround(Number(copies)) : copies;
      const book = {
        isbn,
        title,
        author,
        isRead,
        ...(copies !== undefined && { copies: counted }),
      };
      books.set(id, book);
      return {
        status: 201,
        body: has('POST answers with another title') ? { ...book, title: 'x' } : book,
      };
    }),
    'GET /books/{}': withIsbn((_, isbn) => {
      const book = books.get(isbn);
      return book === undefined ? failure(404) : { status: 200, body: book };
    }),
    'DELETE /books/{}': withIsbn((_, isbn) => {
      if (!books.has(isbn)) return failure(has('second DELETE is 503') ? 503 : 404);
      books.delete(isbn);
      if (has('DELETE removes a neighbour')) books.delete([...books.keys()][0] ?? '');
      return { status: 204 };
    }),
    'PUT /books/{}/cover': withIsbn(({ headers, bytes }, isbn) => {
      if (!books.has(isbn)) return failure(404);
      if (headers['content-type'] !== 'image/png')
        return failure(has('any media type is stored') ? 204 : 415);
      covers.set(isbn, has('bytes are stored as text') ? Buffer.from(String(bytes)) : bytes);
      return { status: 204 };
    }),
    'GET /books/{}/cover': withIsbn((_, isbn) => {
      const body = covers.get(isbn);
      if (body === undefined) return failure(404);
      return {
        status: 200,
        type: has('cover has a wrong type') ? 'image/jpeg' : 'image/png',
        body,
      };
    }),
    'GET /profile': secured(() => ({ status: 200, body: profile })),
    'PUT /profile': secured((request) => {
      const body = jsonBody(request);
      if (body === undefined || !isText(body.name, 50)) return failure(400);
      if (body.language !== undefined && !['de', 'en', 'fr'].includes(String(body.language)))
        return failure(400);
      const { name, language } = body;
      const next = { name, ...(language !== undefined && { language }) };
      if (has('profile loses its language')) profile = { name };
      else if (!has('profile is not stored')) profile = next;
      return { status: 200, body: next };
    }),
    'PUT /sensors/{}': withSerial((request, serial) => {
      const body = jsonBody(request);
      if (body === undefined || !isText(body.place, 50)) return failure(400);
      if (body.isOn !== undefined && typeof body.isOn !== 'boolean') return failure(400);
      const { place, isOn } = body;
      const value = { place, ...(isOn !== undefined && { isOn }) };
      const known = sensors.get(serial);
      const count = has('repeated PUT is 409') && known !== undefined;
      if (count) return failure(409);
      sensors.set(serial, { value, readings: known?.readings ?? [] });
      return { status: 200, body: value };
    }),
    'GET /sensors/{}': withSerial((_, serial) => {
      const sensor = sensors.get(serial);
      return sensor === undefined ? failure(404) : { status: 200, body: sensor.value };
    }),
    'POST /sensors/{}/readings': withSerial((request, serial) => {
      const sensor = sensors.get(serial);
      const body = jsonBody(request);
      const celsius = body?.celsius;
      if (
        typeof celsius !== 'number' ||
        celsius < -90 ||
        (celsius > 60 && !has('maximum is not checked'))
      )
        return failure(400);
      const tenths = celsius * 10;
      if (Math.abs(tenths - Math.round(tenths)) > 1e-9 && !has('multipleOf is not checked'))
        return failure(400);
      if (has('decimals are rejected') && !Number.isInteger(celsius)) return failure(400);
      if (sensor === undefined) return failure(404);
      const reading = { id: sensor.readings.length + 1, celsius };
      sensor.readings.push(reading);
      return { status: 201, body: reading };
    }),
    'GET /sensors/{}/readings': withSerial((_, serial) => {
      const sensor = sensors.get(serial);
      if (sensor === undefined) return failure(404);
      const items = sensor.readings.map((reading) =>
        has('items of a stream are wrong') ? { ...reading, id: String(reading.id) } : reading,
      );
      const body = items.map((item) => `${JSON.stringify(item)}\n`).join('');
      const broken = has('a stream ends within an item') && body !== '' ? body.slice(0, -5) : body;
      return { status: 200, type: 'application/jsonl', body: broken };
    }),
  };
  return listenerOf(routes);
}
