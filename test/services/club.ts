import {
  bodyOf,
  failureOf,
  inPath,
  type Json,
  listOf,
  operation,
  parameter,
  readBody,
  ref,
  replyOf,
} from './document.ts';
import { failure, listenerOf, type Received, type Routes, type Sent } from './http.ts';

export const TOKENS = { ann: 'token-of-ann', bob: 'token-of-bob' };

const LOCKER_ID = { type: 'string', pattern: '^[a-z0-9]{1,12}$' };
const LOCKER = { id: LOCKER_ID, size: { type: 'integer', minimum: 1, maximum: 100 } };
const MEMBER = {
  name: { type: 'string', minLength: 1, maxLength: 40 },
  code: { type: 'string', pattern: '^[A-Z]{2}[0-9]{6}$' },
  points: { type: 'integer', minimum: 0, maximum: 1000 },
  mentorId: { type: 'string', minLength: 1, maxLength: 20 },
};
const VISIT = { remark: { type: 'string', minLength: 1, maxLength: 60 } };
const LEVEL = { level: { type: 'string', enum: ['basic', 'gold'] } };
const PROFILE = { nickname: { type: 'string', minLength: 1, maxLength: 30 } };
const LOCKER_PATH = inPath('lockerId', LOCKER_ID);
const MEMBER_PATH = inPath('memberId');
const KEY = parameter('header', 'Idempotency-Key', { type: 'string', format: 'uuid' });
const TAKEN = { 409: failureOf('The code is taken.') };
const ETAG = { headers: { ETag: { required: true, schema: { type: 'string' } } } };
const points = (name: string) => parameter('query', name, { type: 'integer', minimum: 0 });
const shown = (members: Json) => ({
  ...{ type: 'object', required: ['id'], properties: { id: { type: 'string' }, ...members } },
});

/**
 * Lockers whose ids clients choose, without a list. Members with a unique code, entity tags and
 * filters by bounds. Visits below members, with idempotency keys. Badges whose names members
 * share. A profile of the caller.
 */
export const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Club', version: '1.0.0' },
  security: [{ token: [] }],
  paths: {
    '/lockers': {
      post: operation(
        'addLocker',
        { 201: replyOf(ref('Locker')), 409: failureOf('There is such a locker.') },
        bodyOf('Locker'),
      ),
    },
    '/lockers/{lockerId}': {
      parameters: [LOCKER_PATH],
      get: operation('getLocker', { 200: replyOf(ref('Locker')) }),
    },
    '/members': {
      get: operation(
        'listMembers',
        { 200: replyOf(listOf('Member')) },
        {
          parameters: [
            points('minPoints'),
            points('points_max'),
            parameter('query', 'mentorId', { type: 'string', minLength: 1 }),
          ],
        },
      ),
      post: operation('addMember', { 201: replyOf(ref('Member')), ...TAKEN }, bodyOf('NewMember')),
    },
    '/members/{memberId}': {
      parameters: [MEMBER_PATH],
      get: operation('getMember', { 200: { ...replyOf(ref('Member')), ...ETAG } }),
      put: operation(
        'replaceMember',
        { 200: { ...replyOf(ref('Member')), ...ETAG }, ...TAKEN },
        {
          ...bodyOf('NewMember'),
          parameters: [parameter('header', 'If-Match', { type: 'string' })],
        },
      ),
      delete: operation('removeMember', { 204: { description: 'Removed.' } }),
    },
    '/members/{memberId}/visits': {
      parameters: [MEMBER_PATH],
      get: operation('listVisits', { 200: replyOf(listOf('Visit')) }),
      post: operation(
        'addVisit',
        { 201: replyOf(ref('Visit')) },
        { ...bodyOf('NewVisit'), parameters: [KEY] },
      ),
    },
    '/members/{memberId}/visits/{visitId}': {
      parameters: [MEMBER_PATH, inPath('visitId')],
      get: operation('getVisit', { 200: replyOf(ref('Visit')) }),
      put: operation('replaceVisit', { 200: replyOf(ref('Visit')) }, bodyOf('NewVisit')),
      delete: operation('removeVisit', { 204: { description: 'Removed.' } }),
    },
    '/members/{memberId}/badges/{badge}': {
      parameters: [MEMBER_PATH, inPath('badge', { type: 'string', pattern: '^[a-z]{4,9}$' })],
      get: operation('getBadge', { 200: replyOf(ref('Badge')) }),
      put: operation('putBadge', { 200: replyOf(ref('Badge')) }, bodyOf('Level')),
      delete: operation('removeBadge', { 204: { description: 'Removed.' } }),
    },
    '/profile': {
      get: operation('getProfile', { 200: replyOf(ref('Profile')) }),
      put: operation('putProfile', { 200: replyOf(ref('Profile')) }, bodyOf('Profile')),
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    responses: { Failure: failureOf('It failed.') },
    schemas: {
      Locker: { type: 'object', required: ['id', 'size'], properties: LOCKER },
      NewMember: { type: 'object', required: ['name', 'code'], properties: MEMBER },
      Member: shown(MEMBER),
      NewVisit: { type: 'object', required: ['remark'], properties: VISIT },
      Visit: shown(VISIT),
      Level: { type: 'object', required: ['level'], properties: LEVEL },
      Badge: {
        ...{ type: 'object', required: ['badge', 'level'] },
        properties: { badge: { type: 'string' }, ...LEVEL },
      },
      Profile: { type: 'object', properties: PROFILE },
    },
  },
});

interface Member {
  readonly owner: string;
  value: Json;
  version: number;
  visits: Json[];
  added: number;
  readonly badges: Map<string, Json>;
}

/** Creates a service with one fault or one habit, or a plain one. */
export function createClub(fault = '') {
  const has = (name: string): boolean => fault === name;
  const does = has;
  const lockers = new Map<string, Json>();
  const members = new Map<string, Member>();
  const removed = new Map<string, Member>();
  const profiles = new Map<string, Json>();
  const keys = new Map<string, Sent>();
  let count = 0;

  const secured =
    (route: (request: Received, caller: string) => Sent) =>
    (request: Received): Sent => {
      const { authorization } = request.headers;
      const names = Object.entries(TOKENS);
      const [caller] = names.find(([, token]) => authorization === `Bearer ${token}`) ?? [];
      return caller === undefined ? failure(401) : route(request, caller);
    };

  const within = (route: (request: Received, member: Member, caller: string) => Sent) =>
    secured((request, caller) => {
      const [id = ''] = request.ids;
      const isWrite = request.ids.length > 0 && /visits$/.test(request.path);
      const isKept = isWrite && has('visits below a removed member are accepted');
      const member = members.get(id) ?? (isKept ? removed.get(id) : undefined);
      return member?.owner === caller ? route(request, member, caller) : failure(404);
    });

  const withVisit = (route: (request: Received, visit: Json, member: Member) => Sent) =>
    within((request, member) => {
      const all = [...members.values()].flatMap(({ visits }) => visits);
      const isGet = has('a visit is shown below each member') && request.json === undefined;
      const isPut = has('a visit is changed below each member') && request.json !== undefined;
      const visits = isGet || isPut ? all : member.visits;
      const visit = visits.find(({ id }) => id === request.ids[1]);
      return visit === undefined ? failure(404) : route(request, visit, member);
    });

  const isTaken = (code: unknown, own?: Member) =>
    [...members.values()].some((each) => each !== own && each.value.code === code);

  const answer = (status: number, { value, version }: Member): Sent => ({
    ...{ status, headers: { ETag: `"${version}"` }, body: value },
  });

  const routes: Routes = {
    'POST /lockers': secured((request, caller) => {
      const body = readBody(request, LOCKER, ['id', 'size']);
      if (body === undefined) return failure(400);
      const id = `${caller} ${body.id}`;
      if (lockers.has(id) && !has('a taken id replaces a locker')) return failure(409);
      lockers.set(id, body);
      return { status: 201, body };
    }),
    'GET /lockers/{}': secured(({ ids: [id = ''] }, caller) => {
      if (!/^[a-z0-9]{1,12}$/.test(id)) return failure(400);
      const body = lockers.get(`${caller} ${id}`);
      if (body === undefined && has('an unknown locker is found'))
        return { status: 200, body: { id, size: 1 } };
      return body === undefined ? failure(404) : { status: 200, body };
    }),
    'GET /members': secured(({ query }, caller) => {
      const [least, most] = ['minPoints', 'points_max'].map((name) => query.get(name));
      const mentor = query.get('mentorId');
      const isWrong = [least, most].some((each) => each != null && !/^\d{1,15}$/.test(each));
      if (isWrong || mentor === '') return failure(400);
      let values = [...members.values()].filter(({ owner }) => owner === caller);
      const pointsOf = ({ value }: Member) => Number(value.points ?? Number.NaN);
      const isLower = has('the highest minimum is one too low') && least === '1000';
      const lowest = isLower ? 999 : Number(least);
      if (least != null && !has('the minimum is ignored'))
        values = values.filter((each) =>
          has('the minimum is a maximum')
            ? pointsOf(each) <= Number(least)
            : pointsOf(each) >= lowest,
        );
      if (most != null)
        values = values.filter((each) =>
          does('the maximum is not included')
            ? pointsOf(each) < Number(most)
            : pointsOf(each) <= Number(most),
        );
      if (mentor !== null)
        values = values.filter(({ value: { mentorId = '' } }) =>
          has('mentors are matched by a prefix')
            ? String(mentorId).startsWith(mentor)
            : mentorId === mentor,
        );
      return { status: 200, body: values.map(({ value }) => value) };
    }),
    'POST /members': secured((request, owner) => {
      const body = readBody(request, MEMBER, ['name', 'code']);
      if (body === undefined) return failure(400);
      if (isTaken(body.code) && !has('a taken code is accepted')) return failure(409);
      count += 1;
      const id = `m${count}`;
      const visits = does('a member has a first visit') ? [{ id: 'v0', remark: 'text' }] : [];
      const value = { id, ...body };
      const member = { owner, value, version: 1, visits, added: 0, badges: new Map() };
      members.set(id, member);
      return answer(201, member);
    }),
    'GET /members/{}': within((_, member) => answer(200, member)),
    'PUT /members/{}': within((request, member) => {
      const body = readBody(request, MEMBER, ['name', 'code']);
      if (body === undefined) return failure(400);
      const match = request.headers['if-match'];
      const isIssued = /^"\d+"$/.test(match ?? '') && Number(match?.slice(1, -1)) < member.version;
      const isWrong = match !== undefined && match !== '*' && match !== `"${member.version}"`;
      if (isWrong && (isIssued || !has('an unknown entity tag is accepted'))) return failure(412);
      if (isTaken(body.code, member) && !has('a change to a taken code is accepted'))
        return failure(409);
      member.value = { id: member.value.id, ...body };
      member.version += 1;
      return answer(200, member);
    }),
    'DELETE /members/{}': within(({ ids: [id = ''] }, member) => {
      members.delete(id);
      removed.set(id, member);
      return { status: 204 };
    }),
    'GET /members/{}/visits': within((_, { visits }) => ({ status: 200, body: visits })),
    'POST /members/{}/visits': within((request, member, caller) => {
      const body = readBody(request, VISIT, ['remark']);
      const key = request.headers['idempotency-key'];
      const isKey = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(key ?? ''));
      if (body === undefined || (key !== undefined && !isKey)) return failure(400);
      const isShared = has('a key is shared by callers');
      const place = isShared ? String(key) : [request.path, caller, key].join();
      const known = key === undefined ? undefined : keys.get(place);
      if (known !== undefined) return known;
      count += 1;
      member.added += 1;
      const isLocal = does('the ids of visits begin with 1 below each member');
      const visit = { id: `v${isLocal ? member.added : count}`, ...body };
      member.visits.push(visit);
      const sent = { status: 201, body: visit };
      keys.set(place, sent);
      return sent;
    }),
    'GET /members/{}/visits/{}': withVisit((_, visit) => ({ status: 200, body: visit })),
    'PUT /members/{}/visits/{}': withVisit((request, visit) => {
      const body = readBody(request, VISIT, ['remark']);
      if (body === undefined) return failure(400);
      Object.assign(visit, body);
      return { status: 200, body: visit };
    }),
    'DELETE /members/{}/visits/{}': secured(({ ids: [id = '', visitId] }, caller) => {
      const member = members.get(id);
      const visit = member?.visits.find((each) => each.id === visitId);
      if (member?.owner !== caller || visit === undefined)
        return does('the DELETE of a missing visit is 204') ? { status: 204 } : failure(404);
      member.visits = member.visits.filter((each) => each !== visit);
      return { status: 204 };
    }),
    'GET /members/{}/badges/{}': within(({ ids: [, badge = ''] }, { badges }) => {
      const body = badges.get(badge);
      return body === undefined ? failure(404) : { status: 200, body };
    }),
    'PUT /members/{}/badges/{}': within((request, { badges }) => {
      const [, badge = ''] = request.ids;
      const body = readBody(request, LEVEL, ['level']);
      if (body === undefined || !/^[a-z]{4,9}$/.test(badge)) return failure(400);
      badges.set(badge, { badge, ...body });
      return { status: 200, body: badges.get(badge) };
    }),
    'DELETE /members/{}/badges/{}': within(({ ids: [, badge = ''] }, { badges }) =>
      badges.delete(badge) ? { status: 204 } : failure(404),
    ),
    'GET /profile': secured((_, caller) => ({
      status: 200,
      body: profiles.get(placeOf(caller)) ?? {},
    })),
    'PUT /profile': secured((request, caller) => {
      const body = readBody(request, PROFILE, []);
      if (body === undefined) return failure(400);
      profiles.set(placeOf(caller), body);
      return { status: 200, body };
    }),
  };
  const placeOf = (caller: string) => (has('the profile is shared by callers') ? '' : caller);
  return listenerOf(routes);
}
