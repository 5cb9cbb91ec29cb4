import {
  failureOf,
  inPath,
  isObject,
  type Json,
  json,
  operation,
  parameter,
  readBody,
  ref,
  replyOf,
} from './document.ts';
import { failure, listenerOf, type Received, type Routes, type Sent } from './http.ts';

export const TOKENS = { ann: 'token-of-ann', bob: 'token-of-bob' };

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const ROOM = { code: { type: 'string', pattern: '^[a-z]{3,8}$' }, title: text(40) };
const TRACK = {
  title: text(40),
  seconds: { type: 'number', minimum: 0, maximum: 9999, multipleOf: 0.5 },
  archived: { type: 'boolean', default: false },
  recordedAt: { type: 'string', format: 'date-time' },
  labels: { type: 'array', maxItems: 4, items: text(20) },
};
const HOLDER = { holder: text(30) };
const PIN = { pin: { type: 'string', pattern: '^[0-9]{4}$', writeOnly: true } };
const SEAT = { ...HOLDER, ...PIN };
const SETTINGS = { theme: text(20) };
const wrapped = (name: string, schema: object) => ({
  ...{ type: 'object', required: [name], properties: { [name]: schema } },
});
const bodyOf = (name: string, schema: object) => ({
  requestBody: { required: true, ...json(wrapped(name, schema)) },
});
const reply = (name: string, schema: object) => replyOf(wrapped(name, schema));
const listOf = (name: string, schema: object) => reply(name, { type: 'array', items: schema });
const shown = (required: readonly string[], properties: Json) => ({
  ...{ type: 'object', required, properties },
});
const input = (members: Json, ...required: string[]) => shown(required, members);
const REMOVED = { 204: { description: 'Removed.' } };
const NOT_FOUND = { 404: failureOf('There is no such resource.') };
const ROOM_PATH = inPath('room', ROOM.code);
const TRACK_PATH = inPath('trackId');
const SEAT_PATHS = [
  inPath('row', { enum: ['A', 'B'], type: 'string' }),
  inPath('number', { type: 'integer', minimum: 1, maximum: 99 }),
];
const selecting = (name: string, schema: object) => parameter('query', name, schema);

/**
 * Wrapped bodies and replies. Rooms whose key is their `code`, tracks that are created below a room
 * and live beside it, seats with two ids, a star without a GET operation, settings that a DELETE
 * resets, and loans that refer to a track.
 */
export const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Studio', version: '1.0.0' },
  security: [{ token: [] }],
  paths: {
    '/rooms': {
      get: operation('listRooms', { 200: listOf('rooms', ref('Room')) }),
      post: operation(
        'addRoom',
        { 201: reply('room', ref('Room')), 409: failureOf('There is such a room.') },
        bodyOf('room', input(ROOM, 'code', 'title')),
      ),
    },
    '/rooms/{room}': {
      parameters: [ROOM_PATH],
      get: operation('getRoom', { 200: reply('room', ref('Room')), ...NOT_FOUND }),
      patch: operation(
        'changeRoom',
        { 200: reply('room', ref('Room')), ...NOT_FOUND },
        bodyOf('room', shown([], { title: ROOM.title })),
      ),
      delete: operation('removeRoom', { ...REMOVED, ...NOT_FOUND }),
    },
    '/rooms/{room}/star': {
      parameters: [ROOM_PATH],
      put: operation('addStar', { 204: { description: 'Starred.' }, ...NOT_FOUND }),
      delete: operation('removeStar', { ...REMOVED, ...NOT_FOUND }),
    },
    '/rooms/{room}/tracks': {
      parameters: [ROOM_PATH],
      post: operation(
        'addTrack',
        { 201: reply('track', ref('Track')), ...NOT_FOUND },
        bodyOf('track', input(TRACK, 'title', 'recordedAt')),
      ),
    },
    '/rooms/{room}/seats': {
      parameters: [ROOM_PATH],
      get: operation('listSeats', { 200: listOf('seats', ref('Seat')), ...NOT_FOUND }),
    },
    '/rooms/{room}/seats/{row}/{number}': {
      parameters: [ROOM_PATH, ...SEAT_PATHS],
      get: operation('getSeat', { 200: reply('seat', ref('Seat')), ...NOT_FOUND }),
      put: operation(
        'putSeat',
        { 200: reply('seat', ref('Seat')), 201: reply('seat', ref('Seat')), ...NOT_FOUND },
        bodyOf('seat', input(SEAT, 'holder')),
      ),
      delete: operation('removeSeat', { ...REMOVED, ...NOT_FOUND }),
    },
    '/tracks': {
      get: operation(
        'listTracks',
        { 200: listOf('tracks', ref('Track')) },
        {
          parameters: [
            selecting('archived', { type: 'boolean' }),
            selecting('label', text(20)),
            selecting('recordedBefore', { type: 'string', format: 'date-time' }),
          ],
        },
      ),
    },
    '/tracks/{trackId}': {
      parameters: [TRACK_PATH],
      get: operation('getTrack', { 200: reply('track', ref('Track')), ...NOT_FOUND }),
      patch: operation(
        'changeTrack',
        { 200: reply('track', ref('Track')), ...NOT_FOUND },
        bodyOf('track', shown([], TRACK)),
      ),
      delete: operation('removeTrack', { ...REMOVED, ...NOT_FOUND }),
    },
    '/tracks/{trackId}/publish': {
      parameters: [TRACK_PATH],
      post: operation('publishTrack', { 200: reply('track', ref('Track')), ...NOT_FOUND }),
    },
    '/tracks/{trackId}/release': {
      parameters: [TRACK_PATH],
      post: operation('releaseTrack', {
        200: reply('track', ref('Track')),
        409: failureOf('It is not published.'),
        ...NOT_FOUND,
      }),
    },
    '/loans': {
      post: operation(
        'addLoan',
        { 201: reply('loan', ref('Loan')), ...NOT_FOUND },
        bodyOf('loan', input({ trackId: { type: 'string', format: 'uuid' } }, 'trackId')),
      ),
    },
    '/settings': {
      get: operation('getSettings', { 200: reply('settings', shown(['theme'], SETTINGS)) }),
      delete: operation('resetSettings', { 204: { description: 'Reset.' } }),
      put: operation(
        'putSettings',
        { 200: reply('settings', shown(['theme'], SETTINGS)) },
        bodyOf('settings', input(SETTINGS, 'theme')),
      ),
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    responses: { Failure: failureOf('It failed.') },
    schemas: {
      Room: shown(['code', 'title', 'isStarred', 'trackCount'], {
        ...ROOM,
        isStarred: { type: 'boolean' },
        trackCount: { type: 'integer' },
      }),
      Track: shown(['id', 'title', 'status', 'owner'], {
        ...{ id: { type: 'string' }, owner: { type: 'string', readOnly: true } },
        ...TRACK,
        status: { type: 'string', enum: ['draft', 'published', 'released'] },
      }),
      Seat: shown(['row', 'number', 'holder'], {
        ...{ row: { type: 'string' }, number: { type: 'integer' } },
        ...HOLDER,
      }),
      Loan: shown(['id', 'trackId'], { id: { type: 'string' }, trackId: { type: 'string' } }),
    },
  },
});

interface Room {
  readonly owner: string;
  value: Json;
  isStarred: boolean;
  readonly seats: Map<string, Json>;
}

interface Track {
  readonly owner: string;
  readonly room: Room;
  value: Json;
}

const DEFAULTS = { theme: 'light' };

const uuidOf = (count: number): string =>
  `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;

/** Creates a service with one fault, or a plain one. */
export function createStudio(fault = '') {
  const has = (name: string): boolean => fault === name;
  const rooms = new Map<string, Room>();
  const tracks = new Map<string, Track>();
  const settings = new Map<string, Json>();
  const labelled = new Map<string, Set<string>>();
  let count = 0;

  const secured =
    (route: (request: Received, caller: string) => Sent) =>
    (request: Received): Sent => {
      const { authorization } = request.headers;
      const names = Object.entries(TOKENS);
      const [caller] = names.find(([, token]) => authorization === `Bearer ${token}`) ?? [];
      return caller === undefined ? failure(401) : route(request, caller);
    };

  const inRoom = (route: (request: Received, room: Room) => Sent) =>
    secured((request, caller) => {
      const room = rooms.get(`${caller} ${request.ids[0]}`);
      return room === undefined ? failure(404) : route(request, room);
    });

  const withTrack = (route: (request: Received, track: Track) => Sent) =>
    secured((request, caller) => {
      const track = tracks.get(request.ids[0] ?? '');
      const isOpen = has('a track is shown to each caller') && request.path.split('/').length === 3;
      const isRead = request.json === undefined && isOpen;
      return track === undefined || (track.owner !== caller && !isRead)
        ? failure(404)
        : route(request, track);
    });

  const inner = (request: Received, name: string, members: Json, ...required: string[]) => {
    const { [name]: value } = isObject(request.json) ? request.json : {};
    return readBody({ ...request, json: value }, members, required);
  };

  const shownRoom = (room: Room) => {
    const { isStarred } = room;
    const trackCount = [...tracks.values()].filter((track) => track.room === room).length;
    return { room: { ...room.value, isStarred, trackCount } };
  };

  const label = (id: string, labels: unknown) => {
    for (const name of [labels ?? []].flat().map(String))
      labelled.set(name, (labelled.get(name) ?? new Set()).add(id));
  };

  const isSelected = ({ value }: Track, query: URLSearchParams): boolean => {
    const [archived, name, before] = ['archived', 'label', 'recordedBefore'].map((each) =>
      query.get(each),
    );
    const labels: readonly unknown[] = [value.labels ?? []].flat();
    const isIgnored = has('archived=false is ignored') && archived === 'false';
    const isFormer = has('former labels are found') && labelled.get(name ?? '')?.has(`${value.id}`);
    const isBefore = Date.parse(`${value.recordedAt}`) < Date.parse(`${before}`);
    return (
      (archived === null || isIgnored || String(value.archived) === archived) &&
      (name === null || labels.includes(name) || isFormer === true) &&
      (before === null || isBefore !== has('the time bound is turned around'))
    );
  };

  const routes: Routes = {
    'GET /rooms': secured((_, caller) => {
      const own = [...rooms.values()].filter(({ owner }) => owner === caller);
      return { status: 200, body: { rooms: own.map((room) => shownRoom(room).room) } };
    }),
    'POST /rooms': secured((request, owner) => {
      const body = inner(request, 'room', ROOM, 'code', 'title');
      if (body === undefined) return failure(400);
      const key = `${owner} ${body.code}`;
      if (rooms.has(key)) return failure(has('a taken code is malformed') ? 400 : 409);
      const room = { owner, value: body, isStarred: false, seats: new Map() };
      rooms.set(key, room);
      return { status: 201, body: shownRoom(room) };
    }),
    'GET /rooms/{}': inRoom((_, room) => ({ status: 200, body: shownRoom(room) })),
    'PATCH /rooms/{}': inRoom((request, room) => {
      const body = inner(request, 'room', { title: ROOM.title });
      if (body === undefined) return failure(400);
      if (!has('a wrapped change is not stored')) room.value = { ...room.value, ...body };
      return { status: 200, body: shownRoom({ ...room, value: { ...room.value, ...body } }) };
    }),
    'DELETE /rooms/{}': inRoom((_, room) => {
      rooms.delete(`${room.owner} ${room.value.code}`);
      for (const [id, track] of tracks) if (track.room === room) tracks.delete(id);
      return { status: 204 };
    }),
    'PUT /rooms/{}/star': inRoom((_, room) => {
      room.isStarred = true;
      return { status: 204 };
    }),
    'DELETE /rooms/{}/star': inRoom((_, room) => {
      room.isStarred = false;
      return { status: 204 };
    }),
    'POST /rooms/{}/tracks': inRoom((request, room) => {
      const body = inner(request, 'track', TRACK, 'title', 'recordedAt');
      if (body === undefined) return failure(400);
      const newest = Math.max(0, ...[...tracks.keys()].map((id) => Number(id.slice(-12))));
      count = has('the id of the last track is used again') ? newest + 1 : count + 1;
      const id = uuidOf(count);
      const { track: sent } = isObject(request.json) ? request.json : {};
      const isTaken = has('the owner is taken from the request') && isObject(sent);
      const owner = (isTaken && sent.owner) || room.owner;
      const value = { id, archived: false, ...body, owner, status: 'draft' };
      tracks.set(id, { owner: room.owner, room, value });
      label(id, body.labels);
      return { status: 201, body: { track: value } };
    }),
    'GET /rooms/{}/seats': inRoom((_, { seats }) => ({
      status: 200,
      body: { seats: [...seats.values()] },
    })),
    'GET /rooms/{}/seats/{}/{}': inRoom(({ ids: [, row, number] }, { seats }) => {
      const seat = seats.get(`${row} ${number}`);
      return seat === undefined ? failure(404) : { status: 200, body: { seat } };
    }),
    'PUT /rooms/{}/seats/{}/{}': inRoom((request, { seats }) => {
      const [, row = '', number = ''] = request.ids;
      const body = inner(request, 'seat', SEAT, 'holder');
      const isSeat = /^[AB]$/.test(row) && /^[1-9]\d?$/.test(number);
      if (body === undefined || !isSeat) return failure(400);
      const { pin, ...members } = body;
      const shown = has('a pin is shown') ? { pin } : {};
      const seat = { row, number: Number(number), ...members, ...shown };
      const isNew = !seats.has(`${row} ${number}`) || has('a replaced seat is created');
      for (const other of has('seats of two rows are one') ? ['A', 'B'] : [row])
        seats.set(`${other} ${number}`, { ...seat, row: other });
      return { status: isNew ? 201 : 200, body: { seat } };
    }),
    'DELETE /rooms/{}/seats/{}/{}': inRoom(({ ids: [, row, number] }, { seats }) =>
      seats.delete(`${row} ${number}`) ? { status: 204 } : failure(404),
    ),
    'GET /tracks': secured(({ query }, caller) => {
      const archived = query.get('archived');
      const before = query.get('recordedBefore');
      const isWrong =
        (archived !== null && !/^(true|false)$/.test(archived)) ||
        (before !== null && !/^\d{4}-\d\d-\d\d[Tt].*([zZ]|[+-]\d\d:\d\d)$/.test(before)) ||
        (before !== null && Number.isNaN(Date.parse(before))) ||
        query.get('label') === '' ||
        [...(query.get('label') ?? '')].length > 20;
      if (isWrong) return failure(400);
      const own = [...tracks.values()].filter(
        ({ owner }) => owner === caller || has('the tracks of others are listed'),
      );
      const selected = own.filter((track) => isSelected(track, query));
      return { status: 200, body: { tracks: selected.map(({ value }) => value) } };
    }),
    'GET /tracks/{}': withTrack((_, { value }) => ({ status: 200, body: { track: value } })),
    'PATCH /tracks/{}': withTrack((request, track) => {
      const body = inner(request, 'track', TRACK);
      if (body === undefined) return failure(400);
      const { title } = track.value;
      track.value = { ...track.value, ...body };
      if (has('a wrapped patch removes labels') && body.labels === undefined)
        track.value = { ...track.value, labels: [] };
      if (has('a sibling in the room is renamed'))
        for (const other of tracks.values())
          if (other.room === track.room && other !== track && body.title !== undefined)
            other.value = { ...other.value, title: body.title };
      if (title !== body.title) label(String(track.value.id), body.labels);
      return { status: 200, body: { track: track.value } };
    }),
    'DELETE /tracks/{}': withTrack(({ ids: [id = ''] }) => {
      tracks.delete(id);
      return { status: 204 };
    }),
    'POST /tracks/{}/publish': withTrack((_, track) => {
      const value = { ...track.value, status: 'published' };
      if (!has('an action is answered, but not stored')) track.value = value;
      return { status: 200, body: { track: value } };
    }),
    'POST /tracks/{}/release': withTrack((_, track) => {
      if (track.value.status !== 'published') return failure(409);
      track.value = { ...track.value, status: 'released' };
      return has('a release fails') ? failure(500) : { status: 200, body: { track: track.value } };
    }),
    'POST /loans': secured((request, caller) => {
      const body = inner(request, 'loan', { trackId: { type: 'string' } }, 'trackId');
      const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(body?.trackId));
      if (body === undefined || !isUuid) return failure(400);
      const isKnown = tracks.get(String(body.trackId))?.owner === caller;
      if (!isKnown && !has('a loan of no track is accepted')) return failure(404);
      count += 1;
      return { status: 201, body: { loan: { id: `l${count}`, ...body } } };
    }),
    'GET /settings': secured((_, caller) => ({
      status: 200,
      body: { settings: settings.get(caller) ?? DEFAULTS },
    })),
    'PUT /settings': secured((request, caller) => {
      const body = inner(request, 'settings', SETTINGS, 'theme');
      if (body === undefined) return failure(400);
      settings.set(caller, body);
      return { status: 200, body: { settings: body } };
    }),
    'DELETE /settings': secured((_, caller) => {
      settings.delete(caller);
      return { status: 204 };
    }),
  };
  return listenerOf(routes);
}
