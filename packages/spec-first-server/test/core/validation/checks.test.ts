import { describe, expect, test } from '@jest/globals';
import { type Json, schemas } from 'openapi-document';
import {
  type CheckOptions,
  createChecks,
  type SchemaOptions,
} from '../../../src/core/validation/checks.ts';
import { Violations } from '../../../src/core/validation/violations.ts';

const OPTIONS: CheckOptions = {
  formats: {},
  tracksItems: false,
  tracksMembers: false,
  drops: true,
};

function checkOf(
  direction: schemas.Direction,
  schema: object,
  options: SchemaOptions & Partial<CheckOptions> & { readonly components?: Json } = {},
) {
  const lowered = schemas.lower({ components: { schemas: options.components ?? {} } }, direction);
  const check = createChecks(lowered, direction, { ...OPTIONS, ...options });
  return check(lowered.lower(schema), options);
}

function violationsOf(check: (value: unknown) => unknown, value: unknown): Violations {
  try {
    check(value);
  } catch (error) {
    if (error instanceof Violations) return error;
    throw error;
  }
  return new Violations([]);
}

const PLANT = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 2 },
    size: { type: 'number', default: 1 },
    id: { type: 'integer', readOnly: true },
    secret: { type: 'string', writeOnly: true },
  },
};

describe('the check of a request', () => {
  test('returns the value with its defaults, without members of the other direction', () => {
    const check = checkOf('request', PLANT);
    expect(check({ name: 'Fern', id: 5, other: 1 })).toEqual({ name: 'Fern', size: 1, other: 1 });
    expect(check({ name: 'Fern', size: 2n })).toEqual({ name: 'Fern', size: 2 });
  });

  test('returns the value itself if nothing changes', () => {
    const value = { name: 'Fern', size: 2 };
    expect(checkOf('request', PLANT)(value)).toBe(value);
    const plain = { a: [1, { b: 'c' }] };
    expect(checkOf('request', { type: 'object' })(plain)).toBe(plain);
  });

  test('converts bigints to numbers, also without defaults', () => {
    expect(checkOf('request', { items: { type: 'number' } })([5n])).toEqual([5]);
  });

  test('throws all violations, with their paths', () => {
    const error = violationsOf(checkOf('request', PLANT, { path: '/body' }), {
      name: 5,
      size: 'a',
    });
    expect(error.violations).toEqual([
      { path: '/body/name', message: 'must be string', keyword: 'type' },
      { path: '/body/size', message: 'must be number', keyword: 'type' },
    ]);
  });

  test('begins paths with the name of a member by default', () => {
    expect(violationsOf(checkOf('request', PLANT), {}).violations).toMatchObject([
      { path: '/name' },
    ]);
    expect(violationsOf(checkOf('request', PLANT), 5).violations).toMatchObject([{ path: '' }]);
  });

  test('fills in the defaults of the matching alternative only', () => {
    const alternative = (name: string, size: number) => ({
      type: 'object',
      required: [name],
      properties: { [name]: {}, size: { default: size } },
    });
    const union = checkOf('request', { anyOf: [alternative('a', 1), alternative('b', 2)] });
    expect(union({ a: 0 })).toEqual({ a: 0, size: 1 });
    expect(union({ b: 0 })).toEqual({ b: 0, size: 2 });
  });

  test('gives no default to a member of the other direction', () => {
    const check = checkOf('request', {
      allOf: [PLANT, { properties: { id: { default: 5 } } }],
    });
    expect(check({ name: 'Fern' })).toEqual({ name: 'Fern', size: 1 });
    expect(check({ name: 'Fern', id: 6 })).toEqual({ name: 'Fern', size: 1 });
  });

  test('keeps nothing of an earlier value', () => {
    const check = checkOf('request', PLANT);
    for (const _round of [1, 2]) {
      expect(violationsOf(check, {}).violations).toHaveLength(1);
      expect(check({ name: 'Fern' })).toEqual({ name: 'Fern', size: 1 });
      expect(violationsOf(check, { name: 'F', size: 'a' }).violations).toHaveLength(2);
    }
  });

  test('does not change the value that it rejects or completes', () => {
    const value = { name: 'F' };
    violationsOf(checkOf('request', PLANT), value);
    checkOf('request', { properties: { size: { default: 1 } } })(value);
    expect(value).toEqual({ name: 'F' });
  });
});

describe('the check of a reply', () => {
  const check = (options?: Parameters<typeof checkOf>[2]) => checkOf('response', PLANT, options);

  test('returns the value without undeclared members', () => {
    const dropped: string[] = [];
    const onDrop = (name: string) => void dropped.push(name);
    const reply = { name: 'Fern', id: 5, secret: 'a', column: 1, size: undefined };
    expect(check({ onDrop })(reply)).toEqual({ name: 'Fern', id: 5 });
    expect(dropped).toEqual(['secret', 'column']);
  });

  test('validates the value as JSON writes it', () => {
    const day = checkOf('response', { type: 'string', format: 'date' });
    expect(day(new Date('2024-02-29T12:00:00Z'))).toBe('2024-02-29');
    const plant = { toJSON: () => ({ name: 'Fern', column: 1 }) };
    expect(check()(plant)).toEqual({ name: 'Fern' });
    expect(violationsOf(check({ path: '/body' }), { name: undefined }).message).toBe(
      '/body/name is required',
    );
  });

  test('validates undeclared members if nothing is removed', () => {
    const closed = { ...PLANT, additionalProperties: false };
    const value = { name: 'Fern', column: 1 };
    expect(checkOf('response', closed)(value)).toEqual({ name: 'Fern' });
    const strict = checkOf('response', closed, { drops: false });
    expect(violationsOf(strict, value).violations).toMatchObject([
      { path: '/column', keyword: 'additionalProperties' },
    ]);
    expect(violationsOf(strict, { name: 'Fern', secret: 'a' }).violations).toHaveLength(1);
    const valid = { name: 'Fern' };
    expect(strict(valid)).toBe(valid);
  });

  test('selects the alternative without regard to undeclared members', () => {
    const alternative = (name: string, format: string) => ({
      type: 'object',
      required: [name],
      properties: { [name]: {}, when: { type: 'string', format } },
      additionalProperties: false,
    });
    const union = checkOf('response', {
      anyOf: [alternative('day', 'date'), alternative('time', 'date-time')],
    });
    const when = new Date(0);
    expect(union({ day: 1, when, column: 1 })).toEqual({ day: 1, when: '1970-01-01' });
    expect(union({ time: 1, when, column: 1 })).toEqual({
      time: 1,
      when: '1970-01-01T00:00:00.000Z',
    });
  });

  test('has no time limit without deep alternatives', () => {
    const items = { type: 'array', items: { type: 'string', pattern: '^(a+)+$' } };
    const value = Array.from({ length: 200_000 }, () => 'aaaa');
    expect(checkOf('response', items)(value)).toEqual(value);
  });
});

test('formats of the service and of OpenAPI are checked', () => {
  const formats = { even: (text: string) => text.length % 2 === 0 };
  const check = checkOf(
    'request',
    { items: { anyOf: [{ format: 'even' }, { format: 'date' }] } },
    { formats },
  );
  expect(check(['ab', '2024-02-29'])).toHaveLength(2);
  expect(violationsOf(check, ['abc']).violations[0]).toMatchObject({ keyword: 'format' });
  expect(checkOf('request', { format: 'toString' })('a')).toBe('a');
});

test('files are accepted with the option only', () => {
  const file = new File(['abc'], 'a');
  const schema = { type: 'string', maxLength: 3 };
  expect(checkOf('request', schema, { files: true })(file)).toBe(file);
  expect(violationsOf(checkOf('request', schema), file).message).toBe('must be string');
});

test('items that match the keyword contains are evaluated', () => {
  const schema = { contains: { type: 'string' }, unevaluatedItems: { type: 'integer' } };
  const check = checkOf('request', schema, { tracksItems: true });
  expect(check(['a', 1])).toEqual(['a', 1]);
  expect(violationsOf(check, ['a', null]).violations).not.toEqual([]);
});

const when = (test: unknown, then: unknown, otherwise?: unknown): Json => ({
  if: test,
  then,
  else: otherwise,
});

describe('what a schema evaluates', () => {
  const has = (name: string, value: unknown) => ({
    properties: { [name]: { const: value } },
    required: [name],
  });
  const declares = (name: string) => ({ properties: { [name]: {} } });
  const isA = has('kind', 'a');
  const [T, E, ID] = [declares('t'), declares('e'), declares('id')];

  type Case = readonly [schema: object, valid: readonly unknown[], invalid: readonly unknown[]];

  test.each<Case>([
    [{ if: isA }, [{}, { kind: 'a' }], [{ kind: 'b' }, { kind: 'a', other: 1 }]],
    [when(isA, T), [{ kind: 'a', t: 1 }, {}], [{ kind: 'b' }, { t: 1 }]],
    [when(isA, false), [{}], [{ kind: 'a' }, { kind: 'b' }]],
    [{ if: isA, else: E }, [{ kind: 'a' }, { e: 1 }], [{ kind: 'b' }, { kind: 'a', e: 1 }]],
    [{ if: isA, else: false }, [{ kind: 'a' }], [{}, { kind: 'b' }, { kind: 'a', e: 1 }]],
    [
      when(isA, T, E),
      [{ kind: 'a', t: 1 }, { e: 1 }],
      [{ kind: 'b', e: 1 }, { kind: 'a', e: 1 }, { t: 1 }],
    ],
    [when(isA, T, true), [{ kind: 'a', t: 1 }], [{ kind: 'b' }, { t: 1 }]],
    [when(true, T), [{ t: 1 }], [{ kind: 'a' }]],
    [{ if: false, else: E }, [{ e: 1 }], [{ t: 1 }]],
    [{ if: isA, properties: { kind: {} } }, [{ kind: 'b' }], [{ t: 1 }]],
    [{ allOf: [{ if: isA, else: E }] }, [{ kind: 'a' }, { e: 1 }], [{ kind: 'b' }]],
    [{ if: { if: isA, else: E }, else: T }, [{ kind: 'a' }, { e: 1 }], [{ t: 1 }]],
    [{ if: { not: { not: isA } } }, [{}], [{ kind: 'a' }]],
    [when(isA, { if: has('t', 1), else: E }), [{ kind: 'a', t: 1 }], [{ t: 1 }]],
    [{ allOf: [ID], ...when(isA, T, E) }, [{ id: 1, e: 1 }], [{ id: 1, t: 1 }]],
    [{ allOf: [ID], anyOf: [has('t', 1), E] }, [{ id: 1, e: 1 }], [{ e: 1, t: 2 }]],
    [
      { $ref: '#/components/schemas/Id', oneOf: [isA, has('e', 1)] },
      [{ id: 1, e: 1 }],
      [{ kind: 'b', e: 1 }],
    ],
    [
      { $ref: '#/components/schemas/Id', dependentSchemas: { id: T } },
      [{ id: 1, t: 1 }],
      [{ t: 1 }],
    ],
    [when(isA, T), [{}], [{ constructor: 1 }, { toString: 1 }]],
  ])('members: %j', (schema, valid, invalid) => {
    const closed = { ...schema, unevaluatedProperties: false };
    const components = { Id: ID };
    const check = checkOf('request', { items: closed }, { tracksMembers: true, components });
    expect(check(valid)).toEqual(valid);
    for (const value of invalid) {
      expect(violationsOf(check, [value]).violations).not.toEqual([]);
      // What the previous item evaluated has no effect.
      expect(violationsOf(check, [...valid, value]).violations).not.toEqual([]);
    }
  });

  test('includes the members of the selected alternative only', () => {
    const alternatives = ['a', 'b'].map((kind) => ({
      properties: { kind: { const: kind }, [kind]: {} },
      required: ['kind'],
    }));
    const source = { oneOf: alternatives, unevaluatedProperties: false };
    const check = checkOf('request', { items: source }, { tracksMembers: true });
    const valid = [
      { kind: 'a', a: 1 },
      { kind: 'b', b: 1 },
    ];
    expect(check(valid)).toEqual(valid);
    const { violations } = violationsOf(check, [
      { kind: 'a', a: 1 },
      { kind: 'b', a: 1 },
    ]);
    expect(violations).toMatchObject([{ path: '/1/a', keyword: 'unevaluatedProperties' }]);
  });

  test('has the violations of then and else', () => {
    const schema = { ...when(isA, has('t', 1)), unevaluatedProperties: false };
    const check = checkOf('request', schema, { tracksMembers: true });
    expect(violationsOf(check, { kind: 'a' }).message).toBe('/t is required');
  });
});

test('definitions may be recursive and shared by several checks', () => {
  const components = {
    Tree: { type: 'object', properties: { next: { $ref: '#/components/schemas/Tree' } } },
  };
  const root = { components: { schemas: components } };
  const lowered = schemas.lower(root, 'request');
  const createCheck = createChecks(lowered, 'request', OPTIONS);
  const tree = { $ref: '#/components/schemas/Tree' };
  const [first, second] = [
    createCheck(lowered.lower(tree)),
    createCheck(lowered.lower({ items: tree })),
  ];
  expect(violationsOf(first, { next: { next: 5 } }).message).toBe('/next/next must be object');
  expect(violationsOf(second, [{ next: 5 }]).message).toBe('/0/next must be object');
  expect(second([{ next: {} }])).toEqual([{ next: {} }]);
});

const TIMEOUT = { path: '', message: 'the request takes too long to validate', keyword: 'timeout' };

describe('the time limit of a request', () => {
  const exponential = { type: 'string', pattern: '^(a+)+$' };

  test.each<[string, object, unknown]>([
    ['a string', exponential, `${'a'.repeat(40)}b`],
    [
      'the name of a member',
      { patternProperties: { '^(a+)+$': true } },
      { [`${'a'.repeat(40)}b`]: 1 },
    ],
    [
      'a string with a pattern of which only the first alternative is anchored',
      { pattern: '^$|[a-z]+@example\\.com$' },
      'a'.repeat(100_000),
    ],
    ['a string with a back reference', { pattern: '^(.*)\\1$' }, `${'a'.repeat(100_000)}b`],
    [
      'a string with wide ranges',
      { pattern: '^.{0,999}a.{0,999}a.{0,999}b$' },
      'a'.repeat(100_000),
    ],
    ['a quadratic format', { format: 'url' }, `http://a/?${'::'.repeat(60_000)}`],
    ['a deep value', { $ref: '#/components/schemas/Chain' }, nested(60)],
  ])('ends the validation of %s', (_title, schema, value) => {
    const components = { Chain };
    const check = checkOf('request', schema, { components });
    expect(violationsOf(check, value).violations).toEqual([TIMEOUT]);
  });

  test.each<[string, object, unknown]>([
    ['a short string', exponential, 'a'.repeat(20)],
    [
      'many short strings',
      { items: { type: 'string', pattern: '^a.*b.*#$' } },
      Array.from({ length: 1000 }, () => `${'a'.repeat(80)}b#`),
    ],
    ['a long list', { items: { type: 'integer' } }, Array.from({ length: 100_000 }, () => 1)],
    ['a long string', { type: 'string' }, 'a'.repeat(1_000_000)],
  ])('accepts %s', (_title, schema, value) => {
    expect(checkOf('request', schema)(value)).toEqual(value);
  });

  test('is the same for many strings with a slow pattern as for one string', () => {
    const check = checkOf('request', { items: { type: 'string', pattern: '^.*@.*@.*#$' } });
    const body = Array.from({ length: 1_000 }, () => '@'.repeat(95));
    let error: Violations | undefined;
    const time = cpuTimeOf(() => {
      error = violationsOf(check, body);
    });
    expect(time).toBeLessThan(200);
    expect(error?.message).toMatch(/must match pattern|takes too long to validate/);
  });

  test('ends the validation of a slow pattern among a thousand strings in 200 ms', () => {
    const check = checkOf('request', { items: exponential });
    const body = [...Array.from({ length: 1_000 }, () => 'a'), `${'a'.repeat(40)}b`];
    let error: Violations | undefined;
    const time = cpuTimeOf(() => {
      error = violationsOf(check, body);
    });
    expect(error?.violations).toEqual([TIMEOUT]);
    expect(time).toBeLessThan(200);
  });

  const members = (name: string, firstKeywords: object = {}) => ({
    type: 'object',
    properties: Object.fromEntries(
      [1, 2, 3, 4, 5].map((at) => [
        `${name}${at}`,
        { type: 'integer', ...(at === 1 && firstKeywords) },
      ]),
    ),
  });
  const [left, right] = [members('a', { default: 1 }), members('b')];
  const fill = (count: number, value: (at: number) => unknown) =>
    Array.from({ length: count }, (_, at) => value(at));

  test.each<[string, object, unknown[]]>([
    [
      'unique integers',
      { uniqueItems: true, items: { type: 'integer' } },
      fill(17_000, (at) => at),
    ],
    [
      'unique numbers',
      { uniqueItems: true, items: { type: 'number' } },
      fill(14_000, (at) => at / 2),
    ],
    ['unique objects', { uniqueItems: true }, fill(8_200, (a) => ({ a }))],
    ['unique lists', { uniqueItems: true }, fill(14_000, (a) => [a])],
    ['a long enum', { items: { enum: fill(5_000, String) } }, fill(15_000, () => '4999')],
    [
      'an enum of objects',
      { items: { enum: fill(200, (a) => ({ a })) } },
      fill(9_000, () => ({ a: 199 })),
    ],
    ['defaults in alternatives', { items: { anyOf: [left, right] } }, fill(10_000, () => ({}))],
    [
      'defaults in conditions',
      { items: when({ required: ['x'] }, right, left) },
      fill(10_000, () => ({})),
    ],
  ])('accepts %s, in less than 200 ms', (_title, schema, value) => {
    const check = checkOf('request', schema);
    for (const count of [100, 1_000]) check(value.slice(0, count));
    expect(cpuTimeOf(() => check(value))).toBeLessThan(200);
  });

  test('ends the validation of nested alternatives in 200 ms, also of a small value', () => {
    const Tree = {
      anyOf: ['a', 'b', 'c'].map((name) => ({
        type: 'object',
        required: [name],
        properties: { next: { $ref: '#/components/schemas/Tree' }, [name]: {} },
      })),
    };
    const tree = { $ref: '#/components/schemas/Tree' };
    const options = { components: { Tree } };
    const check = checkOf('request', { items: tree }, options);
    const closed = { ...tree, unevaluatedProperties: false };
    const strict = checkOf('request', { items: closed }, options);
    const value = fill(20, () => nested(10));
    const task = (validate: typeof check) => cpuTimeOf(() => violationsOf(validate, value));
    expect(task(check)).toBeLessThan(200);
    expect(task(strict)).toBeLessThan(200);
  });

  test('does not include the compilation of alternatives', () => {
    const alternatives = (count: number) => ({
      anyOf: fill(count, (at) => ({
        ...members(`m${at}-`, { default: 1 }),
        required: [`m${at}-2`],
      })),
    });
    const value = { 'm0-2': 1, deep: nested(12) };
    // The code of the service itself is also compiled when it first runs.
    checkOf('request', alternatives(2))({ 'm0-2': 1 });
    expect(checkOf('request', alternatives(12))(value)).toEqual({ 'm0-1': 1, ...value });
  });

  test('also applies to deep alternatives of a reply', () => {
    const options = { components: { Chain }, drops: false };
    const check = checkOf('response', { $ref: '#/components/schemas/Chain' }, options);
    expect(violationsOf(check, nested(60)).message).toBe('the response takes too long to validate');
  });
});

/** A linked list. Each of its objects matches both alternatives, so both are tried at each level. */
const Chain = {
  oneOf: ['a', 'b'].map((name) => ({
    type: 'object',
    properties: { next: { $ref: '#/components/schemas/Chain' }, [name]: { type: 'string' } },
  })),
};

function nested(depth: number): object {
  let value: object = {};
  for (let level = 0; level < depth; level += 1) value = { next: value };
  return value;
}

/**
 * Returns the CPU time of a task in ms, without the compilation: the shortest of three runs, since
 * a validation that is stopped on a busy machine starts again.
 */
function cpuTimeOf(task: () => void): number {
  task();
  const times = [1, 2, 3].map(() => {
    const before = process.threadCpuUsage();
    task();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

describe('the violations of a large value', () => {
  const objects = (count: number) => Array.from({ length: count }, () => ({}));

  test('are those at its start', () => {
    const check = checkOf('request', { items: { required: ['a'] } }, { path: '/body' });
    const { message, violations } = violationsOf(check, objects(5_000));
    expect(violations).toHaveLength(20);
    expect(violations[0]?.path).toBe('/body/0/a');
    expect(message).toMatch(/; and more$/);
  });

  test('do not include false ones, such as minItems of a list that was shortened', () => {
    const many = Array.from({ length: 5_000 }, () => 1);
    const schema = {
      properties: {
        few: { type: 'array', items: { type: 'integer' }, minItems: 4_000 },
        word: { type: 'string' },
      },
    };
    const check = checkOf('request', schema);
    expect(violationsOf(check, { word: 5, few: many }).message).toBe('/word must be string');
  });

  test('include the first one, even if it is far from the start', () => {
    const check = checkOf('request', { items: { type: 'integer' } });
    const list: unknown[] = Array.from({ length: 5_000 }, () => 1);
    expect(violationsOf(check, [...list, 'a']).message).toBe('/5000 must be integer');
  });

  test('include undeclared members', () => {
    const check = checkOf('request', { additionalProperties: false, minProperties: 9_000 });
    const names = Array.from({ length: 5_000 }, (_, index) => [`m${index}`, 1]);
    const { violations } = violationsOf(check, Object.fromEntries(names));
    expect(violations[0]).toMatchObject({ path: '/m0', keyword: 'additionalProperties' });
    expect(violations.map(({ keyword }) => keyword)).not.toContain('minProperties');
  });

  test('with long names need little time, and have a short message', () => {
    const lists = { type: 'array', items: { required: ['a'] } };
    const check = checkOf('request', { additionalProperties: lists }, { path: '/body' });
    let error = new Violations([]);
    const time = cpuTimeOf(() => {
      error = violationsOf(check, { ['x'.repeat(60_000)]: objects(1_500) });
    });
    expect(time).toBeLessThan(100);
    expect(error.message.length).toBeLessThan(10_000);
    expect(error.violations).toHaveLength(20);
    for (const { path } of error.violations) {
      expect(path.length).toBeLessThan(300);
      expect(path).toMatch(/^\/body\/x+…x*\/\d+\/a$/);
    }
  });

  test('need little time if alternatives have many required members', () => {
    const names = Array.from({ length: 60 }, (_, at) => `member${at}`);
    const anyOf = ['a', 'b', 'c', 'd'].map((name) => ({
      type: 'object',
      required: [name, ...names.map((other) => name + other)],
    }));
    const check = checkOf('request', { items: { anyOf } });
    let error = new Violations([]);
    const time = cpuTimeOf(() => {
      error = violationsOf(check, objects(1_900));
    });
    expect(time).toBeLessThan(100);
    expect(error.violations.length).toBeGreaterThan(0);
  });
});
