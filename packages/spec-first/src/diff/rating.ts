import { asArray } from 'openapi-document';
import { Part } from './parts.ts';

/** The levels of changes, in rising order. */
export const LEVELS: readonly string[] = ['none', 'info', 'warning', 'error'];

type Level = 'info' | 'warning' | 'error';

/** The side that sends a value: the client sends requests, and reads responses. */
export type Direction = 'request' | 'response';

/** The rating of a change. */
export interface Rating {
  /** Names the change, such as `request-property-became-required`. */
  readonly id: string;
  readonly level: Level;
}

/** A change of a part of the document, without the values inside it. */
export interface Change {
  /** The keyword or the name of the list, such as `maxLength` or `properties`. */
  readonly key: string;
  /** The name in the list. Empty for a keyword, and for a whole list. */
  readonly name: string;
  /** `undefined` for what only the other document has. */
  readonly former: unknown;
  readonly current: unknown;
}

/** The verb of a change, and its levels. */
interface Effect {
  readonly verb: string;
  readonly request: Level;
  readonly response: Level;
}

const effect = (verb: string, request: Level, response = request): Effect => ({
  ...{ verb, request, response },
});

/** Fewer values are valid. A service that sends fewer of them breaks no client. */
const narrowed = (verb = 'narrowed') => effect(verb, 'error', 'info');

/** More values are valid. A client may receive a value that it does not know. */
const widened = (verb = 'widened') => effect(verb, 'info', 'error');

type Rule = (change: Change) => Effect;

const verbOf = ({ former, current }: Change): string => {
  if (former === undefined) return 'added';
  return current === undefined ? 'removed' : 'changed';
};

/** Returns a rule with the same level for each change, or one for what is new. */
const always =
  (level: Level, ofNew = level): Rule =>
  (change) =>
    effect(verbOf(change), change.former === undefined ? ofNew : level);

/** Rates a keyword that restricts values. */
const restriction: Rule = (change) => {
  const verb = verbOf(change);
  // The schema `false` allows no value.
  if (verb === 'changed' && change.current === false) return narrowed();
  if (verb === 'changed' && change.former === false) return widened();
  if (verb === 'changed') return effect(verb, 'error');
  return verb === 'added' ? narrowed(verb) : widened(verb);
};

/** Rates a limit by its direction. */
const limit =
  (bound: 'minimum' | 'maximum'): Rule =>
  (change) => {
    const { former, current } = change;
    if (verbOf(change) !== 'changed') return restriction(change);
    // Compares integers beyond 2^53 exactly.
    const isHigher = (current as number | bigint) > (former as number | bigint);
    return isHigher === (bound === 'maximum') ? widened() : narrowed();
  };

/** Returns a rule for one of the values that are allowed, or for the whole list of them. */
const choice =
  (ofNewInResponses: Level): Rule =>
  (change) => {
    if (change.name === '') return restriction(change);
    const verb = verbOf(change);
    return verb === 'removed' ? narrowed(verb) : effect(verb, 'info', ofNewInResponses);
  };

const isRequired = (part: unknown): boolean => part instanceof Part && part.isRequired;

/** Rates a property, a parameter or a header. */
const member: Rule = (change) => {
  const { former, current } = change;
  const verb = verbOf(change);
  if (verb === 'changed')
    return isRequired(current) ? narrowed('became-required') : widened('became-optional');
  if (verb === 'added') return effect(verb, isRequired(current) ? 'error' : 'info', 'info');
  return effect(verb, 'warning', isRequired(former) ? 'error' : 'warning');
};

const body: Rule = (change) =>
  change.current === undefined ? effect('removed', 'error') : member(change);

const type: Rule = (change) => {
  const { former, current } = change;
  if (verbOf(change) !== 'changed') return restriction(change);
  const isWithin = (one: unknown, other: unknown) =>
    asArray(one).every(
      (name) =>
        name === 'nothing' ||
        asArray(other).includes(name) ||
        (name === 'integer' && asArray(other).includes('number')),
    );
  if (isWithin(current, former)) return narrowed();
  return isWithin(former, current) ? widened() : effect('changed', 'error');
};

/** A deprecated operation may be removed after its sunset (RFC 8594). */
const operation: Rule = (change) => {
  const { deprecated, 'x-sunset': sunset } =
    change.former instanceof Part ? change.former.members() : {};
  const isOver = sunset === undefined || Date.parse(String(sunset)) <= Date.now();
  return always(deprecated === true && isOver ? 'info' : 'error', 'info')(change);
};

/** A client may rely on a success. A receiver of a webhook may send any declared status. */
const response: Rule = (change) => {
  const isRemoved = verbOf(change) === 'removed';
  const isSuccess = change.name.startsWith('2');
  return isRemoved
    ? effect('removed', 'error', isSuccess ? 'error' : 'info')
    : always('info')(change);
};

/** Clients that omit the member get another default. */
const preset: Rule = (change) =>
  effect(verbOf(change), change.former === undefined ? 'info' : 'warning', 'info');

/** A member that the other side can no longer send or read. */
const hidden =
  (request: Level, response: Level): Rule =>
  (change) =>
    verbOf(change) === 'added' ? effect('added', request, response) : effect('removed', 'info');

/** The rules of keywords and lists. Others restrict values. */
const RULES: Readonly<Record<string, Rule>> = {
  'base path': always('error'),
  'security scheme': always('error'),
  'x-body-limit': always('warning'),
  'x-sunset': always('warning', 'info'),
  anyOf: choice('error'),
  content: always('error', 'info'),
  credentials: always('error'),
  default: preset,
  deprecated: always('info'),
  discriminator: always('error'),
  encoding: always('error'),
  enum: choice('warning'),
  exclusiveMaximum: limit('maximum'),
  exclusiveMinimum: limit('minimum'),
  explode: always('error'),
  extensions: choice('warning'),
  headers: member,
  mapping: choice('warning'),
  maxContains: limit('maximum'),
  maximum: limit('maximum'),
  maxItems: limit('maximum'),
  maxLength: limit('maximum'),
  maxProperties: limit('maximum'),
  minContains: limit('minimum'),
  minimum: limit('minimum'),
  minItems: limit('minimum'),
  minLength: limit('minimum'),
  minProperties: limit('minimum'),
  oneOf: choice('error'),
  operationId: always('warning', 'info'),
  operations: operation,
  parameters: member,
  properties: member,
  readOnly: hidden('warning', 'info'),
  requestBody: body,
  responses: response,
  serialization: always('error'),
  type,
  writeOnly: hidden('info', 'warning'),
};

/** Words in ids that differ from the keyword. */
const SUBJECTS: Readonly<Record<string, string>> = {
  'x-body-limit': 'body-limit',
  anyOf: 'alternative',
  content: 'media-type',
  enum: 'value',
  extensions: 'extension',
  headers: 'header',
  mapping: 'discriminator-value',
  oneOf: 'alternative',
  operations: 'operation',
  parameters: 'parameter',
  properties: 'property',
  requestBody: 'body',
  responses: 'status',
};

const kebab = (name: string): string =>
  name.replace(/\p{Lu}/gu, (letter) => `-${letter.toLowerCase()}`).replaceAll(' ', '-');

/**
 * Rates a change by what it does to clients that obey the former document.
 *
 * @param directions the messages that contain the place. Empty for what is in no message, such as
 *   an operation.
 */
export function rate(change: Change, directions: ReadonlySet<Direction>): Rating {
  const { key } = change;
  const effectOf = RULES[key] ?? restriction;
  const { verb, ...levels } = effectOf(change);
  const [direction = undefined] = [...directions].toSorted(
    (one, other) => LEVELS.indexOf(levels[other]) - LEVELS.indexOf(levels[one]),
  );
  const subject = SUBJECTS[key] ?? kebab(key);
  return {
    id: [direction ?? [], subject, verb].flat().join('-'),
    level: levels[direction ?? 'request'],
  };
}
